"""What is left out of an answer, and how near it was: the first question of whoever expected it there."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from mem.domain.ids import SHARED
from mem.domain.lookup import Tier
from mem.ports import Candidate
from mem.recall.floors import Floors
from mem.recall.kinds import lesson_floors, reference_floors, similarities
from mem.recall.outcome import Measure, Miss

TOLD = 5
"""So many are told: the nearest of the lessons and of the reference together."""


def missed_lessons(
    candidates: Sequence[Candidate], scores: Sequence[float] | None, kept: Collection[str], rules: Floors
) -> list[Miss]:
    """The nearest of the lessons whose shas are not `kept`."""
    floors = partial(lesson_floors, rules=rules, scored=scores is not None)
    return _missed(2, candidates, scores, kept, floors)


def missed_reference(
    candidates: Sequence[Candidate], scores: Sequence[float] | None, kept: Collection[str], rules: Floors
) -> list[Miss]:
    """The nearest of the chunks whose shas are not `kept`."""
    return _missed(3, candidates, scores, kept, lambda _: reference_floors(rules))


def nearest(misses: Sequence[Miss]) -> list[Miss]:
    """Those least below their floors, best first and by sha."""
    return heapq.nsmallest(TOLD, misses, key=lambda miss: (miss.floor - miss.score, miss.sha))


def _missed(
    tier: Tier,
    candidates: Sequence[Candidate],
    scores: Sequence[float] | None,
    kept: Collection[str],
    floors_of: Callable[[Candidate], Mapping[Measure, float]],
) -> list[Miss]:
    ranked = zip(candidates, scores if scores is not None else [None] * len(candidates), strict=True)
    found = [
        (floors[measure] - value, candidate.node.stored_sha, measure, value, candidate.node.project, floors[measure])
        for candidate, rerank in ranked
        if candidate.node.stored_sha not in kept
        for floors in [floors_of(candidate)]
        for measure, value in _decisive(candidate, rerank, floors)
    ]
    return [
        Miss(
            tier=tier,
            sha=sha,
            project=None if project == SHARED else project,
            measure=measure,
            score=round(value, 4),
            floor=floor,
        )
        for _, sha, measure, value, project, floor in heapq.nsmallest(TOLD, found)
    ]


def _decisive(
    candidate: Candidate, rerank: float | None, floors: Mapping[Measure, float]
) -> list[tuple[Measure, float]]:
    """The measure that stood most in the way, if any was taken: its best similarity has to do, and the reranker.

    A coarse key stands for similarity.
    """
    alike = [(one, value) for one, value in similarities(candidate).items() if one in floors]
    needed: list[tuple[Measure, float]] = [] if rerank is None else [("rerank", rerank)]
    if alike and (rerank is None or not candidate.coarse):
        needed.append(max(alike, key=lambda one: one[1] - floors[one[0]]))
    return [min(needed, key=lambda one: one[1] - floors[one[0]])] if needed else []
