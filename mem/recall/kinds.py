"""By what a candidate was found, and the floors that hold for it."""

from __future__ import annotations

from collections.abc import Mapping

from mem.domain.lookup import MatchedKind
from mem.ports import Candidate
from mem.recall.floors import Floors
from mem.recall.outcome import Measure


def matched_kind(candidate: Candidate, rules: Floors) -> MatchedKind | None:
    """The first kind that is near at all: signature, symptom, text; None where nothing is."""
    if candidate.exact or candidate.coarse:
        return "signature"
    if (candidate.symptom_similarity or 0.0) >= rules.near:
        return "symptom"
    if (candidate.text_similarity or 0.0) >= rules.near or candidate.lexical_similarity is not None:
        return "text"
    return None


def lesson_floors(candidate: Candidate, rules: Floors, *, scored: bool) -> Mapping[Measure, float]:
    """What a lesson of tier 2 needs: a probability for its kind, and to be near; unscored, one of the similarities."""
    if scored:
        return {"rerank": _probability(candidate, rules), "symptom": rules.near, "text": rules.near}
    return {"symptom": rules.symptom, "text": rules.text, "lexical": rules.lexical}


def reference_floors(rules: Floors) -> Mapping[Measure, float]:
    """What a chunk needs: a probability where it is scored, and to be near in text or in words."""
    return {"rerank": rules.reference, "text": rules.reference_text, "lexical": rules.reference_lexical}


def similarities(candidate: Candidate) -> dict[Measure, float]:
    """What the legs measured."""
    measured: dict[Measure, float | None] = {
        "symptom": candidate.symptom_similarity,
        "text": candidate.text_similarity,
        "lexical": candidate.lexical_similarity,
    }
    return {name: value for name, value in measured.items() if value is not None}


def by_words(candidate: Candidate) -> float | None:
    """How a candidate fits the words of a question, its own and those around it; None where that was not asked."""
    if candidate.words is None or candidate.context is None:
        return None
    return (candidate.words + candidate.context) / 2


def height(candidate: Candidate, rerank: float | None, rules: Floors) -> float:
    """The share of its floor that a lesson reaches: 1 and more is over it. An equal coarse key needs no similarity."""
    needed = lesson_floors(candidate, rules, scored=rerank is not None)
    if matched_kind(candidate, rules) is None:
        return 0.0
    if rerank is not None:
        return rerank / needed["rerank"]
    if candidate.coarse:
        return 1.0
    return max((value / needed[name] for name, value in similarities(candidate).items()), default=0.0)


def _probability(candidate: Candidate, rules: Floors) -> float:
    if matched_kind(candidate, rules) != "text":
        return rules.lesson
    by_words = candidate.text_similarity is None and candidate.symptom_similarity is None
    return rules.lesson_lexical if by_words else rules.lesson_text
