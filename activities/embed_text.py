"""Step 4b of an acceptance: the text vectors of the memory and its evidence."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import MemoryStep
from mem.ports import Embedder, Memories


class EmbedText:
    """Embeds a memory and the L0 nodes that came with it."""

    def __init__(self, memories: Memories, embedder: Embedder) -> None:
        self._memories = memories
        self._embedder = embedder

    @activity.defn(name="embed_text")
    @reporting
    async def embed_text(self, step: MemoryStep) -> int:
        """Store a text vector for the node and its L0 parents; returns how many."""
        shas = [step.sha, *(each.stored_sha for each in await self._memories.evidence(step.sha))]
        nodes = await self._memories.nodes(shas)
        # One at a time: what is stored stays, however often the step has to begin again.
        for sha in shas:
            await self._memories.put_vectors("text", {sha: nodes[sha].text}, self._embedder)
        return len(shas)
