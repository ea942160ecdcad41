"""What the context of one turn leaves behind besides its answer: the trace, and what is still to be done."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from mem.domain.grounding import ReadMode, RetrievalDiagnostics, ScopeLevel, Source
from mem.recall.enhancement import Enhancement, Relevant
from mem.recall.outcome import LegTrace

LISTED = 20
"""So many memories are listed in a trace."""


class GroundMemoryTrace(BaseModel):
    """A memory that passed the gate: its probability, what found it, and whether the context rests on it."""

    model_config = ConfigDict(frozen=True)

    sha: str
    level: str
    project: str
    score: float
    sources: list[Source]
    used: bool = False


class GroundTrace(BaseModel):
    """The story of one turn, for the query `trace`, the Temporal UI and the log line; no user and no text is in it.

    `scope` is the beginning of the hash that stands for the user. `found` counts what each source gave, relevant or
    not, and `scored` what of it was looked at. `enhancer` and `reranker` are None where none was needed. `warnings` are
    those of the answer, `degraded` the legs that failed, later ones too.
    """

    model_config = ConfigDict(frozen=True)

    scope: str = ""
    request_id: str = ""
    milliseconds: float = 0.0
    scope_level: ScopeLevel
    read_mode: ReadMode
    status: Literal["ok", "not_found"] = "ok"
    usable: bool = False
    reranker: str | None = None
    enhancer: str | None = None
    legs: list[LegTrace] = []
    found: dict[Source, int] = {}
    scored: int = 0
    relevant: int = 0
    memories: list[GroundMemoryTrace] = []
    used: int = 0
    evidence_strength: float = 0.0
    abstained_reason: str | None = None
    warnings: list[str] = []
    degraded: list[str] = []
    replayed: bool = False


class UnsettledGround(BaseModel):
    """An answer that went out before it could be stored."""

    model_config = ConfigDict(frozen=True)

    scope: str
    request_id: str
    fingerprint: str
    body: str


class GroundOutcome(BaseModel):
    """The answer's exact bytes (as text), its fingerprint and trace; `unsettled` while it is not stored."""

    model_config = ConfigDict(frozen=True)

    body: str
    fingerprint: str
    trace: GroundTrace
    unsettled: UnsettledGround | None = None


class GroundFound(BaseModel):
    """What a turn may be told, before anything made context of it: the relevant memories, and what the answer says.

    `diagnostics` lacks what only the context decides. `trace` is the story so far.
    """

    model_config = ConfigDict(frozen=True)

    scope: str
    request_id: str
    fingerprint: str
    message: str
    limit: int
    relevant: list[Relevant]
    diagnostics: RetrievalDiagnostics
    trace: GroundTrace


class Enhanced(BaseModel):
    """What a controller made of what was found, or why there is nothing of its."""

    model_config = ConfigDict(frozen=True)

    enhancement: Enhancement | None = None
    model_id: str | None = None
    failure: str = ""


class EnhancedFound(BaseModel):
    """What was found, and what a controller made of it."""

    model_config = ConfigDict(frozen=True)

    found: GroundFound
    made: Enhanced
