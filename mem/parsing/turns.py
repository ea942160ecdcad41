"""A turn of a transcript: who says it, on which day, and what is said."""

from __future__ import annotations

import re
from typing import NamedTuple

from mem.parsing.telling import dates, telling_rules

_HEAD = 160
"""A heading stands within so many characters, or the text has none."""
_WHEN = re.compile(
    r"\s*(?:\[(?P<bracketed>[^\]\n]{4,60})\]|(?P<iso>\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?))"
)
_LABEL = re.compile(
    r"\s*(?:-\s+)?(?:\*\*|<)?(?P<label>[^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019-]+){0,3})(?:\*\*|>)?(?P<colon>:)?(?:\*\*)?"
)
_PART = re.compile(r"[^\W_]+")
_CALLED = re.compile(r"<[^<>\n]+>\s")


class Day(NamedTuple):
    """A day, as far as a text names it."""

    year: int | None
    month: int | None


class Turn(NamedTuple):
    """A text, read as a turn; without a heading all of it is what is said, by nobody, on no day."""

    speaker: str | None
    day: Day | None
    said: str


def read_turn(text: str) -> Turn:
    """Read `[1:56 pm on 8 May, 2023] Caroline: …`, `2023-05-08T10:00 alice: …`, `user: …` and the like.

    A label is a speaker where a date stands before it, or where it is a role or a name with a capital; what programs
    begin a message with (`Error:`) is none.
    """
    head = text[:_HEAD]
    found = _WHEN.match(head)
    written = "" if found is None else found["bracketed"] or found["iso"]
    days = sorted(dates(written), key=str) if written else []
    day = Day(*days[0]) if days else None
    # What stands in brackets is no date, but it may be the time of day.
    dated = found is not None and (day is not None or any(map(str.isdigit, written)))
    start = found.end() if found is not None and dated else 0
    label = _LABEL.match(head, start)
    if label is None or not _speaks(label, head, start, dated=dated):
        return Turn(None, day, text[start:].strip() if dated else text)
    return Turn(label["label"], day, text[label.end() :].strip())


def _speaks(label: re.Match[str], head: str, start: int, *, dated: bool) -> bool:
    called = _CALLED.match(head[start:].lstrip()) is not None
    if label["colon"] is None and not called:
        return False
    after = head[label.end() :]
    if after and not after[0].isspace():
        return False
    rules = telling_rules()
    if any(word.endswith(rules.reports) for word in _PART.findall(label["label"].lower())):
        return False
    return dated or called or label["label"].lower() in rules.roles or all(map(_capital, label["label"].split()))


def _capital(word: str) -> bool:
    return word[0].isupper() and not (len(word) > 1 and word.isupper())
