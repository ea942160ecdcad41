"""What speaks for a section of documentation that is to explain a fault, each from 0 to 1."""

from __future__ import annotations

import math
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.clients.scorer.words import said, weight
from mem.ports import Candidate, Fault, Fit

Pair = tuple[str, str]


class Sought(NamedTuple):
    """A fault, taken apart once for all candidates: pairs of neighbouring words, each with what it weighs."""

    headline: dict[Pair, float]
    notes: dict[Pair, float]


class Explaining(NamedTuple):
    """How a section fits a fault: its headline, `notes_*` what is said besides, `excerpt_*` the code.

    `pairs` is the share of neighbouring words by weight that stand side by side in the section, too. `obsolete`: the
    section says that it is superseded.
    """

    text: float
    words: float
    context: float
    pairs: float
    notes_text: float
    notes_words: float
    notes_context: float
    notes_pairs: float
    excerpt_text: float
    excerpt_words: float
    excerpt_context: float
    obsolete: float


def sought(fault: Fault) -> Sought:
    """Take a fault apart."""
    return Sought(_pairs(fault.headline), _pairs(fault.notes))


def explaining(fault: Sought, candidate: Candidate) -> Explaining:
    """Measure a section against a fault; what no leg measured is 0."""
    held = said(candidate.node.text).pairs
    notes, excerpt = candidate.notes or Fit(), candidate.excerpt or Fit()
    return Explaining(
        text=max(candidate.text_similarity or 0.0, 0.0),
        words=candidate.words or 0.0,
        context=candidate.context or 0.0,
        pairs=_share(fault.headline, held),
        notes_text=notes.text,
        notes_words=notes.words,
        notes_context=notes.context,
        notes_pairs=_share(fault.notes, held),
        excerpt_text=excerpt.text,
        excerpt_words=excerpt.words,
        excerpt_context=excerpt.context,
        obsolete=float(_is_obsolete(candidate.node.text)),
    )


def _pairs(text: str) -> dict[Pair, float]:
    return {pair: weight(pair[0]) + weight(pair[1]) for pair in sorted(said(text).pairs)}


def _share(asked: dict[Pair, float], held: frozenset[Pair]) -> float:
    whole = math.fsum(asked.values())
    return math.fsum(asked[pair] for pair in asked.keys() & held) / whole if whole else 0.0


def _is_obsolete(text: str) -> bool:
    says, beginning = _superseded()
    return says.search(text[:beginning]) is not None


@cache
def _superseded() -> tuple[re.Pattern[str], int]:
    data = tomllib.loads(files(__package__).joinpath("superseded.toml").read_text(encoding="utf-8"))
    return re.compile("|".join(data["says"]), re.IGNORECASE), data["beginning"]
