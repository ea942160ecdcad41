"""Whether a memory tells of a failure that happened, or of a rule, a choice, a plan; what counts is data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mem.domain.errors import RuleError
from mem.writing.phrases import Phrases
from mem.writing.statements import statements_of
from mem.writing.words import Words, sentences, words_of

RULES = "telling.toml"


class TellingRules(BaseModel):
    """The cues and their weights; the head of the file says how to write one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    failing: tuple[str, ...]
    broke: tuple[str, ...]
    remedy: tuple[str, ...]
    because: tuple[str, ...]
    past: str
    passive: str
    qualifying: str
    habitual: tuple[str, ...]
    choice: tuple[str, ...]
    decision: tuple[str, ...]
    universal: tuple[str, ...]
    twist: tuple[str, ...]
    orders: str
    most: dict[str, float]
    weights: dict[str, float]


class Teller:
    """Judges memories by their words."""

    def __init__(self, rules: TellingRules) -> None:
        self._rules = rules
        self._failing, self._broke, self._because = map(Phrases, (rules.failing, rules.broke, rules.because))
        self._anywhere = {
            "remedy": Phrases(rules.remedy),
            "habitual": Phrases(rules.habitual),
            "choice": Phrases(rules.choice),
            "decision": Phrases(rules.decision),
            "universal": Phrases(rules.universal),
            "twist": Phrases(rules.twist),
        }
        self._past, self._passive, self._qualifying, self._orders = (
            frozenset(words.split()) for words in (rules.past, rules.passive, rules.qualifying, rules.orders)
        )

    def score(self, text: str, told: float) -> float:
        """How surely `text` tells of a failure: log-odds, above 0 where more speaks for it.

        `told` is how surely it tells of the entry of the lexicon that it tells of most.
        """
        weights = self._rules.weights
        found = self.features(text) | {"lexicon": min(told, self._rules.most["lexicon"])}
        return round(weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in sorted(found.items())), 6)

    def features(self, text: str) -> dict[str, float]:
        """What speaks for and against, each bounded."""
        read = [(part, words) for part in sentences(text) if (words := words_of(part)).plain]
        parts = [words for _, words in read]
        events = [self._tells_past(words) for words in parts]
        found = {name: float(sum(phrases.count(part) for part in parts)) for name, phrases in self._anywhere.items()}
        found |= {
            "event_share": sum(events) / len(parts) if parts else 0.0,
            "event_count": float(sum(events)),
            "strong_past": float(sum(word in self._past for part in parts for word in part.plain)),
            "broke": self._count(self._broke, parts, events, event=True),
            "failing": self._count(self._failing, parts, events, event=True),
            "failing_idle": self._count(self._failing, parts, events, event=False),
            "because": self._count(self._because, parts, events, event=True),
            "orders": float(sum(self._orders_remedy(part) for part in parts[1:])),
            "stated": float(
                sum(len(statements_of(part)) for (part, _), past in zip(read, events, strict=True) if past)
            ),
            "states": float(sum(self._states(part) for part in parts)),
        }
        most = self._rules.most
        return {name: min(value, most.get(name, value)) for name, value in found.items()}

    def _orders_remedy(self, words: Words) -> bool:
        """Whether a sentence begins with what to do, or with what was done and no word of who did it."""
        first = words.plain[0]
        return first in self._orders or (first.endswith("ed") and len(first) > 4)

    def _states(self, words: Words) -> int:
        """How often a sentence says what is done, as a habit: a form in -ed or -en behind "is", "are" or "be"."""
        return sum(
            word.endswith(("ed", "en"))
            and len(word) > 4
            and not self._passive.isdisjoint(words.plain[max(0, place - 2) : place])
            for place, word in enumerate(words.plain)
        )

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
    try:
        return Teller(TellingRules.model_validate(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{RULES} is no TOML: {error}.", "Correct the file.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RuleError(f"{RULES}, {place}: {first['msg']}.", "Correct the rule.") from None
