"""Whether a memory tells of a failure that happened, or of a rule, a choice, a plan; what counts is data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mem.parsing.rules import parse
from mem.writing.phrases import Phrases
from mem.writing.statements import statements_of
from mem.writing.words import Words, sentences, words_of

RULES = "telling.toml"
_CODE = re.compile(r"`[^`\n]+`")
_NUMBER = re.compile(r"\d[\d.,:]*")
_CLOSING = 9
"""A last sentence of more words is no remedy in a few words."""
_OPENING = 5
_PER = 20
"""A rate is that of so many words; shorter texts than `_SHORTEST` count as that long."""
_SHORTEST = 8


class TellingRules(BaseModel):
    """The cues and their weights; the head of the file says how to write one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    failing: tuple[str, ...]
    broke: tuple[str, ...]
    because: tuple[str, ...]
    past: str
    passive: str
    qualifying: str
    finite: str
    orders: str
    asks: str
    anywhere: dict[str, tuple[str, ...]]
    rate: dict[str, tuple[str, ...]]
    opening: dict[str, tuple[str, ...]]
    most: dict[str, float]
    against: tuple[str, ...]
    weights: dict[str, float]

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        for name in (*self.anywhere, *self.rate, *self.opening, *self.against):
            if name not in self.weights:
                raise ValueError(f"{name} has no weight")
        return self


class Judgement(NamedTuple):
    """What the words of a memory say, in log-odds.

    `sure` is above 0 where more speaks for a failure than against it. `against` (0 or below) is the part of what marks
    a rule, a choice or a success: a terse lesson is seldom sure by its words alone, yet nothing speaks against it.
    """

    sure: float
    against: float


class Teller:
    """Judges memories by their words."""

    def __init__(self, rules: TellingRules) -> None:
        self._rules = rules
        self._failing, self._broke, self._because = map(Phrases, (rules.failing, rules.broke, rules.because))
        self._anywhere, self._rate, self._opening = (
            {name: Phrases(cues) for name, cues in sorted(group.items())}
            for group in (rules.anywhere, rules.rate, rules.opening)
        )
        self._past, self._passive, self._qualifying, self._finite, self._orders, self._asks = (
            frozenset(words.split())
            for words in (rules.past, rules.passive, rules.qualifying, rules.finite, rules.orders, rules.asks)
        )

    def judge(self, text: str, told: float) -> Judgement:
        """How surely `text` tells of a failure, and what speaks against it.

        `told` is how surely it tells of the entry of the lexicon that it tells of most.
        """
        weights = self._rules.weights
        parts = {name: weights[name] * value for name, value in sorted(self.features(text, told).items())}
        against = sum(parts.get(name, 0.0) for name in self._rules.against)
        return Judgement(round(weights["bias"] + sum(parts.values()), 6), round(against, 6))

    def features(self, text: str, told: float) -> dict[str, float]:
        """What speaks for and against, each bounded."""
        read = [(part, words) for part in sentences(text) if (words := words_of(part)).plain]
        parts = [words for _, words in read]
        events = [self._tells_past(words) for words in parts]
        found = self._cues(parts, events) | self._form(parts) | _marks(text)
        found |= {
            "lexicon": told,
            "event_count": float(sum(events)),
            "first_past": float(any(events[:1])),
            "stated": float(
                sum(len(statements_of(part)) for (part, _), past in zip(read, events, strict=True) if past)
            ),
        }
        most = self._rules.most
        return {name: min(value, most.get(name, value)) for name, value in found.items()}

    def _cues(self, parts: list[Words], events: list[bool]) -> dict[str, float]:
        """How often each group of cues is met."""
        found = {name: float(sum(map(cues.count, parts))) for name, cues in self._anywhere.items()}
        length = max(sum(len(part.plain) for part in parts), _SHORTEST)
        found |= {name: _PER * sum(map(cues.count, parts)) / length for name, cues in self._rate.items()}
        found |= {name: float(any(map(cues.count, _heads(parts[:1])))) for name, cues in self._opening.items()}
        return found | {
            "broke": self._count(self._broke, parts, events, event=True),
            "failing": self._count(self._failing, parts, events, event=True),
            "failing_idle": self._count(self._failing, parts, events, event=False),
            "because": self._count(self._because, parts, events, event=True),
        }

    def _form(self, parts: list[Words]) -> dict[str, float]:
        """How it is told: how long, in which tense, with orders, and with what for a first and a last sentence."""
        last = parts[-1].plain if len(parts) > 1 else ()
        return {
            "sentences": float(len(parts)),
            "words": float(sum(len(part.plain) for part in parts)),
            "strong_past": float(sum(word in self._past for part in parts for word in part.plain)),
            "orders": float(sum(self._orders_remedy(part) for part in parts[1:])),
            "closing": float(bool(last) and len(last) <= _CLOSING and self._finite.isdisjoint(last)),
            "asks": float(any(part.plain[0] in self._asks for part in parts[:1])),
            "present": float(sum(word in ("is", "are") for part in parts for word in part.plain[1:])),
        }

    def _orders_remedy(self, words: Words) -> bool:
        """Whether a sentence begins with what to do, or with what was done and no word of who did it."""
        first = words.plain[0]
        return first in self._orders or (first.endswith("ed") and len(first) > 4)

    def _tells_past(self, words: Words) -> bool:
        """Whether a sentence has a verb in the past that is no state and no attribute."""
        for place, word in enumerate(words.plain):
            if word in self._past:
                return True
            if word.endswith("ed") and len(word) > 4 and place:
                before = words.plain[max(0, place - 2) : place]
                if before[-1] not in self._qualifying and self._passive.isdisjoint(before):
                    return True
        return False

    def _count(self, phrases: Phrases, parts: list[Words], events: Iterable[bool], *, event: bool) -> float:
        return float(sum(phrases.count(part) for part, past in zip(parts, events, strict=True) if past is event))


def _marks(text: str) -> dict[str, float]:
    """What stands there besides words."""
    return {
        "code": float(len(_CODE.findall(text))),
        "numbers": float(len(_NUMBER.findall(text))),
        "semicolons": float(text.count(";")),
    }


def _heads(parts: Iterable[Words]) -> list[Words]:
    """The first words of each."""
    return [Words(part.plain[:_OPENING], part.stems[:_OPENING]) for part in parts]


@cache
def teller() -> Teller:
    """The teller of the packaged rules.

    Raises:
        RuleError: the file is wrong.
    """
    return read_teller(packaged_rules())


@cache
def packaged_rules() -> str:
    """The packaged rules as text."""
    return files("mem.writing").joinpath("rules").joinpath(RULES).read_text("utf-8")


def read_teller(text: str) -> Teller:
    """The teller of these rules.

    Raises:
        RuleError: they are no TOML or break the form.
    """
    return Teller(parse(RULES, text, TellingRules))
