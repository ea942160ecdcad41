"""Step 4b of an acceptance: the text vectors of the memory and its evidence."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import MemoryStep
from mem.ports import Embedder, Journal, Memories
from mem.writing.candidate import load_candidate
from mem.writing.evidence import evidence_of


class EmbedText:
    """Embeds a memory and the L0 nodes that came with it."""

    def __init__(self, journal: Journal, memories: Memories, embedder: Embedder) -> None:
        self._journal = journal
        self._memories = memories
        self._embedder = embedder

    @activity.defn(name="embed_text")
    @reporting
    async def embed_text(self, step: MemoryStep) -> int:
        """Store a text vector for the node and the L0 nodes that the candidate stands on; returns how many."""
        candidate = await load_candidate(self._journal, step)
        below = await evidence_of(self._memories, candidate, step.sha)
        shas = [step.sha, *(each.stored_sha for each in below)]
        nodes = await self._memories.nodes(shas)
        # One at a time: what is stored stays, however often the step has to begin again.
        for sha in shas:
            await self._memories.put_vectors("text", {sha: nodes[sha].text}, self._embedder)
        return len(shas)
