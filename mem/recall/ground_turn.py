"""What a user's message asks, in the form that the sources need it."""

from __future__ import annotations

import re
from typing import NamedTuple

from mem.domain.grounding import MAX_MESSAGE_BYTES, GroundInput
from mem.domain.signatures import Signature
from mem.parsing import distill
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe
from mem.parsing.terms import asked_terms
from mem.ports import Audience
from mem.recall.ground_modes import Mode
from mem.recall.query import TASK_CHARACTERS, read_failure

LABELS = 40
"""So many words of a message are looked up as names."""
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}")
_EDGES = "._-"
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_SENTENCE_WORDS = 4
"""Fewer say nothing to search with."""


class Turn(NamedTuple):
    """A message, read.

    `message` is all of it without secrets and hidden characters, `text` what of it is searched with, `sentences` its
    parts, `terms` its words for a search by words, `labels` what may be the name of a tool, a project or a container.
    """

    message: str
    text: str
    sentences: tuple[str, ...]
    terms: tuple[str, ...]
    labels: tuple[str, ...]


class TurnFailure(NamedTuple):
    """The failure that a message holds: its signatures, the lines that tell it for certain, and the tool."""

    signatures: tuple[Signature, ...] = ()
    lines: str | None = None
    tool: str | None = None


def read_turn(request: GroundInput, mode: Mode) -> Turn:
    """Read a message as words; a caller that started the workflow itself may have cleaned and distilled nothing."""
    message = _safe(request.message)
    text = message[:TASK_CHARACTERS]
    names = [] if request.scope_level != "user_global_container" else [one.id for one in request.containers]
    return Turn(
        message=message,
        text=text,
        sentences=_sentences(message, mode.sentences),
        terms=tuple(asked_terms(text, failing=False)),
        labels=tuple(dict.fromkeys([*names, *_names(text)])),
    )


def read_turn_failure(message: str) -> TurnFailure:
    """The failure in a message, if any of its lines is known to tell one."""
    signatures, lines, sure = read_failure(message)
    if not sure:
        return TurnFailure()
    return TurnFailure(signatures, lines, signatures[0].tool if signatures else None)


def audience_of(request: GroundInput) -> Audience:
    """Whose memories a turn may read."""
    readable = None if request.readable is None else tuple(request.readable)
    return Audience(request.user_id, request.scope_level, tuple(asked_containers(request)), readable)


def asked_containers(request: GroundInput) -> list[str]:
    """The containers of a request, in its order, each once."""
    return list(dict.fromkeys(one.id for one in request.containers))


def _safe(message: str) -> str:
    # From a terminal it keeps its colours, which a log is read by.
    stripped = (strip_bidi_and_zero_width if "\x1b" in message else strip_unsafe)(message).text
    safe = redact(stripped).text
    # What stands for a secret can be longer than the secret.
    if len(safe) <= MAX_MESSAGE_BYTES // 4 or len(safe.encode()) <= 2 * MAX_MESSAGE_BYTES:
        return safe
    return redact(distill(safe, max_bytes=MAX_MESSAGE_BYTES).text).text


def _sentences(message: str, most: int) -> tuple[str, ...]:
    """The sentences that say something; of too many those at both ends, since what is wanted stands at one."""
    if not most:
        return ()
    parts = [part.strip()[:TASK_CHARACTERS] for part in _SENTENCE.split(message)]
    telling = list(dict.fromkeys(part for part in parts if len(part.split()) >= _SENTENCE_WORDS))
    if len(telling) < 2:
        return ()
    if len(telling) > most:
        telling = [*telling[: most - most // 2], *telling[-(most // 2) :]]
    return tuple(telling)


def _names(text: str) -> list[str]:
    """The words that may be names, as they stand and in lower case, in which tools are called."""
    found: dict[str, None] = {}
    for match in _LABEL.finditer(text):
        word = match[0].strip(_EDGES)
        if len(word) > 1:
            found[word] = None
            found[word.lower()] = None
        if len(found) >= LABELS:
            break
    return list(found)
