"""The trace of a turn: how its context came about, bounded whatever was found, and without a user or a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mem.domain.grounding import GroundAnswer, GroundInput, Source
from mem.domain.ids import user_scope
from mem.ports import LedgerKey
from mem.recall.enhancement import Enhancement
from mem.recall.ground_gate import Gated
from mem.recall.ground_outcome import LISTED, GroundMemoryTrace, GroundTrace
from mem.recall.ground_sources import GroundLegs, Hits

_SCOPE_DIGITS = 16
"""Of the hash of a user, as in the id of the workflow."""


def begun(
    request: GroundInput, gated: Gated, hits: Hits, sources: Mapping[str, Sequence[Source]], reranker: str | None
) -> GroundTrace:
    """The story up to what passed the gate."""
    return GroundTrace(
        scope=user_scope(request.user_id, request.readable)[:_SCOPE_DIGITS],
        request_id=request.request_id,
        scope_level=request.scope_level,
        read_mode=request.read_mode,
        reranker=reranker,
        found=dict(hits.counts),
        scored=gated.scored,
        relevant=len(gated.relevant),
        memories=[
            GroundMemoryTrace(
                sha=one.sha, level=one.level, project=one.project, score=one.score, sources=list(sources[one.sha])
            )
            for one in gated.relevant[:LISTED]
        ],
    )


def paused(trace: GroundTrace, legs: GroundLegs) -> GroundTrace:
    """The story where another step goes on."""
    return trace.model_copy(
        update={
            "milliseconds": round(trace.milliseconds + legs.milliseconds, 1),
            "legs": [*trace.legs, *legs.runs],
            "degraded": [*trace.degraded, *(f"{leg}: {reason}" for leg, reason in legs.failures.items())],
        }
    )


def ended(
    trace: GroundTrace, answer: GroundAnswer, legs: GroundLegs, enhancement: Enhancement | None, enhancer: str | None
) -> GroundTrace:
    """The whole story."""
    used = set() if enhancement is None or not answer.has_usable_context else set(enhancement.used)
    memories = [one.model_copy(update={"used": one.sha in used}) for one in trace.memories]
    return _answered(paused(trace, legs), answer).model_copy(update={"memories": memories, "enhancer": enhancer})


def repeated(key: LedgerKey, body: bytes, legs: GroundLegs) -> GroundTrace:
    """The story of an answer that was there already."""
    answer = GroundAnswer.model_validate_json(body)
    trace = GroundTrace(
        scope=key.scope[:_SCOPE_DIGITS],
        request_id=key.request_id,
        scope_level=answer.diagnostics.scope_applied,
        read_mode=answer.diagnostics.read_mode,
        relevant=answer.diagnostics.candidate_count,
        replayed=True,
    )
    return _answered(paused(trace, legs), answer)


def _answered(trace: GroundTrace, answer: GroundAnswer) -> GroundTrace:
    return trace.model_copy(
        update={
            "status": answer.status,
            "usable": answer.has_usable_context,
            "used": answer.diagnostics.used_memory_count,
            "evidence_strength": answer.diagnostics.evidence_strength,
            "abstained_reason": answer.abstained_reason,
            "warnings": answer.diagnostics.warnings,
        }
    )
