"""The gate: which candidates are worth keeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

from mem.domain.accepting import AcceptStep, Verdict
from mem.domain.errors import NotFound
from mem.domain.journal import Entry
from mem.ports import Journal, Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.case import Case, case_of
from mem.writing.judging.contradicted import contradicted
from mem.writing.judging.decided import decided_otherwise
from mem.writing.judging.duplicates import duplicate, returned_lesson
from mem.writing.judging.feedback import self_feedback
from mem.writing.judging.injection import injection
from mem.writing.judging.override import overrule
from mem.writing.judging.parents import bad_parents, no_evidence
from mem.writing.judging.refuted import denied, failed_remedy
from mem.writing.judging.restating import restates
from mem.writing.judging.secrets import secret
from mem.writing.judging.speculation import speculation
from mem.writing.judging.support import without_a_finding
from mem.writing.judging.trivial import trivial

_REFUSED: tuple[Callable[[Case], Verdict | None], ...] = (secret, injection, self_feedback)
"""What must not be kept, whatever else it says; before duplicates, which bring their evidence to what stands."""
_WORTHLESS: tuple[Callable[[Case], Verdict | None], ...] = (
    trivial,
    restates,
    without_a_finding,
    failed_remedy,
    denied,
    contradicted,
    decided_otherwise,
    speculation,
)
"""What is not worth keeping: from the text alone first, then beside the evidence."""


class Judge(Protocol):
    """Who is asked about a candidate that no deterministic rule objects to."""

    async def __call__(self, candidate: Candidate, standing: Verdict, *, last: bool) -> Verdict:
        """The verdict; `standing` where none can be had and it is asked for the last time."""
        ...


def verdict_key(step: AcceptStep) -> str:
    """The journal key of the verdict."""
    return f"verdict:accept:{step.project}:{step.request_id}"


async def judge(memories: Memories, candidate: Candidate, readable: Collection[str] | None = None) -> Verdict:
    """Apply the deterministic rules in their order; the first that objects decides.

    Args:
        readable: the projects of which a verdict may tell besides the candidate's own; None: all.
    """
    if (verdict := no_evidence(candidate)) is not None:
        return verdict
    found = await memories.nodes([*candidate.parents, *candidate.supersedes])
    if (verdict := bad_parents(candidate, found)) is not None:
        return verdict
    case = case_of(candidate, found)
    if (verdict := await asyncio.to_thread(_first, _REFUSED, case)) is not None:
        return verdict
    for resembles in (duplicate, partial(returned_lesson, readable=readable)):
        if (verdict := await resembles(memories, candidate)) is not None:
            return verdict
    if (verdict := await asyncio.to_thread(_first, _WORTHLESS, case)) is not None:
        return verdict
    return Verdict(accept=True, reason="No rule objects.")


async def gate(
    journal: Journal, memories: Memories, step: AcceptStep, candidate: Candidate, then: Judge | None = None
) -> Verdict:
    """The recorded verdict of an acceptance, or a new one, recorded. The first recorded verdict stands.

    Args:
        then: asked where no rule objects.
    """
    key = verdict_key(step)
    recorded = await journal.find(key)
    if recorded is None:
        judged = await judge(memories, candidate, step.readable)
        if judged.accept and then is not None:
            judged = await then(candidate, judged, last=step.last_ask)
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


def _first(rules: Sequence[Callable[[Case], Verdict | None]], case: Case) -> Verdict | None:
    return next((verdict for rule in rules if (verdict := rule(case)) is not None), None)
