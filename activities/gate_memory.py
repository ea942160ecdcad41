"""Step 2 of an acceptance: a verdict, recorded."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import AcceptStep, Verdict
from mem.ports import Journal, Memories
from mem.writing.candidate import load_candidate
from mem.writing.gate import Judge, gate


class GateMemory:
    """Judges a recorded candidate."""

    def __init__(self, journal: Journal, memories: Memories, judge: Judge | None = None) -> None:
        self._journal = journal
        self._memories = memories
        self._judge = judge

    @activity.defn(name="gate_memory")
    @reporting
    async def gate_memory(self, step: AcceptStep) -> Verdict:
        """The recorded verdict, or a new one."""
        candidate = await load_candidate(self._journal, step)
        return await gate(self._journal, self._memories, step, candidate, self._judge)
