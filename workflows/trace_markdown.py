"""A lookup's trace as the Temporal UI shows it."""

from __future__ import annotations

from mem.recall.outcome import Trace


def trace_markdown(trace: Trace) -> str:
    """Markdown: the tier, a table of lessons, a table of legs, and what was left out; no raw text is in it."""
    head = "no tier" if trace.tier is None else f"tier {trace.tier}"
    lines = [f"**{head}**, {trace.used} of {trace.limit} tokens, {trace.dropped} dropped"]
    if trace.replayed:
        lines.append("- answered before: the stored bytes were repeated")
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
    if trace.legs:
        lines += ["", "| leg | step | ms | found | note |", "|---|---|---|---|---|"]
        lines += [f"| {leg.leg} | {leg.step} | {leg.milliseconds} | {leg.found} | {leg.note} |" for leg in trace.legs]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
