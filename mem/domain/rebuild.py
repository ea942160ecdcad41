"""The contract of `RebuildProjections`: what is to be done, and how what was derived differed from what was stored."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.regenerating import RegenerateReport

Task = Literal["derive", "replay", "regenerate"]
"""Derive signatures from evidence; replay the journal into all projections; ask the projector again."""

MAX_DIFFERING = 10
"""So many memories are named in a report; more would be for a program, which can run the rebuild instead."""


class Compared(NamedTuple):
    """Signatures that were missing, were stored otherwise, and were as they should be."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0


class RebuildReport(BaseModel):
    """What came of a rebuild or of a check, so far.

    `new` and `changed` count signatures that a memory lacked or that were stored otherwise: written by a rebuild, only
    found by a check. `differing` names the first memories that had one. A step that a crash repeated finds what it had
    written, and counts it as unchanged.
    """

    model_config = ConfigDict(frozen=True)

    check: bool = False
    algo: int | None = None
    memories: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    differing: list[str] = []

    @property
    def same(self) -> bool:
        """Whether all that was looked at was as it should be."""
        return not self.new and not self.changed

    def plus(self, other: RebuildReport) -> RebuildReport:
        """This and what came after it."""
        return RebuildReport(
            check=self.check,
            algo=other.algo,
            memories=self.memories + other.memories,
            new=self.new + other.new,
            changed=self.changed + other.changed,
            unchanged=self.unchanged + other.unchanged,
            differing=[*self.differing, *other.differing][:MAX_DIFFERING],
        )


class RebuildInput(BaseModel):
    """The message that starts the workflow.

    `algo` is the version that the caller of a derivation expects, or None for that of the worker; `apply` lets a
    regeneration record what it got; `nightly` is a check that disturbs none that somebody begins by hand. All below
    `batches` is for the workflow itself, which goes on as a new run before its history grows long.
    """

    model_config = ConfigDict(frozen=True)

    task: Task = "derive"
    check: bool = False
    apply: bool = False
    nightly: bool = False
    algo: int | None = None
    page: int = Field(default=100, ge=1, le=1000)
    batches: int = Field(default=500, ge=1, le=1000)
    run: str = ""
    after: str = ""
    report: RebuildReport = RebuildReport()
    regenerated: RegenerateReport | None = None
    """Of a regeneration that has all proposals and goes through them."""


class DeriveStep(BaseModel):
    """One batch: at most `page` memories behind the sha `after`."""

    model_config = ConfigDict(frozen=True)

    check: bool
    algo: int | None
    page: int
    after: str


class DerivedBatch(BaseModel):
    """What came of a batch, and behind which sha the next one begins; None where there is none."""

    model_config = ConfigDict(frozen=True)

    report: RebuildReport
    after: str | None
