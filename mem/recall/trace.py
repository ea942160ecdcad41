"""The trace of a lookup: how its answer came about, bounded whatever the answer holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mem.domain.lookup import ContextAnswer, Degradation, Lesson
from mem.recall.legs import Legs
from mem.recall.outcome import Drop, LessonTrace, Miss, SkillTrace, Trace

LISTED = 20
"""So many lessons and signatures are listed; exact hits may be any number."""


class Searched(NamedTuple):
    """What only the run knows that searched: the tool that it took the failure for, who scored, and what came near."""

    tool: str | None
    reranker: str | None
    misses: list[Miss]


def trace_of(project: str, request_id: str, body: bytes, legs: Legs, searched: Searched | None) -> Trace:
    """The trace; `searched` is None where the answer was there already and is repeated."""
    answer = ContextAnswer.model_validate_json(body)
    tool = answer.signatures[0].tool if answer.signatures else None
    return Trace(
        project=project,
        request_id=request_id,
        tier=answer.tier,
        tool=tool if searched is None else searched.tool,
        milliseconds=legs.milliseconds,
        reranker=None if searched is None or not legs.ran("rerank") else searched.reranker,
        legs=list(legs.runs),
        lessons=[_lesson(lesson) for lesson in answer.lessons[:LISTED]],
        skills=[SkillTrace(name=skill.name, score=skill.score) for skill in answer.skills],
        signatures=[signature.sig_sha for signature in answer.signatures[:LISTED]],
        dropped=[Drop.model_validate(each) for each in answer.budget.dropped],
        misses=[] if searched is None else searched.misses,
        near_misses=answer.nearest_misses,
        used=answer.budget.used,
        limit=answer.budget.limit,
        degraded=told_degraded(answer.degraded, legs),
        abstained_reason=answer.abstained_reason,
        replayed=searched is None,
    )


def told_degraded(degraded: Sequence[Degradation], legs: Legs) -> list[str]:
    """What failed; what failed only after the bytes were made stands here alone."""
    failed = {each.leg: each.reason for each in (*degraded, *legs.degraded)}
    return [f"{leg}: {reason}" for leg, reason in failed.items()]


def _lesson(lesson: Lesson) -> LessonTrace:
    return LessonTrace(
        tier=lesson.tier,
        sha=lesson.sha,
        project=lesson.project,
        matched_kind=lesson.matched_kind,
        recall=lesson.scores.recall,
        rerank=lesson.scores.rerank,
    )
