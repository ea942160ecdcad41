"""What a turn is answered: the diagnostics, of relevant memories alone, the warnings, and the reasons to abstain."""

from __future__ import annotations

from collections.abc import Mapping

from mem.domain.grounding import (
    GroundAnswer,
    GroundInput,
    RetrievalDiagnostics,
    Source,
    SourceBreakdown,
)
from mem.domain.ids import fingerprint_of, user_scope
from mem.ports import KnownUser
from mem.recall.context_block import render_block
from mem.recall.enhancement import Enhancement
from mem.recall.enhancer import abstained_reason, withheld_warning
from mem.recall.ground_gate import Gated
from mem.recall.ground_outcome import GroundFound
from mem.recall.ground_sources import GroundLeg, GroundLegs, Hits
from mem.recall.ground_trace import begun
from mem.recall.ground_turn import asked_containers
from mem.recall.strength import ABSTAINED, evidence_strength

UNKNOWN_USER = "No memory of this user is known."
UNKNOWN_USER_WARNING = "The user is not known: nothing was searched for."
UNREAD = "The memories could not be read."
UNENHANCED = "What was found could not be put into words."

_TOLD: Mapping[GroundLeg, str] = {
    "failure": "The failure in the message could not be read",
    "ledger": "ledger could not be read",
    "user": "user could not be checked",
    "memories": "memories could not be read",
    "rerank": "Relevance could not be scored, so that only what is very near counts",
    "enhancer": "What was found could not be put into words",
}


def warnings_of(request: GroundInput, legs: GroundLegs) -> list[str]:
    """What a reader should know: that a message was distilled, then the legs that failed, by name."""
    told = []
    if request.original_bytes is not None:
        told.append(f"The message of {request.original_bytes} bytes was distilled to its telling parts.")
    # Without an embedding the vectors could not be read, which is told already.
    failures = {leg: reason for leg, reason in legs.failures.items() if leg != "embedding"}
    return [*told, *(failure_told(leg, reason) for leg, reason in failures.items())]


def failure_told(leg: GroundLeg, reason: str) -> str:
    """That a leg failed, as a warning."""
    return f"{_TOLD.get(leg, f'{leg} could not be read')}: {reason}"


def stood_in(reason: str) -> str:
    """That the controller gave nothing, as a warning."""
    return f"enhancer could not be asked, and sentences of the memories stand in: {reason}"


def found_of(
    request: GroundInput, message: str, known: KnownUser | None, gated: Gated, hits: Hits, legs: GroundLegs, *,
    reranker: str | None = None,
) -> GroundFound:  # fmt: skip
    """What was found, with the diagnostics that the context changes no more but for what it uses."""
    sources = {one.sha: hits.sources_of(one.sha) for one in gated.relevant}
    asked = asked_containers(request)
    diagnostics = RetrievalDiagnostics(
        scope_applied=request.scope_level,
        read_mode=request.read_mode,
        user_found=known.found if known is not None else request.user_id in gated.owners,
        candidate_count=len(gated.relevant),
        used_memory_count=0,
        missing_containers=[] if known is None else [one for one in asked if one not in known.containers],
        source_breakdown=_breakdown(sources),
        evidence_strength=evidence_strength([one.score for one in gated.relevant]),
        warnings=warnings_of(request, legs),
    )
    trace = begun(request, gated, hits, sources, reranker)
    return GroundFound(
        scope=user_scope(request.user_id, request.readable),
        request_id=request.request_id,
        fingerprint=fingerprint_of(request),
        message=message,
        limit=request.budgets.max_output_tokens,
        relevant=list(gated.relevant),
        diagnostics=diagnostics,
        trace=trace,
    )


def warned(found: GroundFound, warning: str) -> GroundFound:
    """The same with one more warning."""
    warnings = [*found.diagnostics.warnings, warning]
    return found.model_copy(update={"diagnostics": found.diagnostics.model_copy(update={"warnings": warnings})})


def unknown_user(found: GroundFound) -> GroundAnswer:
    """The answer for a user of whom nothing is known."""
    answer = _abstained(warned(found, UNKNOWN_USER_WARNING), UNKNOWN_USER)
    return answer.model_copy(update={"status": "not_found"})


def nothing_relevant(found: GroundFound, *, read: bool) -> GroundAnswer:
    """The answer where no relevant memory survived; where none could be read at all it says that instead."""
    return _abstained(found, ABSTAINED if read else UNREAD)


def unenhanced(found: GroundFound) -> GroundAnswer:
    """The answer where no enhancer could make context of what was found."""
    return _abstained(found, UNENHANCED)


def answer_of(found: GroundFound, enhancement: Enhancement | None) -> GroundAnswer:
    """The answer with the context that was made of what was found, or the reason why there is none."""
    if (warning := withheld_warning(enhancement)) is not None:
        found = warned(found, warning)
    reason = abstained_reason(enhancement, found.limit)
    if enhancement is None or reason is not None:
        return _abstained(found, reason)
    return GroundAnswer(
        status="ok",
        has_usable_context=True,
        context_enhancement=render_block(found.diagnostics.scope_applied, enhancement),
        abstained_reason=None,
        diagnostics=found.diagnostics.model_copy(update={"used_memory_count": len(enhancement.used)}),
    )


def _abstained(found: GroundFound, reason: str | None) -> GroundAnswer:
    return GroundAnswer(
        status="ok",
        has_usable_context=False,
        context_enhancement="",
        abstained_reason=reason,
        diagnostics=found.diagnostics,
    )


def _breakdown(sources: Mapping[str, list[Source]]) -> SourceBreakdown:
    counts: dict[Source, int] = {}
    for found_by in sources.values():
        for source in found_by:
            counts[source] = counts.get(source, 0) + 1
    return SourceBreakdown.model_validate(counts)
