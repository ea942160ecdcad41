"""What speaks for a turn of a conversation that is asked about, each from 0 to 1."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mem.parsing.telling import Kind, Wanted, asks, tells
from mem.parsing.turns import Day, Turn, read_turn
from mem.ports import Candidate

_WORD = re.compile(r"[^\W_]+")
_FULL = 40
"""A turn of so many words says something; what says less is a greeting or a sign of listening."""
_READ = 2000
_REMEMBERED = 16_384


class Talking(NamedTuple):
    """How a question and a piece of evidence fit together; a similarity that no leg measured is 0.

    `words` and `context`: the share of the question's words that it holds itself, and together with the turns around
    it. `text`: the cosine. `speaker`: the question names who speaks. `day`: it names the month or year in which that
    was said. `time`, `number`, `name`: it wants such a thing, and the turn tells one. `long`: how much the turn says.
    `states`: it does not end with a question of its own.
    """

    words: float
    context: float
    text: float
    speaker: float
    day: float
    time: float
    number: float
    name: float
    long: float
    states: float


class _Told(NamedTuple):
    """What a turn is by itself, whatever is asked; `speaker` are the parts of the name, `kinds` what it tells."""

    speaker: frozenset[str]
    day: Day | None
    kinds: frozenset[Kind]
    long: float
    states: float


def talking(question: Wanted, candidate: Candidate) -> Talking:
    """Measure a piece of evidence against a question."""
    told = _told(candidate.node.text)
    answers = question.kinds & told.kinds
    return Talking(
        words=candidate.words or 0.0,
        context=candidate.context or 0.0,
        text=max(candidate.text_similarity or 0.0, 0.0),
        speaker=float(not told.speaker.isdisjoint(question.words)),
        day=0.0 if told.day is None else _within(told.day, question),
        time=_is("time", answers),
        number=_is("number", answers),
        name=_is("name", answers),
        long=told.long,
        states=told.states,
    )


@lru_cache(_REMEMBERED)
def _told(text: str) -> _Told:
    """Read a turn; each question to a conversation reads the same ones."""
    turn = read_turn(text)
    return _Told(
        speaker=_name(turn),
        day=turn.day,
        kinds=tells(turn.said),
        long=min(len(_WORD.findall(turn.said[:_READ])), _FULL) / _FULL,
        states=float(not asks(turn.said)),
    )


def _is(kind: Kind, answers: frozenset[Kind]) -> float:
    return float(kind in answers)


def _name(turn: Turn) -> frozenset[str]:
    """A part of the speaker's name is enough to name who speaks, as long as it is no initial."""
    speaker = "" if turn.speaker is None else turn.speaker.lower()
    return frozenset(part for part in _WORD.findall(speaker) if len(part) > 1)


def _within(day: Day, question: Wanted) -> float:
    """Whether the question names that month, year or both, and no other."""
    if not question.months and not question.years:
        return 0.0
    month, year = not question.months or day.month in question.months, not question.years or day.year in question.years
    return float(month and year)
