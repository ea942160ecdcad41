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
        """Store a text vector for the memory and the L0 nodes that it stands on; returns how many.

        The text of a memory that a duplicate found standing is embedded by its own acceptance.
        """
        candidate = await load_candidate(self._journal, step)
        texts = {each.sha: each.text for each in await evidence_of(self._memories, candidate, step.sha)}
        if step.sha == candidate.node.sha:
            texts[step.sha] = candidate.node.text
        await self._memories.put_vectors("text", texts, self._embedder)
        return len(texts)
