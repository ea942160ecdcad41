"""The trace of a lookup or a query as the Temporal UI shows it, a table for each part; no raw text is in it."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.markdown import bounded, code, table
from mem.recall.outcome import Drop, LegTrace, Miss, Trace
from mem.recall.query_outcome import QueryTrace

_REPEATED = "Answered before: the stored bytes were repeated."


def trace_markdown(trace: Trace) -> str:
    """Tier and budget, then lessons, skills, what was left out, what came near, what failed, and the legs."""
    head = "no tier" if trace.tier is None else f"tier {trace.tier}"
    lines = [f"**{head}**, {trace.used} of {trace.limit} tokens, {len(trace.dropped)} dropped, {trace.milliseconds} ms"]
    if trace.abstained_reason:
        lines += ["", f"Abstained: {code(trace.abstained_reason)}"]
    lines += _request(trace)
    if trace.signatures:
        lines += ["", f"signatures {', '.join(code(each[:12]) for each in trace.signatures)}"]
    lessons = [
        [str(one.tier), memory(one.sha, one.project), one.matched_kind, number(one.recall), number(one.rerank)]
        for one in trace.lessons
    ]
    lines += table("Lessons", ["tier", "lesson", "matched", "recall", "rerank"], lessons)
    lines += table("Skills", ["skill", "score"], [[code(one.name), number(one.score)] for one in trace.skills])
    lines += table("Left out by the budget", ["what", "name", "tokens"], [_drop(one) for one in trace.dropped])
    near = f"Nearest misses, of which {trace.near_misses} near" if trace.near_misses else "Nearest misses"
    lines += table(near, ["tier", "memory", "by", "score", "floor"], [_miss(one) for one in trace.misses])
    return bounded([*lines, *degraded_table(trace.degraded), *legs_table(trace.legs)])


def query_markdown(trace: QueryTrace) -> str:
    """Hits with their place in each leg, what failed, and the legs."""
    hits = len(trace.hits)
    lines = [f"**{hits} hit{'' if hits == 1 else 's'}**, {trace.milliseconds} ms", *_request(trace)]
    rows = [
        [
            one.level,
            memory(one.sha, one.project),
            number(one.recall),
            number(one.rerank),
            *(str(one.ranks.get(leg, "-")) for leg in ("symptom", "text", "lexical")),
        ]
        for one in trace.hits
    ]
    lines += table("Hits", ["level", "memory", "recall", "rerank", "symptom", "text", "lexical"], rows)
    return bounded([*lines, *degraded_table(trace.degraded), *legs_table(trace.legs)])


def _request(trace: Trace | QueryTrace) -> list[str]:
    """Whose request it was, and who scored."""
    named = {"request": trace.request_id, "project": trace.project, "reranker": trace.reranker or ""}
    if isinstance(trace, Trace):
        named["tool"] = trace.tool or ""
    told = ["", ", ".join(f"{name} {code(value, limit=200)}" for name, value in named.items() if value)]
    return [*(told if told[1] else []), *(["", _REPEATED] if trace.replayed else [])]


def memory(sha: str, project: str | None) -> str:
    """A memory in a cell of a table."""
    return f"{code(sha[:12])} {'shared' if project is None else code(project)}"


def _drop(drop: Drop) -> list[str]:
    if drop.skill is not None:
        return ["skill", code(drop.skill), str(drop.tokens)]
    return [f"tier {drop.tier}", code((drop.sha or "")[:12]), str(drop.tokens)]


def _miss(miss: Miss) -> list[str]:
    over = ", but enough others are told" if miss.score >= miss.floor else ""
    return [
        str(miss.tier), memory(miss.sha, miss.project), miss.measure, number(miss.score),
        f"{number(miss.floor)}{over}",
    ]  # fmt: skip


def degraded_table(degraded: Sequence[str]) -> list[str]:
    """What failed, and why."""
    parts = [each.partition(": ") for each in degraded]
    return table("Degraded", ["leg", "reason"], [[code(leg), code(reason)] for leg, _, reason in parts])


def legs_table(runs: Sequence[LegTrace]) -> list[str]:
    """How each step went."""
    rows = [[run.leg, code(run.step), str(run.milliseconds), str(run.found), code(run.note)] for run in runs]
    return table("Legs", ["leg", "step", "ms", "found", "note"], rows)


def number(value: float | None) -> str:
    """A score in a cell of a table."""
    return "-" if value is None else f"{value:.3f}"
