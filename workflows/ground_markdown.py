"""The trace of a user's turn as the Temporal UI shows it, a table for each part; no user and no text is in it."""

from __future__ import annotations

from mem.domain.markdown import bounded, code, table
from mem.recall.ground_outcome import GroundTrace
from workflows.trace_markdown import degraded_table, legs_table, memory, number

_REPEATED = "Answered before: the stored bytes were repeated."


def ground_markdown(trace: GroundTrace) -> str:
    """How it ended, then the relevant memories with their sources, what was found, what failed, and the legs."""
    lines = [f"**{_head(trace)}**, {trace.read_mode}, {trace.scope_level}, {trace.milliseconds} ms"]
    if trace.abstained_reason:
        lines += ["", f"Abstained: {code(trace.abstained_reason)}"]
    named = {
        "request": trace.request_id,
        "scope": trace.scope,
        "reranker": trace.reranker or "",
        "enhancer": trace.enhancer or "",
    }
    lines += ["", ", ".join(f"{name} {code(value, limit=200)}" for name, value in named.items() if value)]
    if trace.replayed:
        lines += ["", _REPEATED]
    rows = [
        [one.level, memory(one.sha, one.project), number(one.score), ", ".join(one.sources), "yes" if one.used else "-"]
        for one in trace.memories
    ]
    lines += table("Relevant memories", ["level", "memory", "score", "found by", "used"], rows)
    found = [[source, str(count)] for source, count in trace.found.items() if count]
    lines += table("Found before the gate", ["source", "memories"], found)
    lines += table("Warnings", ["warning"], [[code(each)] for each in trace.warnings])
    return bounded([*lines, *degraded_table(trace.degraded), *legs_table(trace.legs)])


def _head(trace: GroundTrace) -> str:
    if trace.status == "not_found":
        return "user not found"
    outcome = f"{trace.used} used" if trace.usable else "abstained"
    if trace.replayed:
        return outcome
    return f"{outcome}, {trace.relevant} relevant of {trace.scored} scored, evidence {trace.evidence_strength:.2f}"
