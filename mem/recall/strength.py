"""How strong the evidence for a message is: what survives the floors, and what that is worth together."""

from __future__ import annotations

from collections.abc import Sequence

from mem.ports import Candidate
from mem.recall.floors import floors

STRENGTH_DIGITS = 2
ABSTAINED = "No memory is relevant enough to this message."
"""Tells nothing of what was found and left out."""


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
    """The probability that context made of memories with those probabilities helps; 0 where there is none."""
    return round(max(scores, default=0.0), STRENGTH_DIGITS)


def _by_words(candidate: Candidate) -> bool:
    return candidate.symptom_similarity is None and candidate.text_similarity is None
