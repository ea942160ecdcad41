"""The gate: which candidates are worth keeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from mem.domain.accepting import AcceptStep, Verdict
from mem.domain.journal import Entry
from mem.ports import Journal, Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.case import Case, case_of
from mem.writing.judging.feedback import self_feedback
from mem.writing.judging.injection import injection
from mem.writing.judging.parents import bad_parents, no_evidence
from mem.writing.judging.refuted import denied, failed_remedy
from mem.writing.judging.restating import restates
from mem.writing.judging.secrets import secret
from mem.writing.judging.speculation import speculation
from mem.writing.judging.support import without_a_finding
from mem.writing.judging.trivial import trivial
from mem.writing.judging.verdicts import reject as _reject
from mem.writing.judging.verdicts import short as _short

_REFUSED: tuple[Callable[[Case], Verdict | None], ...] = (secret, injection, self_feedback)
"""What must not be kept, whatever else it says; before duplicates, which bring their evidence to what stands."""
_WORTHLESS: tuple[Callable[[Case], Verdict | None], ...] = (
    trivial,
    restates,
    without_a_finding,
    failed_remedy,
    denied,
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


async def judge(memories: Memories, candidate: Candidate) -> Verdict:
    """Apply the deterministic rules in their order; the first that objects decides."""
    if (verdict := no_evidence(candidate)) is not None:
        return verdict
    found = await memories.nodes([*candidate.parents, *candidate.supersedes])
    if (verdict := bad_parents(candidate, found)) is not None:
        return verdict
    case = case_of(candidate, found)
    if (verdict := await asyncio.to_thread(_first, _REFUSED, case)) is not None:
        return verdict
    if (verdict := await _duplicate(memories, candidate)) is not None:
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
        verdict = await judge(memories, candidate)
        if verdict.accept and then is not None:
            verdict = await then(candidate, verdict, last=step.last_ask)
        data = {"operation": "accept", "project": step.project, "request_id": step.request_id}
        recorded = await journal.record(
            Entry(kind="verdict", key=key, data=data | {"verdict": verdict.model_dump(mode="json")})
        )
    return Verdict.model_validate(recorded.data["verdict"])


def _first(rules: Sequence[Callable[[Case], Verdict | None]], case: Case) -> Verdict | None:
    return next((verdict for rule in rules if (verdict := rule(case)) is not None), None)


async def _duplicate(memories: Memories, candidate: Candidate) -> Verdict | None:
    sha = await memories.live_duplicate(candidate.node)
    if sha is not None and sha not in candidate.supersedes:
        return _reject("duplicate", f"Memory {_short(sha)} says the same.", duplicate_of=sha)
    own = candidate.node.sha
    old = (await memories.nodes([own])).get(own)
    if old is not None and old.superseded_by is not None:
        newest = await memories.successor(own) or old.superseded_by
        return _reject("duplicate", f"This lesson was superseded; its successor is {newest}.")
    return None
