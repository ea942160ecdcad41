"""Step 3 of an acceptance: the memory exists; the durable point."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import AcceptStep, AppendedMemory
from mem.ports import AppendPlan, Journal, Memories
from mem.writing.candidate import load_candidate
from mem.writing.entries import appended_key
from mem.writing.gate import load_verdict


class AppendMemory:
    """Appends nodes, edges and supersessions in one transaction."""

    def __init__(self, journal: Journal, memories: Memories) -> None:
        self._journal = journal
        self._memories = memories

    @activity.defn(name="append_memory")
    @reporting
    async def append_memory(self, step: AcceptStep) -> AppendedMemory:
        """Append the recorded candidate, or add its evidence to the memory that says the same.

        Raises:
            NotFound: the candidate has no verdict yet.
        """
        candidate = await load_candidate(self._journal, step)
        verdict = await load_verdict(self._journal, step)
        plan = AppendPlan(
            key=appended_key(step.project, step.request_id),
            node=candidate.node,
            evidence=candidate.evidence,
            parents=candidate.parents,
            supersedes=candidate.supersedes,
            duplicate_of=verdict.duplicate_of,
            overruled=verdict.rule == "duplicate" and verdict.accept,
        )
        appended = await self._memories.append(plan)
        return AppendedMemory(sha=appended.sha, duplicate_of=appended.duplicate_of, overtaken_by=appended.overtaken_by)
