"""The contract of `GroundContext`: a user's next message goes in, prompt-safe context for the turn comes out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import InvalidRequest
from mem.domain.ids import Identity, Project, RequestId, Text

OPERATION = "ground"
"""What the ledger calls a user's turn."""

ScopeLevel = Literal["user", "user_global", "user_global_container"]
ReadMode = Literal["simple", "balanced", "deep"]
Source = Literal["snapshot", "vector", "metadata", "graph"]

MAX_CONTAINERS = 100
MAX_TYPE_CHARACTERS = 200
MAX_METADATA_CHARACTERS = 500
MAX_MESSAGE_BYTES = 16 * 1024
"""What is longer is distilled; a request may bring any length that a door takes."""


class ContainerHint(BaseModel):
    """A container whose memories count where the scope includes them; `type` informs people alone."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Identity
    type: Text | None = Field(default=None, max_length=MAX_TYPE_CHARACTERS)


class RetrievalBudgets(BaseModel):
    """How much may be read and how long the context may be, in tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    max_output_tokens: int = Field(default=400, ge=1, le=4000)
    max_candidate_memories: int = Field(default=30, ge=1, le=200)


class RequestMetadata(BaseModel):
    """What the host says of itself; it changes no answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    app: Text | None = Field(default=None, max_length=MAX_METADATA_CHARACTERS)
    source: Text | None = Field(default=None, max_length=MAX_METADATA_CHARACTERS)
    model: Text | None = Field(default=None, max_length=MAX_METADATA_CHARACTERS)
    trace_id: Text | None = Field(default=None, max_length=MAX_METADATA_CHARACTERS)


class GroundRequest(BaseModel):
    """One turn of a user that context is asked for."""

    # Errors stay in histories and logs, where no user is named.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    request_id: RequestId
    user_id: Identity
    message: Text = Field(min_length=1)
    containers: list[ContainerHint] = Field(default=[], max_length=MAX_CONTAINERS)
    scope_level: ScopeLevel = "user_global"
    read_mode: ReadMode = "balanced"
    budgets: RetrievalBudgets = RetrievalBudgets()
    metadata: RequestMetadata = RequestMetadata()


class GroundInput(GroundRequest):
    """The message that starts the workflow and its update: the request with its door's fingerprint.

    `readable` are the projects that the caller may read; None where all may be. `original_bytes` is what a message took
    that a door distilled.
    """

    model_config = ConfigDict(extra="ignore")  # a field that a newer caller adds is no fault

    fingerprint: str | None = None
    readable: list[Project] | None = None
    original_bytes: int | None = Field(default=None, ge=0)


class SourceBreakdown(BaseModel):
    """How many of the relevant memories each source found; one that several found counts for each."""

    model_config = ConfigDict(frozen=True)

    snapshot: int = 0
    vector: int = 0
    metadata: int = 0
    graph: int = 0


class RetrievalDiagnostics(BaseModel):
    """What was found, of relevant memories alone."""

    model_config = ConfigDict(frozen=True)

    scope_applied: ScopeLevel
    read_mode: ReadMode
    user_found: bool
    candidate_count: int
    used_memory_count: int
    missing_containers: list[str]
    source_breakdown: SourceBreakdown
    evidence_strength: float
    warnings: list[str]


class GroundAnswer(BaseModel):
    """The answer; no time, latency or random id is in it."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ok", "not_found"]
    has_usable_context: bool
    context_enhancement: str
    abstained_reason: str | None
    diagnostics: RetrievalDiagnostics


def check_message(request: GroundRequest) -> None:
    """Refuse a message that says nothing.

    Raises:
        InvalidRequest: it is blank.
    """
    if not request.message.strip():
        raise InvalidRequest("The message is blank.", "Send what the user said in `message`.")
