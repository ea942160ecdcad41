"""Answers of a lookup, made by hand."""

from __future__ import annotations

from typing import Any

from mem.domain.lookup import Budget, ContextAnswer, ContextRequest, Lesson, Scores, SeenSignature
from mem.domain.nodes import Parent

TEXT = (
    "The peer range of the chart package excludes react 19. Pin react in overrides until the package supports it; "
    "forcing the install only hides the conflict until the next clean checkout, which is the build of the release."
)
SIGNATURE = SeenSignature(sig_sha="f" * 64, tool="npm", envelope=None, rule="npm.eresolve", known=True, seen_count=3)


def lesson(tier: int, **fields: Any) -> Lesson:
    given = {
        "tier": tier,
        "level": "R" if tier == 3 else "L1",
        "sha": str(tier) * 64,
        "project": None if tier == 3 else "homelab",
        "text": f"What tier {tier} knows. " * 10,
        "matched_kind": {1: "signature", 2: "symptom", 3: "text"}[tier],
        "score": 0.5,
        "scores": Scores(recall=0.4, rerank=0.5),
        "parents": [],
        "supersedes": [],
    }
    return Lesson.model_validate({**given, **fields})


def exact(**fields: Any) -> Lesson:
    """A lesson of tier 1 with all that there is to say of one."""
    counts = {"seen_count": 3, "first_seen": "2026-07-02", "last_seen": "2026-11-30"}
    return lesson(1, **{"text": TEXT, "parents": [evidence("pi:run-811", 12)], **counts, **fields})


def chunk(**fields: Any) -> Lesson:
    return lesson(3, **{"parents": [Parent(level="R", sha="3" * 64, source="npm.md#peers")], **fields})


def evidence(source: str, turn: int | None = None) -> Parent:
    return Parent(level="L0", sha="c" * 64, source=source, turn=turn)


def answer(*lessons: Lesson, **fields: Any) -> ContextAnswer:
    given = {
        "tier": min((each.tier for each in lessons), default=None),
        "lessons": list(lessons),
        "skills": [],
        "signatures": [],
        "budget": Budget(limit=6000, used=42, tokenizer="cl100k_base", dropped=[]),
        "degraded": [],
        "abstained_reason": None if lessons else "Nothing known concerns this.",
        "nearest_misses": 0,
    }
    return ContextAnswer.model_validate({**given, **fields})


def request(**fields: Any) -> ContextRequest:
    """Of a log, unless something else is asked."""
    asked = (
        fields if {"task", "tool", "signature_source"} & set(fields) else {"signature_source": "it failed", **fields}
    )
    return ContextRequest.model_validate({"request_id": "r", "project": "homelab", **asked})
