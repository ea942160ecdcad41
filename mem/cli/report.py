"""An answer as a person in an incident reads it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from mem.domain.lookup import ContextAnswer, Lesson
from mem.domain.nodes import Parent

WIDTH = 100
_REGISTER = {
    1: "tier 1: this exact failure happened before",
    2: "tier 2: something similar happened",
    3: "tier 3: nobody here has hit this; the documentation says",
}


def report(answer: ContextAnswer, quotes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The report: tier, lessons best first with where they come from, and what was left out.

    Args:
        quotes: lines that show a failure, by its `sig_sha`.
    """
    lines = [_headline(answer)]
    shown = 0
    for lesson in answer.lessons:
        if lesson.tier != shown:
            shown = lesson.tier
            lines += ["", _REGISTER[lesson.tier]]
        lines += _lesson(lesson)
    if answer.skills:
        lines += ["", "skills that fit: " + ", ".join(f"{skill.name} ({skill.score:.2f})" for skill in answer.skills)]
    if answer.signatures:
        lines.append("")
    for signature in answer.signatures:
        seen = f", seen {_times(signature.seen_count)}" if signature.seen_count else ""
        lines.append(f"failure: {signature.sig_sha[:12]} {signature.tool} {signature.rule}{seen}")
        lines += (quotes or {}).get(signature.sig_sha, [])
    lines += [f"degraded: {each.leg}: {each.reason}" for each in answer.degraded]
    if answer.budget.dropped:
        lines.append(f"left out by the budget of {answer.budget.limit} tokens: {len(answer.budget.dropped)}")
    return "\n".join(lines)


def _headline(answer: ContextAnswer) -> str:
    if answer.tier is None:
        count = answer.nearest_misses
        near = f" ({count} near miss{'' if count == 1 else 'es'})" if count else ""
        return f"no tier: {answer.abstained_reason}{near}"
    reference = sum(lesson.level == "R" for lesson in answer.lessons)
    counts = {"lesson": len(answer.lessons) - reference, "reference": reference, "token": answer.budget.used}
    told = [f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items() if count]
    return f"answered by tier {answer.tier}: {', '.join(told)}"


def _lesson(lesson: Lesson) -> list[str]:
    facts = [lesson.level, lesson.sha[:12], lesson.project or "shared", f"matched by {lesson.matched_kind}"]
    if lesson.score is not None:
        facts.append(f"score {lesson.score:.2f}")
    if lesson.seen_count is not None:
        facts.append(f"seen {_times(lesson.seen_count)}, last {lesson.last_seen}")
    sources = [_source(parent) for parent in lesson.parents if parent.source is not None]
    lines = ["  " + ", ".join(facts)]
    lines += textwrap.wrap(" ".join(lesson.text.split()), WIDTH, initial_indent="    ", subsequent_indent="    ")
    if sources:
        lines.append("    from: " + "; ".join(sources))
    if lesson.supersedes:
        lines.append("    in place of: " + ", ".join(sha[:12] for sha in lesson.supersedes))
    return lines


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _source(parent: Parent) -> str:
    return f"{parent.source}" if parent.turn is None else f"{parent.source} turn {parent.turn}"
