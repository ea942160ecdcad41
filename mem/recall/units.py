"""The statements that a memory can be taken apart into, each with its worth for a message."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from mem.parsing.orders import treatment
from mem.parsing.sentences import leans, sentences
from mem.parsing.terms import asked_terms, terms
from mem.recall.context_block import plain_text
from mem.recall.enhancement import Relevant


class Weights(BaseModel):
    """The weights of `enhancer.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    own: float
    words: float
    early: float
    least_share: float
    per_memory: int
    leaning_characters: int
    alike: float


class Unit(NamedTuple):
    """A statement of one memory: `rank` is the memory's place, `place` the statement's in it."""

    text: str
    sha: str
    rank: int
    place: int
    terms: frozenset[str]
    quoted: bool
    worth: float = 0.0


@cache
def weights() -> Weights:
    """The weights of this version."""
    return Weights.model_validate(
        tomllib.loads(files(__package__).joinpath("enhancer.toml").read_text(encoding="utf-8"))
    )


def worthy_units(message: str, memories: Sequence[Relevant]) -> list[Unit]:
    """What is worth telling of `memories` (best first), the worthiest first, in one total order."""
    asked = asked_terms(message, failing=False)
    by_memory = [_units(memory, rank) for rank, memory in enumerate(memories)]
    rarity = _rarity([unit for units in by_memory for unit in units])
    found: list[Unit] = []
    for memory, units in zip(memories, by_memory, strict=True):
        found += _best(_weighed(units, memory.score, asked, rarity))
    found.sort(key=lambda unit: (-unit.worth, unit.rank, unit.place))
    least = found[0].worth * weights().least_share if found else 0.0
    return [unit for unit in found if unit.worth >= least]


def _best(units: list[Unit]) -> list[Unit]:
    return sorted(units, key=lambda unit: (-unit.worth, unit.place))[: weights().per_memory]


def _units(memory: Relevant, rank: int) -> list[Unit]:
    """The sentences of a memory, those that lean on the one before together with it; none that gives an order."""
    groups: list[str] = []
    for sentence in sentences(memory.text):
        if groups and leans(sentence) and len(groups[-1]) + len(sentence) < weights().leaning_characters:
            groups[-1] = f"{groups[-1]} {sentence}"
        else:
            groups.append(sentence)
    quoted = treatment(memory.text) == "quoted"
    return [
        Unit(text, memory.sha, rank, place, frozenset(terms(text).times), quoted)
        for place, text in enumerate(map(plain_text, groups))
        if text and treatment(text) != "withheld"
    ]


def _rarity(units: Sequence[Unit]) -> dict[str, float]:
    counts = Counter(term for unit in units for term in unit.terms)
    return {term: math.log((1 + len(units)) / (0.5 + count)) for term, count in counts.items()}


def _weighed(units: list[Unit], score: float, asked: Sequence[str], rarity: Mapping[str, float]) -> list[Unit]:
    w = weights()
    shares = [math.fsum(rarity[term] for term in asked if term in unit.terms) for unit in units]
    most = max(shares, default=0.0)
    return [
        unit._replace(worth=score * (w.own + w.words * (share / most if most else 1.0) + w.early / (1 + unit.place)))
        for unit, share in zip(units, shares, strict=True)
    ]
