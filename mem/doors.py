"""What every door does before a text leaves the caller's process: strip, redact, distil, and say so."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from mem.domain.accepting import (
    MAX_EVIDENCE_BYTES,
    MAX_REASON_CHARACTERS,
    MAX_SOURCE_CHARACTERS,
    AcceptRequest,
    Evidence,
)
from mem.domain.canonical import canonical_json
from mem.domain.errors import InvalidRequest
from mem.domain.faults import told
from mem.domain.grounding import (
    MAX_MESSAGE_BYTES,
    MAX_METADATA_CHARACTERS,
    MAX_TYPE_CHARACTERS,
    GroundInput,
    GroundRequest,
)
from mem.domain.ids import MAX_SHA_CHARACTERS
from mem.domain.lookup import MAX_TASK_CHARACTERS, MAX_TOOL_CHARACTERS, ContextRequest, LookUpInput
from mem.domain.query import MAX_QUESTION_CHARACTERS, QueryInput, QueryRequest
from mem.parsing import distill
from mem.parsing.names import refuse_secret_names
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe

DISTILL_ABOVE_BYTES = 64 * 1024

MessageT = TypeVar("MessageT", bound=AcceptRequest | LookUpInput | QueryInput | GroundInput)
ModelT = TypeVar("ModelT", bound=BaseModel)


class SentLog(NamedTuple):
    """A log as it travels: `line_map[i]` is the line of the caller's log, from 1, that line i stands for.

    None where it was not distilled: redaction and stripping keep the lines.
    """

    text: str
    line_map: list[int] | None


class Prepared(NamedTuple, Generic[MessageT]):
    """A message that may travel, and what was done to the caller's texts, in words."""

    message: MessageT
    notes: tuple[str, ...]
    sent: SentLog | None = None


class _Notes:
    """What was done so far."""

    def __init__(self) -> None:
        self._removed = 0
        self._kinds: set[str] = set()
        self._distilled = 0

    def short(self, text: str) -> str:
        """A text that people write: no control characters, no secrets."""
        stripped = strip_unsafe(text)
        return self._redacted(stripped.text, stripped.removed)

    def question(self, text: str) -> str:
        """A question, which people write or paste: from a terminal it keeps its colours, which a log is read by."""
        return self._safe(text) if "\x1b" in text else self.short(text)

    def log(self, text: str, limit: int) -> tuple[str, list[int] | None, dict[str, object]]:
        """A log without hidden characters and secrets; of one that was distilled its line map and its origin.

        Escape sequences stay, since they tell about its structure. What is long is distilled first, still inside the
        caller's process: all that follows looks at a few kilobytes then.
        """
        if len(text) <= limit:
            safe = self._safe(text)
            if len(canonical_json(safe)) <= limit:
                return safe, None, {}
        self._distilled += 1
        distilled = distill(text)
        origin = {"original_sha": distilled.source_sha, "original_bytes": distilled.source_bytes}
        return self._safe(distilled.text), distilled.line_map, origin

    def message(self, text: str) -> tuple[str, dict[str, object]]:
        """What a user said, or pasted; of a message that was distilled also what it took."""
        if len(text.encode()) <= MAX_MESSAGE_BYTES:
            return self.question(text), {}
        self._distilled += 1
        distilled = distill(text, max_bytes=MAX_MESSAGE_BYTES)
        return self.question(distilled.text), {"original_bytes": distilled.source_bytes}

    def _safe(self, text: str) -> str:
        stripped = strip_bidi_and_zero_width(text)
        return self._redacted(stripped.text, stripped.removed)

    def _redacted(self, text: str, removed: int) -> str:
        redacted = redact(text)
        self._removed += removed
        self._kinds |= set(redacted.kinds)
        return redacted.text

    def told(self) -> tuple[str, ...]:
        """The notes, one sentence each."""
        notes = []
        if self._removed:
            notes.append(f"{self._removed} control, bidi or zero-width characters were removed.")
        if self._kinds:
            notes.append(f"Secrets were redacted: {', '.join(sorted(self._kinds))}.")
        if self._distilled:
            notes.append("A long log was distilled to its failing parts.")
        return tuple(notes)


def prepare_candidate(request: AcceptRequest) -> Prepared[AcceptRequest]:
    """The candidate without secrets and hidden characters, its long logs distilled.

    Raises:
        InvalidRequest: an id looks like a secret, or nothing is left of a text.
    """
    refuse_secret_names(
        request_id=request.request_id, project=request.project, user_id=request.user_id, container=request.container
    )
    notes = _Notes()
    # What stands for a secret can be longer than the secret.
    fields = request.model_dump(exclude_unset=True) | {
        "text": notes.short(request.text),
        "evidence": [_evidence(each, notes).model_dump(exclude_unset=True) for each in request.evidence],
        "parents": [notes.short(each)[:MAX_SHA_CHARACTERS] for each in request.parents],
        "supersedes": [notes.short(each)[:MAX_SHA_CHARACTERS] for each in request.supersedes],
    }
    if request.tool is not None:
        fields["tool"] = notes.short(request.tool)[:MAX_TOOL_CHARACTERS] or None
    return Prepared(_cleaned(AcceptRequest, fields), notes.told())


def prepare_reason(reason: str) -> str:
    """A person's reason for overruling the gate, without secrets and hidden characters.

    Raises:
        InvalidRequest: it is empty or too long.
    """
    safe = _Notes().short(reason).strip()
    if not safe or len(safe) > MAX_REASON_CHARACTERS:
        raise InvalidRequest(
            f"The reason for overruling the gate takes {len(safe)} characters.",
            f"Give one of 1 to {MAX_REASON_CHARACTERS}.",
        )
    return safe


def prepare_lookup(request: ContextRequest) -> Prepared[LookUpInput]:
    """The lookup without secrets and hidden characters, a long log distilled.

    Raises:
        InvalidRequest: an id looks like a secret.
    """
    refuse_secret_names(request_id=request.request_id, project=request.project)
    notes = _Notes()
    fields = request.model_dump(exclude_unset=True)
    sent: SentLog | None = None
    if request.tool is not None:
        fields["tool"] = notes.short(request.tool)[:MAX_TOOL_CHARACTERS] or None
    if request.task is not None:
        # What stands for a secret can be longer than the secret.
        fields["task"] = notes.short(request.task)[:MAX_TASK_CHARACTERS] or None
    if request.signature_source is not None:
        safe, line_map, origin = notes.log(request.signature_source, DISTILL_ABOVE_BYTES)
        fields |= {"signature_source": safe, **origin}
        sent = SentLog(safe, line_map)
    return Prepared(_cleaned(LookUpInput, fields), notes.told(), sent)


def prepare_question(request: QueryRequest) -> Prepared[QueryInput]:
    """The question without secrets and hidden characters.

    Raises:
        InvalidRequest: an id looks like a secret.
    """
    refuse_secret_names(request_id=request.request_id, project=request.project)
    notes = _Notes()
    # What stands for a secret can be longer than the secret.
    safe = notes.question(request.question)[:MAX_QUESTION_CHARACTERS]
    fields = request.model_dump(exclude_unset=True) | {"question": safe}
    return Prepared(_cleaned(QueryInput, fields), notes.told())


def prepare_ground(request: GroundRequest) -> Prepared[GroundInput]:
    """The message without secrets and hidden characters, a long one distilled, and what the host says cleaned likewise.

    Raises:
        InvalidRequest: an id looks like a secret, or nothing is left of the message.
    """
    refuse_secret_names(request_id=request.request_id, user_id=request.user_id)
    for container in request.containers:
        refuse_secret_names(container=container.id)
    notes = _Notes()
    safe, origin = notes.message(request.message)
    fields = request.model_dump(exclude_unset=True) | {"message": safe, **origin}
    metadata: dict[str, str | None] = fields.get("metadata", {})
    metadata.update({name: notes.short(text)[:MAX_METADATA_CHARACTERS] for name, text in metadata.items() if text})
    for container in fields.get("containers", []):
        if container.get("type"):
            container["type"] = notes.short(container["type"])[:MAX_TYPE_CHARACTERS]
    return Prepared(_cleaned(GroundInput, fields), notes.told())


def _evidence(evidence: Evidence, notes: _Notes) -> Evidence:
    safe, _, origin = notes.log(evidence.text, MAX_EVIDENCE_BYTES)
    source = notes.short(evidence.source)[:MAX_SOURCE_CHARACTERS]
    return evidence.model_copy(update={"source": source, "text": safe, **origin})


def _cleaned(model: type[ModelT], fields: dict[str, Any]) -> ModelT:
    """The message of fields that held to the contract before they were cleaned."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise InvalidRequest(
            f"Without its hidden characters and secrets the request breaks the contract: {told(error, most=5)}.",
            "Send text that can be seen.",
        ) from None
