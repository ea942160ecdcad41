"""How strong the evidence for a message is: what survives the floors, and what that is worth together."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.ports import Candidate
from mem.recall.floors import floors

STRENGTH_DIGITS = 2
ABSTAINED = "No memory is relevant enough to this message."
"""Tells nothing of what was found and left out."""
_EDGE = 1e-4


class _Line(NamedTuple):
    bias: float
    slope: float


def survivors(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[tuple[Candidate, float]]:
    """What is over the floor of messages, with its probability, best first and by sha.

    A candidate of which no vector was compared has the floor of what was scored by words alone.
    """
    rules = floors()
    over = [
        (candidate, score)
        for candidate, score in zip(candidates, scores, strict=True)
        if score >= (rules.message_words if _by_words(candidate) else rules.message)
    ]
    return sorted(over, key=lambda one: (-one[1], one[0].node.stored_sha))


def evidence_strength(scores: Sequence[float]) -> float:
    """The probability that context made of the survivors with those probabilities helps; 0 where there is none.

    It is that of the best one, raised: among the memories of a user the best of a message is more often right than a
    memory of the same probability that stands behind another. How many stand behind it says nothing more.
    """
    if not scores:
        return 0.0
    best, line = min(max(*scores, _EDGE), 1 - _EDGE), _line()
    odds = line.bias + line.slope * math.log(best / (1 - best))
    return round(1 / (1 + math.exp(-odds)), STRENGTH_DIGITS)


def _by_words(candidate: Candidate) -> bool:
    return candidate.symptom_similarity is None and candidate.text_similarity is None


@cache
def _line() -> _Line:
    return _Line(**tomllib.loads(files(__package__).joinpath("strength.toml").read_text(encoding="utf-8")))
