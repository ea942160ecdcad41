"""The contract of a list of runs: what Temporal ran for this memory, found by what each run was about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from mem.domain.ids import Project, Text
from mem.domain.lookup import MAX_TOOL_CHARACTERS

DEFAULT_LIMIT = 20
MAX_LIMIT = 1000
SIGNATURE_DIGITS = 64
ANY = "any"
"""Stands for whatever leg was left out."""

_SPAN = re.compile(r"([0-9]{1,6})(ms|s|m|h|d)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST = timedelta(days=36_500)
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2262, 1, 1, tzinfo=UTC)
"""Temporal counts nanoseconds in 64 bits."""


class Kind(StrEnum):
    """What a run does; but for a rebuild, the word that its workflow id begins with."""

    ACCEPT = "accept"
    CONTEXT = "context"
    QUERY = "query"
    GROUND = "ground"
    REBUILD = "rebuild"


WORKFLOW_TYPES: Mapping[Kind, str] = {
    Kind.ACCEPT: "AcceptMemory",
    Kind.CONTEXT: "LookUpContext",
    Kind.QUERY: "QueryMemory",
    Kind.GROUND: "GroundContext",
    Kind.REBUILD: "RebuildProjections",
}
"""The workflow of each kind, under the name that Temporal shows."""


class Tier(StrEnum):
    """The best tier that answered."""

    EXACT = "1"
    SIMILAR = "2"
    REFERENCE = "3"
    NONE = "none"


class Status(StrEnum):
    """Where a run stands for Temporal; what came of it is its outcome."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    TERMINATED = "terminated"
    CONTINUED_AS_NEW = "continued-as-new"
    TIMED_OUT = "timed-out"


def _span(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text)
    return None if found is None else timedelta(**{_UNITS[found[2]]: int(found[1])})


def _duration(text: str) -> str:
    span = _span(text)
    if span is None or not timedelta() < span <= _LONGEST:
        raise ValueError("should be a length of time such as 500ms, 30s, 10m, 2h or 7d")
    return text


def _moment(text: str) -> str:
    if _span(text) is None:
        try:
            _utc(text)
        except (ValueError, OverflowError):
            told = (
                "should be an age such as 30m, 2h or 7d, or a UTC date or time such as 2026-07-02 or 2026-07-02T14:30"
            )
            raise ValueError(told) from None
    return text


def _utc(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if not _FIRST <= moment < _LAST:
        raise ValueError
    return moment


def _digits(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{8,64}", text.lower()):
        raise ValueError("should be 8 to 64 hexadecimal digits, the first ones of a signature or all")
    return text.lower()


Word = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}\z")]
"""An outcome or the name of a leg: whichever a worker sets, so that a new one needs no new client."""
Moment = Annotated[str, AfterValidator(_moment)]
Duration = Annotated[str, AfterValidator(_duration)]


class RunsRequest(BaseModel):
    """Which runs are wanted. Of several values of a field any will do; what is set together has to hold together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project: tuple[Project, ...] = ()
    tool: tuple[Annotated[Text, StringConstraints(min_length=1, max_length=MAX_TOOL_CHARACTERS)], ...] = ()
    tier: tuple[Tier, ...] = ()
    outcome: tuple[Word, ...] = ()
    signature: Annotated[str, AfterValidator(_digits)] | None = None
    degraded: tuple[Word, ...] = Field(default=(), description="Names of legs; `any` is whichever.")
    kind: tuple[Kind, ...] = ()
    status: tuple[Status, ...] = ()
    since: Moment | None = Field(default=None, description="Started at this UTC time or later, or so long ago at most.")
    before: Moment | None = Field(default=None, description="Started before this UTC time, or longer ago.")
    slower: Duration | None = Field(
        default=None, description="Took so long or longer; a run that is open took nothing."
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)

    def selects(self, run: Run) -> bool:
        """Whether a run is what the fields ask for that a store of Temporal may compare more loosely than by equality.

        Some take upper and lower case for the same, and some characters no list filter can hold.
        """
        return (
            _among(run.project, self.project)
            and _among(run.tool, self.tool)
            and _among(run.tier, self.tier)
            and _among(run.outcome, self.outcome)
            and (self.signature is None or any(each.startswith(self.signature) for each in run.signatures))
            and (not self.degraded or any(ANY in self.degraded or leg in self.degraded for leg in run.degraded))
        )


def moment_before(text: str, now: datetime) -> datetime:
    """The time that a `since` or `before` means; an age is counted back from `now`."""
    span = _span(text)
    if span is None:
        return _utc(text)
    try:
        return max(now - span, _FIRST)
    except OverflowError:
        return _FIRST


def _among(value: str | None, wanted: tuple[str, ...]) -> bool:
    return not wanted or value in wanted


class Run(BaseModel):
    """One run as its search attributes tell it.

    `request_id` is null for a rebuild. `tier`, `outcome`, `signatures` and `degraded` are null or empty until the run
    knows them. `seconds` is how long it took, or null while it is open. A run of a workflow that is not of this memory
    has the kind null.
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind | None
    workflow_id: str
    run_id: str
    request_id: str | None
    project: str | None
    tool: str | None
    tier: str | None
    outcome: str | None
    signatures: list[str]
    degraded: list[str]
    status: str
    started: datetime
    closed: datetime | None
    seconds: float | None


class RunsAnswer(BaseModel):
    """The runs, those that are open first, then the last closed first: the order of Temporal's UI.

    `filter` selects them there. Where `exact` is false it selects more, since it cannot hold some character of a value.
    `total` counts those beyond the limit too, as far as the filter is exact; null where it is not.
    """

    model_config = ConfigDict(frozen=True)

    filter: str
    exact: bool
    total: int | None
    runs: list[Run]


def kind_of(workflow_type: str) -> Kind | None:
    """The kind of a workflow, None where it is no workflow of this memory."""
    return next((kind for kind, name in WORKFLOW_TYPES.items() if name == workflow_type), None)


def request_of(kind: Kind | None, workflow_id: str) -> str | None:
    """The request id that a workflow id ends with; None where the run answers no request."""
    parts = workflow_id.split(":", 2)
    answers = kind is not None and kind is not Kind.REBUILD
    return parts[2] if answers and len(parts) == 3 and parts[0] == kind else None
