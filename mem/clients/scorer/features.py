"""What speaks for a candidate, each from 0 to 1, from nothing but the query and the candidate itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from mem.clients.scorer.words import Said, mass, said, weight
from mem.ports import Candidate

_NEAR = 0.4
_MUCH = 24.0
"""A run of shared words that weighs so much is the whole of most messages."""
_NAMES = 3


class Asked(NamedTuple):
    """A query, taken apart once for all candidates."""

    said: Said
    weights: dict[str, float]
    mass: float


class Failing(NamedTuple):
    """How a failure and a lesson fit together; a similarity that no leg measured is 0.

    `near` is what the symptom similarity has above a middling one. `recall`: the share of the query's words that the
    symptoms hold, by weight. `cover`: the share of that symptom line which the query holds best. `run`: the heaviest
    run of neighbouring words in both. `names`: shared names of classes, constants and the like.
    """

    symptom: float
    near: float
    text: float
    lexical: float
    recall: float
    cover: float
    run: float
    names: float
    coarse: float
    exact: float


class Working(NamedTuple):
    """How a task, or words alone, and a memory fit together; `peak` is the rarest shared word."""

    text: float
    near: float
    lexical: float
    recall: float
    run: float
    peak: float


def asked(text: str) -> Asked:
    """Take a query apart."""
    parts = said(text)
    return Asked(parts, {word: weight(word) for word in parts.words}, mass(parts.words) or 1.0)


def failing(query: Asked, candidate: Candidate) -> Failing:
    """Measure a candidate against a failure: its symptoms, or its text where it has none."""
    held = said(candidate.symptom or candidate.node.text)
    shared = query.said.words & held.words
    symptom = max(candidate.symptom_similarity or 0.0, 0.0)
    return Failing(
        symptom=symptom,
        near=max(symptom - _NEAR, 0.0),
        text=max(candidate.text_similarity or 0.0, 0.0),
        lexical=_lexical(candidate),
        recall=_mass(query, shared) / query.mass,
        cover=_cover(query, held, shared) if shared else 0.0,
        run=_run(query, held, shared) if shared else 0.0,
        names=min(len(query.said.names & held.names), _NAMES) / _NAMES,
        coarse=float(candidate.coarse),
        exact=float(candidate.exact),
    )


def working(query: Asked, candidate: Candidate) -> Working:
    """Measure a candidate against a task: its text alone counts."""
    held = said(candidate.node.text)
    shared = query.said.words & held.words
    near = candidate.text_similarity if candidate.task_similarity is None else candidate.task_similarity
    text = max(near or 0.0, 0.0)
    return Working(
        text=text,
        near=max(text - _NEAR, 0.0),
        lexical=_lexical(candidate),
        recall=_mass(query, shared) / query.mass,
        run=_run(query, held, shared) if shared else 0.0,
        peak=_peak(query, shared) / _MUCH,
    )


def _lexical(candidate: Candidate) -> float:
    """The similarity by trigrams, which lookups measure, or the share of the words, which questions do."""
    if candidate.lexical_similarity is not None:
        return max(candidate.lexical_similarity, 0.0)
    return max(candidate.words or 0.0, candidate.context or 0.0)


def _mass(query: Asked, words: Iterable[str]) -> float:
    return math.fsum(map(query.weights.__getitem__, words))


def _peak(query: Asked, shared: Iterable[str]) -> float:
    return max(map(query.weights.__getitem__, shared), default=0.0)


def _cover(query: Asked, held: Said, shared: frozenset[str]) -> float:
    """The share of a line's weight that the query holds; a line that says next to nothing is never covered."""
    best = 0.0
    for words, whole in held.lines:
        common = words & shared
        if common:
            best = max(best, _mass(query, common) / max(whole, _MUCH / 2))
    return best


def _run(query: Asked, held: Said, shared: frozenset[str]) -> float:
    """The weight of the heaviest run of words that are neighbours in both."""
    heaviest = _peak(query, shared)
    pairs = query.said.pairs & held.pairs
    if pairs:
        for line in query.said.order:
            here, before = 0.0, ""
            for word in line:
                if (before, word) in pairs:
                    here += query.weights[word]
                    heaviest = max(heaviest, here)
                else:
                    here = query.weights[word]
                before = word
    return min(heaviest, _MUCH) / _MUCH
