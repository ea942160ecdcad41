"""The gate: which candidates are worth keeping."""

from __future__ import annotations

from typing import Any

from mem.domain.accepting import AcceptStep, Verdict
from mem.domain.errors import NotFound
from mem.domain.journal import Entry
from mem.ports import Journal, Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.case import case_of
from mem.writing.judging.duplicates import duplicate, returned_lesson
from mem.writing.judging.override import overrule
from mem.writing.judging.parents import bad_parents, no_evidence
from mem.writing.judging.trivial import trivial


def verdict_key(step: AcceptStep) -> str:
    """The journal key of the verdict."""
    return f"verdict:accept:{step.project}:{step.request_id}"


async def judge(memories: Memories, candidate: Candidate) -> Verdict:
    """Apply the deterministic rules in their order; the first that objects decides."""
    if (verdict := no_evidence(candidate)) is not None:
        return verdict
    found = await memories.nodes([*candidate.parents, *candidate.supersedes])
    if (verdict := bad_parents(candidate, found)) is not None:
        return verdict
    case = case_of(candidate, found)
    for resembles in (duplicate, returned_lesson):
        if (verdict := await resembles(memories, candidate)) is not None:
            return verdict
    if (verdict := trivial(case)) is not None:
        return verdict
    return Verdict(accept=True, reason="No rule objects.")


async def gate(journal: Journal, memories: Memories, step: AcceptStep, candidate: Candidate) -> Verdict:
    """The recorded verdict of an acceptance, or a new one, recorded. The first recorded verdict stands."""
    key = verdict_key(step)
    recorded = await journal.find(key)
    if recorded is None:
        judged = await judge(memories, candidate)
        verdict = await overrule(memories, candidate, judged)
        data: dict[str, Any] = {
            "operation": "accept",
            "project": step.project,
            "request_id": step.request_id,
            "verdict": verdict.model_dump(mode="json"),
        }
        if candidate.override is not None and not judged.accept:
            data |= {"override": candidate.override, "overruled": judged.model_dump(mode="json")}
        recorded = await journal.record(Entry(kind="verdict", key=key, data=data))
    return Verdict.model_validate(recorded.data["verdict"])


async def load_verdict(journal: Journal, step: AcceptStep) -> Verdict:
    """Read the recorded verdict of an acceptance.

    Raises:
        NotFound: the gate has not spoken.
    """
    recorded = await journal.find(verdict_key(step))
    if recorded is None:
        raise NotFound(f"Request {step.request_id!r} of project {step.project!r} has no verdict.", "Judge it first.")
    return Verdict.model_validate(recorded.data["verdict"])
