"""The contract of `LookUpContext`: a failure, a task or a tool goes in, what is known about it comes out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import InvalidRequest
from mem.domain.ids import Project, RequestId, Sha, Text
from mem.domain.nodes import Level, Parent

Tier = Literal[1, 2, 3]
Scope = Literal["project", "all-projects"]
MatchedKind = Literal["signature", "symptom", "text"]
Leg = Literal["signatures", "symptom", "text", "lexical", "rerank", "skills", "reference", "embedding", "ledger"]

OPERATION = "context"
"""What the ledger calls a lookup."""

DEFAULT_BUDGET = 6000
MAX_TASK_CHARACTERS = 8192
MAX_TOOL_CHARACTERS = 64


class ContextRequest(BaseModel):
    """At least one of `tool`, `task` and `signature_source` is needed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    request_id: RequestId
    project: Project
    tool: Text | None = Field(default=None, min_length=1, max_length=MAX_TOOL_CHARACTERS)
    task: Text | None = Field(default=None, min_length=1, max_length=MAX_TASK_CHARACTERS)
    signature_source: Text | None = None
    scope: Scope | None = None
    budget: int = Field(default=DEFAULT_BUDGET, ge=1, le=100_000)


class LookUpInput(ContextRequest):
    """The message that starts the workflow and its update: the request with its door's fingerprint.

    `original_sha` and `original_bytes` name the log that a door distilled to `signature_source`. `readable` are the
    projects that the caller may read; None where all may be.
    """

    model_config = ConfigDict(extra="ignore")  # a field that a newer caller adds is no fault

    fingerprint: str | None = None
    original_sha: Sha | None = None
    original_bytes: int | None = Field(default=None, ge=0)
    readable: list[Project] | None = None


class LessonSignature(BaseModel):
    """The signature through which a tier 1 lesson was found."""

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    tool: str
    rule: str


class Scores(BaseModel):
    """Both raw scores: cosine (or trigram) similarity of recall, probability of the reranker; null where not run."""

    model_config = ConfigDict(frozen=True)

    recall: float | None
    rerank: float | None


class Lesson(BaseModel):
    """One memory or reference chunk of an answer.

    Counts and UTC dates are those of its signature in tier 1. `first_seen` was read before this request was counted, so
    that it is the same for every identical request; `seen_count` and `last_seen` have this request in them.
    """

    model_config = ConfigDict(frozen=True)

    tier: Tier
    level: Level
    sha: str
    project: str | None
    text: str
    matched_kind: MatchedKind
    seen_count: int | None = None
    last_seen: str | None = None
    first_seen: str | None = None
    signature: LessonSignature | None = None
    score: float | None
    scores: Scores
    parents: list[Parent]
    supersedes: list[str]


class SkillHit(BaseModel):
    """A skill that fits the request."""

    model_config = ConfigDict(frozen=True)

    name: str
    score: float


class SeenSignature(BaseModel):
    """A signature extracted from the request; `known` and the count are null where they could not be read."""

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    tool: str
    envelope: str | None
    rule: str
    known: bool | None
    seen_count: int | None


class Budget(BaseModel):
    """How much of the token budget the answer takes."""

    model_config = ConfigDict(frozen=True)

    limit: int
    used: int
    unit: Literal["tokens"] = "tokens"
    tokenizer: str
    dropped: list[dict[str, int | str]]


class Degradation(BaseModel):
    """A leg that could not contribute, and why."""

    model_config = ConfigDict(frozen=True)

    leg: Leg
    reason: str


class ContextAnswer(BaseModel):
    """The answer; no time, latency or random id is in it."""

    model_config = ConfigDict(frozen=True)

    tier: Tier | None
    lessons: list[Lesson]
    skills: list[SkillHit]
    signatures: list[SeenSignature]
    budget: Budget
    degraded: list[Degradation]
    abstained_reason: str | None
    nearest_misses: int


def check_inputs(request: ContextRequest) -> None:
    """Refuse a request that gives nothing to look up.

    Raises:
        InvalidRequest: none of the three inputs is set, or one is blank.
    """
    given = (request.tool, request.task, request.signature_source)
    if all(value is None for value in given):
        raise InvalidRequest("Nothing to look up.", "Set at least one of `tool`, `task` and `signature_source`.")
    if all(value is None or not value.strip() for value in given):
        raise InvalidRequest(
            "What there is to look up is empty.", "Send the log, a task or a tool name, not white space."
        )
