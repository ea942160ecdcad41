"""The gate: which candidates are worth keeping."""

from __future__ import annotations

from mem.domain.accepting import AcceptStep, Verdict
from mem.domain.journal import Entry
from mem.ports import Journal, Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.case import case_of
from mem.writing.judging.parents import bad_parents, no_evidence
from mem.writing.judging.trivial import trivial
from mem.writing.judging.verdicts import reject as _reject
from mem.writing.judging.verdicts import short as _short


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
    if (verdict := await _duplicate(memories, candidate)) is not None:
        return verdict
    if (verdict := trivial(case)) is not None:
        return verdict
    return Verdict(accept=True, reason="No rule objects.")


async def gate(journal: Journal, memories: Memories, step: AcceptStep, candidate: Candidate) -> Verdict:
    """The recorded verdict of an acceptance, or a new one, recorded. The first recorded verdict stands."""
    key = verdict_key(step)
    recorded = await journal.find(key)
    if recorded is None:
        verdict = await judge(memories, candidate)
        data = {"operation": "accept", "project": step.project, "request_id": step.request_id}
        recorded = await journal.record(
            Entry(kind="verdict", key=key, data=data | {"verdict": verdict.model_dump(mode="json")})
        )
    return Verdict.model_validate(recorded.data["verdict"])


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
