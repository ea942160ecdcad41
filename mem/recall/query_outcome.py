"""What one query leaves behind besides its answer: the trace, and what is still to be stored."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mem.domain.nodes import Level
from mem.domain.query import QueryLeg
from mem.recall.outcome import LegTrace


class HitTrace(BaseModel):
    """Why a hit stands where it does; `ranks` is its best place in each leg that found it or what it supersedes."""

    model_config = ConfigDict(frozen=True)

    sha: str
    level: Level
    project: str | None
    recall: float | None
    rerank: float | None
    ranks: dict[QueryLeg, int]


class QueryTrace(BaseModel):
    """The story of one query, for the query `trace`, the Temporal UI and the log line."""

    model_config = ConfigDict(frozen=True)

    project: str = ""
    request_id: str = ""
    milliseconds: float = 0.0
    reranker: str | None = None
    legs: list[LegTrace]
    hits: list[HitTrace]
    degraded: list[str]
    replayed: bool = False


class UnsettledQuery(BaseModel):
    """An answer that went out before it could be stored."""

    model_config = ConfigDict(frozen=True)

    project: str
    request_id: str
    fingerprint: str
    body: str


class QueryOutcome(BaseModel):
    """The answer's exact bytes (as text), its fingerprint and trace; `unsettled` while it is not stored."""

    model_config = ConfigDict(frozen=True)

    body: str
    fingerprint: str
    trace: QueryTrace
    unsettled: UnsettledQuery | None = None
