"""What speaks for a turn of a conversation that is asked about, each from 0 to 1."""

from __future__ import annotations

import re
from typing import NamedTuple

from mem.parsing.telling import Kind, Wanted, asks, tells
from mem.parsing.turns import Day, Turn, read_turn
from mem.ports import Candidate

_WORD = re.compile(r"[^\W_]+")
_FULL = 40
"""A turn of so many words says something; what says less is a greeting or a sign of listening."""
_READ = 2000


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


def talking(question: Wanted, candidate: Candidate) -> Talking:
    """Measure a piece of evidence against a question."""
    turn = read_turn(candidate.node.text)
    answers = question.kinds & tells(turn.said)
    return Talking(
        words=candidate.words or 0.0,
        context=candidate.context or 0.0,
        text=max(candidate.text_similarity or 0.0, 0.0),
        speaker=_named(turn, question),
        day=0.0 if turn.day is None else _within(turn.day, question),
        time=_is("time", answers),
        number=_is("number", answers),
        name=_is("name", answers),
        long=min(len(_WORD.findall(turn.said[:_READ])), _FULL) / _FULL,
        states=float(not asks(turn.said)),
    )


def _is(kind: Kind, answers: frozenset[Kind]) -> float:
    return float(kind in answers)


def _named(turn: Turn, question: Wanted) -> float:
    """A part of the speaker's name is enough, as long as it is no initial."""
    if turn.speaker is None:
        return 0.0
    return float(any(len(part) > 1 and part in question.words for part in _WORD.findall(turn.speaker.lower())))


def _within(day: Day, question: Wanted) -> float:
    """Whether the question names that month, year or both, and no other."""
    if not question.months and not question.years:
        return 0.0
    month, year = not question.months or day.month in question.months, not question.years or day.year in question.years
    return float(month and year)
