"""The contract of a rebuild from the journal: where a replay stands, and how its tables compare with the live ones."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

MAX_DIFFERENCES = 10
"""So many rows of a table are named in a report; `differing` counts all."""

Phase = Literal[
    "read", "import", "embed", "begin", "replay", "index", "swap", "compare", "propose", "apply", "derive", "done"
]
"""`read`, `import` and `embed` are of files, and of no run; the others are stages of a run."""


class Progress(BaseModel):
    """Where a run stands, as its query `progress` tells it; `total` is None where it is not known."""

    model_config = ConfigDict(frozen=True)

    phase: Phase
    done: int = 0
    total: int | None = None


class Shadow(BaseModel):
    """Names the tables that one run fills: those of a rebuild, of a check and of the nightly check are apart.

    `run` is the same for all attempts and continuations of a run, by which a worker that comes late finds that the
    tables are no longer its own.
    """

    model_config = ConfigDict(frozen=True)

    run: str
    check: bool
    nightly: bool = False


class ReplayStep(Shadow):
    """One stretch of a replay, in pages of at most `page` records."""

    page: int


class Position(BaseModel):
    """How many records a replay has gone through, and how many there are."""

    model_config = ConfigDict(frozen=True)

    seq: int
    length: int


class Difference(BaseModel):
    """A row that the live table lacks (`missing`), has too much (`extra`), or has otherwise (`different`)."""

    model_config = ConfigDict(frozen=True)

    key: str
    what: Literal["missing", "extra", "different"]


class TableReport(BaseModel):
    """One projection: rows and digest of the live table and of the replayed one."""

    model_config = ConfigDict(frozen=True)

    table: str
    rows: int
    digest: str
    replayed_rows: int
    replayed_digest: str
    differing: int = 0
    differences: list[Difference] = []


class ReplayReport(BaseModel):
    """What came of a rebuild from the journal, or of a check: up to which record, and table by table for a check."""

    model_config = ConfigDict(frozen=True)

    check: bool
    records: int
    head: str
    tables: list[TableReport] = []

    @property
    def same(self) -> bool:
        """Whether every table is what the journal makes it."""
        return all(table.digest == table.replayed_digest for table in self.tables)


class NightlyRun(BaseModel):
    """What came of one run of the nightly check; `forgotten` where Temporal has let go of it."""

    model_config = ConfigDict(frozen=True)

    workflow_id: str
    started: datetime
    state: Literal["running", "same", "differs", "failed", "forgotten"]
    differing: dict[str, int] = {}
    """Rows that differ, by table."""


class NightlyCheck(BaseModel):
    """The schedule of the nightly check.

    `skipped` counts nights on which the run before was still at work, `missed` those on which Temporal was away for too
    long.
    """

    model_config = ConfigDict(frozen=True)

    schedule_id: str
    paused: bool
    next: datetime | None
    skipped: int
    missed: int
    last: NightlyRun | None
