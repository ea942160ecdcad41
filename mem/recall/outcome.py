"""What one lookup leaves behind besides its answer: the trace, and what is still to be stored."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mem.domain.lookup import Leg, Tier
from mem.domain.signatures import Signature


class LegTrace(BaseModel):
    """How one step of a leg went."""

    model_config = ConfigDict(frozen=True)

    leg: Leg
    step: str = ""
    milliseconds: float
    found: int
    note: str = ""


class LessonTrace(BaseModel):
    """Why a lesson stands where it does."""

    model_config = ConfigDict(frozen=True)

    tier: Tier
    sha: str
    project: str | None
    matched_kind: str
    recall: float | None
    rerank: float | None


class Trace(BaseModel):
    """The story of one lookup, for the query `trace`, the Temporal UI and the log line."""

    model_config = ConfigDict(frozen=True)

    tier: Tier | None
    tool: str | None = None
    legs: list[LegTrace]
    lessons: list[LessonTrace]
    skills: list[str]
    signatures: list[str]
    dropped: int
    used: int
    limit: int
    degraded: list[str]
    abstained_reason: str | None
    replayed: bool = False


class Unsettled(BaseModel):
    """An answer that went out before it could be counted and stored.

    `unread` is the log whose signatures could not be extracted in time, so that `sightings` holds none of them.
    """

    model_config = ConfigDict(frozen=True)

    project: str
    request_id: str
    fingerprint: str
    federated: bool
    sightings: list[Signature]
    body: str
    returned: list[str] = []
    unread: str | None = None


class LookUpOutcome(BaseModel):
    """The answer's exact bytes (as text), its fingerprint and trace; `unsettled` while it is not stored."""

    model_config = ConfigDict(frozen=True)

    body: str
    fingerprint: str
    trace: Trace
    unsettled: Unsettled | None = None
