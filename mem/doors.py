"""What every door does before a text leaves the caller's process: strip, redact, distil, and say so."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from mem.domain.accepting import MAX_EVIDENCE_BYTES, AcceptRequest, Evidence
from mem.domain.canonical import canonical_json
from mem.domain.errors import InvalidRequest
from mem.domain.lookup import MAX_TASK_CHARACTERS, MAX_TOOL_CHARACTERS, ContextRequest, LookUpInput
from mem.parsing import Distilled, distill
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe

DISTILL_ABOVE_BYTES = 64 * 1024

MessageT = TypeVar("MessageT", bound=AcceptRequest | LookUpInput)


class Prepared(NamedTuple, Generic[MessageT]):
    """A message that may travel, and what was done to the caller's texts, in words."""

    message: MessageT
    notes: tuple[str, ...]


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

    def log(self, text: str) -> str:
        """A log: escape sequences stay, since they tell about its structure."""
        stripped = strip_bidi_and_zero_width(text)
        return self._redacted(stripped.text, stripped.removed)

    def distilled(self, text: str) -> Distilled:
        """The failing parts of a long log."""
        self._distilled += 1
        return distill(text)

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


def refuse_secret_ids(**ids: str | None) -> None:
    """Refuse a name that looks like a secret: names are shown in lists, and cannot be redacted without changing them.

    Raises:
        InvalidRequest: one does.
    """
    for field, value in ids.items():
        if value is not None and redact(value).kinds:
            raise InvalidRequest(
                f"`{field}` looks like a secret.", "Choose a name that is none; ids are shown in lists."
            )


def prepare_candidate(request: AcceptRequest) -> Prepared[AcceptRequest]:
    """The candidate without secrets and hidden characters, its long logs distilled.

    Raises:
        InvalidRequest: an id looks like a secret.
    """
    refuse_secret_ids(
        request_id=request.request_id, project=request.project, user_id=request.user_id, container=request.container
    )
    notes = _Notes()
    fields: dict[str, object] = {
        "text": notes.short(request.text),
        "evidence": [_evidence(each, notes) for each in request.evidence],
        "parents": [notes.short(each) for each in request.parents],
        "supersedes": [notes.short(each) for each in request.supersedes],
    }
    if request.tool is not None:
        fields["tool"] = notes.short(request.tool)[:MAX_TOOL_CHARACTERS]
    return Prepared(request.model_copy(update=fields), notes.told())


def prepare_lookup(request: ContextRequest) -> Prepared[LookUpInput]:
    """The lookup without secrets and hidden characters, a long log distilled.

    Raises:
        InvalidRequest: an id looks like a secret.
    """
    refuse_secret_ids(request_id=request.request_id, project=request.project)
    notes = _Notes()
    fields = request.model_dump(exclude_unset=True)
    if request.tool is not None:
        fields["tool"] = notes.short(request.tool)[:MAX_TOOL_CHARACTERS] or None
    if request.task is not None:
        # What stands for a secret can be longer than the secret.
        fields["task"] = notes.short(request.task)[:MAX_TASK_CHARACTERS] or None
    if request.signature_source is not None:
        safe = notes.log(request.signature_source)
        if len(canonical_json(safe)) > DISTILL_ABOVE_BYTES:
            distilled = notes.distilled(safe)
            fields |= {"original_sha": distilled.source_sha, "original_bytes": distilled.source_bytes}
            safe = distilled.text
        fields["signature_source"] = safe
    return Prepared(LookUpInput.model_validate(fields), notes.told())


def _evidence(evidence: Evidence, notes: _Notes) -> Evidence:
    safe = notes.log(evidence.text)
    fields: dict[str, object] = {"source": notes.short(evidence.source)}
    if len(canonical_json(safe)) > MAX_EVIDENCE_BYTES:
        distilled = notes.distilled(safe)
        fields |= {"original_sha": distilled.source_sha, "original_bytes": distilled.source_bytes}
        safe = distilled.text
    return evidence.model_copy(update={**fields, "text": safe})
