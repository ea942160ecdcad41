"""What one lookup leaves behind besides its answer: the trace, and what is still to be stored."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from mem.domain.lookup import Tier
from mem.domain.signatures import Signature

Measure = Literal["rerank", "symptom", "text", "lexical"]
"""What has a floor: the reranker's probability, or a similarity."""


class LegTrace(BaseModel):
    """How one step of a leg went."""

    model_config = ConfigDict(frozen=True)

    leg: str
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


class SkillTrace(BaseModel):
    """A skill of the answer, and how near its description is to what was asked."""

    model_config = ConfigDict(frozen=True)

    name: str
    score: float | None = None


class Drop(BaseModel):
    """What the budget left out: a lesson by tier and sha, or a skill by its name; and what it would have taken."""

    model_config = ConfigDict(frozen=True)

    tier: Tier | None = None
    sha: str | None = None
    skill: str | None = None
    tokens: int


class Miss(BaseModel):
    """A candidate that is not in the answer: the measure that kept it out, its value, and the floor of that measure.

    One that is over its floor came after as many others as an answer holds.
    """

    model_config = ConfigDict(frozen=True)

    tier: Tier
    sha: str
    project: str | None
    measure: Measure
    score: float
    floor: float


class Trace(BaseModel):
    """The story of one lookup, for the query `trace`, the Temporal UI and the log line.

    `reranker` is None where none scored. `lessons`, `signatures` and `misses` are the first of those that there are;
    `misses` and `reranker` are of the run that searched, which a repeated answer did not.
    """

    model_config = ConfigDict(frozen=True)

    project: str = ""
    request_id: str = ""
    tier: Tier | None
    tool: str | None = None
    milliseconds: float = 0.0
    reranker: str | None = None
    legs: list[LegTrace]
    lessons: list[LessonTrace]
    skills: list[SkillTrace]
    signatures: list[str]
    dropped: list[Drop]
    misses: list[Miss] = []
    near_misses: int = 0
    used: int
    limit: int
    degraded: list[str]
    abstained_reason: str | None
    replayed: bool = False

    @property
    def tiers(self) -> list[int]:
        """Those that have something in the answer."""
        return sorted({lesson.tier for lesson in self.lessons})

    @field_validator("skills", mode="before")
    @classmethod
    def _named_alone(cls, value: Any) -> Any:
        """Runs that were recorded before have the names of skills alone."""
        return [{"name": each} if isinstance(each, str) else each for each in value]

    @field_validator("dropped", mode="before")
    @classmethod
    def _counted_alone(cls, value: Any) -> Any:
        """Runs that were recorded before have the number of drops alone."""
        return [] if isinstance(value, int) else value


class Unsettled(BaseModel):
    """An answer that went out before it could be counted and stored.

    `unread` is the log whose signatures could not be extracted in time, so that `sightings` holds none of them.
    `readable` are the projects that the caller may read; None: all.
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
    readable: tuple[str, ...] | None = None


class LookUpOutcome(BaseModel):
    """The answer's exact bytes (as text), its fingerprint and trace; `unsettled` while it is not stored."""

    model_config = ConfigDict(frozen=True)

    body: str
    fingerprint: str
    trace: Trace
    unsettled: Unsettled | None = None
