"""Texts of others on one short line, as they may be given out."""

from __future__ import annotations

from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe

MESSAGE_CHARACTERS = 160


def one_line(text: str) -> str:
    """A text that was stored, redacted by today's rules once more, in visible characters, and cut to a line."""
    line = " ".join(strip_unsafe(redact(text).text).text.split())
    return line if len(line) <= MESSAGE_CHARACTERS else f"{line[: MESSAGE_CHARACTERS - 1]}…"
