"""Answers as an agent reads them: what is known in one line, the memories as data, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from pydantic import BaseModel

from mem.domain.accepting import AcceptAnswer
from mem.domain.grounding import GroundAnswer
from mem.domain.lookup import ContextAnswer, ContextRequest, Lesson, SeenSignature
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer, QueryHit
from mem.domain.shown import Kin, ShownMemory, ShownSignature
from mem.gateway.mcp.data import NOTE, named, tagged, tagged_line

SHORT = 12
MOST_PARENTS = 5
MOST_KIN = 20
"""So many are told in words; the structured answer has them all."""


def told(answer: BaseModel, request: ContextRequest | None) -> str:
    """Any answer in words; `request` is what a lookup asked."""
    match answer:
        case ContextAnswer() if request is not None:
            return told_context(answer, request)
        case QueryAnswer():
            return told_query(answer)
        case AcceptAnswer():
            return told_acceptance(answer)
        case ShownMemory():
            return told_memory(answer)
        case GroundAnswer():
            return told_turn(answer)
        case _:
            raise TypeError(f"Nothing tells of a {type(answer).__name__}.")


def told_context(answer: ContextAnswer, request: ContextRequest) -> str:
    """What a lookup found."""
    blocks = [_headline(answer)]
    if answer.lessons or answer.skills:
        blocks += [NOTE, *map(_lesson, answer.lessons)]
    blocks += [tagged_line("skill", one.name, score=one.score) for one in answer.skills]
    blocks += [_signature(one) for one in answer.signatures]
    blocks += [f"Not all could be searched: {one.leg}, {named(one.reason)}." for one in answer.degraded]
    if answer.budget.dropped:
        blocks.append(f"{len(answer.budget.dropped)} left out by the budget of {answer.budget.limit} tokens.")
    return "\n".join([*blocks, f"Next: {_next(answer, request)}"])


def told_query(answer: QueryAnswer) -> str:
    """What a question found."""
    blocks = [f"{len(answer.hits)} hits." if len(answer.hits) != 1 else "1 hit."]
    if answer.hits:
        blocks += [NOTE, *map(_hit, answer.hits)]
    blocks += [f"Not all could be searched: {one.leg}, {named(one.reason)}." for one in answer.degraded]
    if answer.hits:
        step = "rely on what fits your question; memory_show with a sha tells more of a memory."
    else:
        step = "nothing known is near. Ask in other words, other `levels` or another `project`, or go on without."
    return "\n".join([*blocks, f"Next: {step}"])


def told_acceptance(answer: AcceptAnswer) -> str:
    """What became of a candidate."""
    match answer.status:
        case "accepted":
            return f"Accepted as {answer.sha}.\nNext: nothing; who meets this failure is told."
        case "duplicate":
            return f"A memory says the same: {answer.duplicate_of}. It has your evidence now.\nNext: nothing."
        case "rejected":
            return (
                f"Rejected by the rule {answer.verdict.rule}.\n{tagged_line('reason', answer.verdict.reason)}\n"
                "Next: hand in an improved text if you have what was missing; else leave it. The same text is rejected "
                "again."
            )
        case _:
            assert_never(answer.status)


def told_memory(memory: ShownMemory) -> str:
    """One memory."""
    if memory.live:
        lines = [f"{memory.level} {memory.sha}, live."]
    else:
        today = f"today {memory.successor} holds" if memory.successor else "nothing that you may read took its place"
        lines = [f"{memory.level} {memory.sha}, not live any more: {today}."]
    lines += [NOTE, tagged("memory", memory.text, project=memory.project, source=memory.source, turn=memory.turn)]
    if memory.projection is not None and memory.projection.text:
        lines.append(tagged("found_by", memory.projection.text))
    lines += [_seen(one) for one in memory.signatures]
    lines += _kin("rests_on", memory.parents, memory.more_parents)
    lines += _kin("bears", memory.children, memory.more_children)
    if memory.supersedes:
        lines.append(f"In place of: {', '.join(sha[:SHORT] for sha in memory.supersedes)}")
    return "\n".join(lines)


def told_turn(answer: GroundAnswer) -> str:
    """What is remembered for a user's turn."""
    warnings = [f"Warning: {named(each)}" for each in answer.diagnostics.warnings]
    if not answer.has_usable_context:
        reason = named(answer.abstained_reason or "nothing concerns this turn")
        return "\n".join([f"No context: {reason}", *warnings, "Next: go on without."])
    strength = f"Evidence strength: {answer.diagnostics.evidence_strength:.2f} of 1"
    return "\n".join([answer.context_enhancement, strength, *warnings])


def times(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _headline(answer: ContextAnswer) -> str:
    match answer.tier:
        case 1:
            first = answer.lessons[0]
            often = "" if first.seen_count is None else f", seen {times(first.seen_count)}, last {first.last_seen}"
            return f"Tier 1: this exact failure happened before{often}."
        case 2:
            return "Tier 2: something similar is known; this exact failure has no memory yet."
        case 3:
            return "Tier 3: nobody here explained this; the documentation says:"
        case None:
            return f"Nothing is known: {named(answer.abstained_reason or 'nothing concerns this')}"
        case _:
            assert_never(answer.tier)


def _next(answer: ContextAnswer, request: ContextRequest) -> str:
    hand_in = "Once you know cause and remedy, hand them in with memory_accept, with the output as evidence."
    match answer.tier:
        case 1:
            return (
                "check that the memory fits what you see, then do what it says. If it misleads, find out what holds "
                "and hand that in with memory_accept, `supersedes` its sha."
            )
        case 2:
            return f"see whether the likeliest memory applies, by its cause and not by its words. {hand_in}"
        case 3:
            return f"read what the documentation says of this. {hand_in}"
        case None if request.signature_source is not None and not answer.signatures:
            return "no failure was recognised in the output: pass more of it, or ask with `task`. Else go on without."
        case None if answer.budget.dropped:
            return "ask again with a larger `budget`."
        case None:
            return f"find the cause yourself. {hand_in}"
        case _:
            assert_never(answer.tier)


def _lesson(lesson: Lesson) -> str:
    return tagged(
        "memory",
        _with_sources(lesson.text, lesson.parents),
        tier=lesson.tier,
        level=lesson.level,
        sha=lesson.sha[:SHORT],
        project=lesson.project,
        found_by=lesson.matched_kind,
        score=lesson.score,
        seen=lesson.seen_count,
        last_seen=lesson.last_seen,
    )


def _hit(hit: QueryHit) -> str:
    text = _with_sources(hit.text, hit.provenance)
    return tagged("memory", text, level=hit.level, sha=hit.sha[:SHORT], project=hit.project, score=hit.score)


def _with_sources(text: str, parents: Iterable[Parent]) -> str:
    sources = [one for one in parents if one.source is not None]
    lines = [f"from {one.source}{'' if one.turn is None else f' turn {one.turn}'}" for one in sources[:MOST_PARENTS]]
    if len(sources) > MOST_PARENTS:
        lines.append(f"and {len(sources) - MOST_PARENTS} more places")
    return "\n".join([text, *lines])


def _signature(one: SeenSignature) -> str:
    often = "" if one.seen_count is None else f", seen {times(one.seen_count)}"
    known = {True: ", explained by a memory", False: ", no memory yet", None: ""}[one.known]
    return f"Failure read from the output: {one.sig_sha[:SHORT]} {one.tool} {one.rule}{often}{known}."


def _seen(one: ShownSignature) -> str:
    return tagged_line(
        "signature",
        one.message,
        sig_sha=one.sig_sha[:SHORT],
        tool=one.tool,
        rule=one.rule,
        seen=one.seen_count,
        last_seen=one.last_seen,
    )


def _kin(how: str, kin: list[Kin], more: int) -> list[str]:
    lines = [tagged_line(how, one.title, level=one.level, sha=one.sha[:SHORT]) for one in kin[:MOST_KIN]]
    more += max(0, len(kin) - MOST_KIN)
    return lines + ([f"… and {more} more"] if more else [])
