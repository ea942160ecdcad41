"""The contract of `QueryMemory`: a question goes in, the memories nearest to it come out, and with `explain` why."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import InvalidRequest
from mem.domain.ids import Project, RequestId, Text
from mem.domain.lookup import Degradation, Scores
from mem.domain.nodes import Level, Parent

QueryLeg = Literal["symptom", "text", "lexical"]
QueryCut = Literal["k", "floor", "unscored", "level", "project", "superseded"]

OPERATION = "query"
"""What the ledger calls a query."""

DEFAULT_K = 5
MAX_K = 50
MAX_QUESTION_CHARACTERS = 8192


class QueryRequest(BaseModel):
    """One question to the memories of a project and the shared ones; `k` is how many hits are wanted at most."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    request_id: RequestId
    project: Project
    question: Text = Field(max_length=MAX_QUESTION_CHARACTERS)
    levels: list[Level] = Field(default=["L1", "L2"], min_length=1, max_length=4)
    k: int = Field(default=DEFAULT_K, ge=1, le=MAX_K)
    explain: bool = False


class QueryInput(QueryRequest):
    """The message that starts the workflow and its update: the request with its door's fingerprint.

    `readable` are the projects that the caller may read; None where all may be.
    """

    model_config = ConfigDict(extra="ignore")  # a field that a newer caller adds is no fault

    fingerprint: str | None = None
    readable: list[Project] | None = None


class QueryHit(BaseModel):
    """One node of an answer.

    `provenance` is what it rests on: parents, below an L2 their evidence too; evidence and reference name themselves.
    """

    model_config = ConfigDict(frozen=True)

    sha: str
    level: Level
    project: str | None
    score: float | None
    scores: Scores
    text: str
    provenance: list[Parent]
    supersedes: list[str]


class QueryCandidate(BaseModel):
    """A node in the order of one leg, before successors and reranking: `rank` from 1, `distance` from 0."""

    model_config = ConfigDict(frozen=True)

    sha: str
    leg: QueryLeg
    rank: int
    distance: float


class QueryReranked(BaseModel):
    """What became of a node that the legs found, or of the live one in its place, which `supersedes` them.

    `before` and `after` are its places, from 1, in the order of recall and in the one that stands, among the nodes that
    concern the question. `cut` says why it is no hit: there were `k` others, it is below the `floor` of what concerns
    the question, the reranker had no time for it (`unscored`), it stands for a hit but is of another `level` or
    `project`, or it is `superseded` without a successor that may be read.
    """

    model_config = ConfigDict(frozen=True)

    sha: str
    supersedes: list[str]
    score: float | None
    before: int | None
    after: int | None
    cut: QueryCut | None


class QueryAnswer(BaseModel):
    """The answer; no time, latency or random id is in it.

    `candidates` and `reranked` are there only where `explain` was asked for.
    """

    model_config = ConfigDict(frozen=True)

    query_id: str
    project: str
    hits: list[QueryHit]
    degraded: list[Degradation]
    candidates: list[QueryCandidate] | None = Field(default=None, exclude_if=lambda value: value is None)
    reranked: list[QueryReranked] | None = Field(default=None, exclude_if=lambda value: value is None)


class RecordedQuery(BaseModel):
    """Names a query that was answered."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project: Project
    query_id: RequestId


def check_question(request: QueryRequest) -> None:
    """Refuse a question that asks nothing.

    Raises:
        InvalidRequest: it is blank.
    """
    if not request.question.strip():
        raise InvalidRequest("The question is empty.", "Ask in words, or bring the line that failed.")
