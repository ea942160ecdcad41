"""The rolling summary of a user: the newest of the user's lessons, a line for each."""

from __future__ import annotations

import re

from mem.parsing.sanitize import strip_unsafe

ENTRIES = 30
"""So many of the newest lessons are in what is read of a summary."""
LINE_CHARACTERS = 200
LINE_BY = 1
"""The version of what follows; one that gives other lines has another number, and `mem migrate` makes them anew."""

_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s")
_WORDS = 20
"""A sentence of fewer characters says little: the next ones come along, as far as there is room."""


def headline(text: str) -> str:
    """What a lesson says first, on one line; its text was redacted before it was stored."""
    line = " ".join(strip_unsafe(text).text.split())
    said = ""
    for sentence in _SENTENCE.split(line):
        if len(said) >= _WORDS:
            break
        said = f"{said} {sentence}".strip()
    return said if len(said) <= LINE_CHARACTERS else _cut(said)


def _cut(line: str) -> str:
    """The words that have room; the last one is cut where there is no other."""
    beginning = line[: LINE_CHARACTERS - 1]
    whole, _, _ = beginning.rpartition(" ")
    return f"{whole if len(whole) > LINE_CHARACTERS // 2 else beginning}…"
