"""The trace of a lookup or a query as the Temporal UI shows it; no raw text is in it."""

from __future__ import annotations

from collections.abc import Sequence

from mem.recall.outcome import LegTrace, Trace
from mem.recall.query_outcome import QueryTrace

_REPEATED = "- answered before: the stored bytes were repeated"


def trace_markdown(trace: Trace) -> str:
    """Markdown: the tier, a table of lessons, a table of legs, and what was left out."""
    head = "no tier" if trace.tier is None else f"tier {trace.tier}"
    lines = [f"**{head}**, {trace.used} of {trace.limit} tokens, {trace.dropped} dropped"]
    if trace.replayed:
        lines.append(_REPEATED)
    if trace.abstained_reason:
        lines.append(f"- abstained: {trace.abstained_reason}")
    lines += [f"- degraded: {reason}" for reason in trace.degraded]
    lines += [f"- skill: {name}" for name in trace.skills]
    if trace.lessons:
        lines += ["", "| tier | lesson | matched | recall | rerank |", "|---|---|---|---|---|"]
        lines += [
            f"| {each.tier} | `{each.sha[:12]}` {each.project or 'shared'} | {each.matched_kind} "
            f"| {_number(each.recall)} | {_number(each.rerank)} |"
            for each in trace.lessons
        ]
    return "\n".join([*lines, *_legs(trace.legs)])


def query_markdown(trace: QueryTrace) -> str:
    """Markdown: a table of hits with their place in each leg, and a table of legs."""
    lines = [f"**{len(trace.hits)} hit{'' if len(trace.hits) == 1 else 's'}**"]
    if trace.replayed:
        lines.append(_REPEATED)
    lines += [f"- degraded: {reason}" for reason in trace.degraded]
    if trace.hits:
        lines += [
            "",
            "| level | memory | recall | rerank | symptom | text | lexical |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {each.level} | `{each.sha[:12]}` {each.project or 'shared'} | {_number(each.recall)} "
            f"| {_number(each.rerank)} | {each.ranks.get('symptom', '-')} | {each.ranks.get('text', '-')} "
            f"| {each.ranks.get('lexical', '-')} |"
            for each in trace.hits
        ]
    return "\n".join([*lines, *_legs(trace.legs)])


def _legs(runs: Sequence[LegTrace]) -> list[str]:
    if not runs:
        return []
    head = ["", "| leg | step | ms | found | note |", "|---|---|---|---|---|"]
    return head + [f"| {leg.leg} | {leg.step} | {leg.milliseconds} | {leg.found} | {leg.note} |" for leg in runs]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
