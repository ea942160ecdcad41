"""The exact bytes of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mem.domain.lookup import ContextAnswer, Lesson, SeenSignature
from mem.domain.signatures import Signature
from mem.ports import Seen
from mem.recall.budget import Fitted
from mem.recall.legs import Legs
from mem.recall.outcome import Miss
from mem.recall.query import Query

_NO_FAILURE = "The text shows no failure, and nothing else was asked."
_SKILLS_ALONE = "No lesson and no documentation concerns this; there are skills that fit."
_NO_SEARCH = ("ledger", "rerank", "skills")


class Found(NamedTuple):
    """An answer but for its counts; `known` is None where it could not be read."""

    query: Query
    fitted: Fitted
    known: Mapping[str, list[str]] | None
    near_misses: int
    misses: list[Miss]

    @property
    def returned(self) -> tuple[str, ...]:
        """The shas of the lessons, reference left out."""
        return tuple(lesson.sha for lesson in self.fitted.lessons if lesson.level in ("L1", "L2"))


def render_body(found: Found, seen: Mapping[str, Seen] | None, legs: Legs) -> bytes:
    """The exact bytes of the answer; `seen` is None where the counts could not be read."""
    seen = None if seen is None else _over_versions(found.query.signatures, seen)
    lessons = [_with_counts(lesson, seen) for lesson in found.fitted.lessons]
    tier = min((lesson.tier for lesson in lessons), default=None)
    answer = ContextAnswer(
        tier=tier,
        lessons=lessons,
        skills=found.fitted.skills,
        signatures=[
            SeenSignature(
                sig_sha=signature.sig_sha,
                tool=signature.tool,
                envelope=signature.envelope,
                rule=signature.rule,
                known=None if found.known is None else bool(found.known.get(signature.sig_sha)),
                seen_count=None if seen is None else seen[signature.sig_sha].times,
            )
            for signature in found.query.signatures
        ],
        budget=found.fitted.budget,
        degraded=legs.degraded,
        abstained_reason=_abstained(found, legs) if tier is None else None,
        nearest_misses=found.near_misses,
    )
    return answer.model_dump_json().encode("utf-8")


def _over_versions(signatures: Sequence[Signature], seen: Mapping[str, Seen]) -> dict[str, Seen]:
    """The counts of each signature under all its keys: a request is counted under one version alone, never twice."""
    counts = {}
    for signature in signatures:
        each = [seen[key] for key in signature.keys]
        last = max((one.last for one in each if one.last is not None), default=None)
        counts[signature.sig_sha] = Seen(sum(one.times for one in each), last)
    return counts


def _with_counts(lesson: Lesson, seen: Mapping[str, Seen] | None) -> Lesson:
    if seen is None or lesson.signature is None:
        return lesson
    counted = seen[lesson.signature.sig_sha]
    return lesson.model_copy(update={"seen_count": counted.times, "last_seen": counted.last})


def _abstained(found: Found, legs: Legs) -> str:
    if found.fitted.budget.dropped:
        return "What was found does not fit the budget."
    if found.near_misses and found.query.sure_probes:
        return "Nothing known is similar enough; the nearest are below the floor."
    if broken := [each.leg for each in legs.degraded if each.leg not in _NO_SEARCH]:
        return f"Nothing was found, but not all was searched: {', '.join(broken)} failed."
    if not found.query.sure_probes:
        return _NO_FAILURE if found.query.tool is None else "The text shows no failure, and looks like nothing known."
    return _SKILLS_ALONE if found.fitted.skills else "Nothing known concerns this."
