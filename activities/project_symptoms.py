"""Step 4a of an acceptance: how the failure looks that the memory explains."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import MemoryStep, Projection
from mem.domain.errors import ControllerRefused
from mem.ports import Embedder, EvidenceText, Journal, Memories, Projector
from mem.writing.candidate import load_candidate
from mem.writing.evidence import evidence_of


class ProjectSymptoms:
    """Makes the symptom projection and its vector.

    Args:
        stand_in: takes over where the projector refuses for the last time.
    """

    def __init__(
        self, journal: Journal, memories: Memories, projector: Projector, embedder: Embedder, stand_in: Projector
    ) -> None:
        self._journal = journal
        self._memories = memories
        self._projector = projector
        self._stand_in = stand_in
        self._embedder = embedder

    @activity.defn(name="project_symptoms")
    @reporting
    async def project_symptoms(self, step: MemoryStep) -> Projection:
        """The recorded projection of a memory, or a new one; an empty one is a success."""
        recorded = await self._memories.projection(step.sha)
        if recorded is not None:
            return recorded
        candidate = await load_candidate(self._journal, step)
        below = await evidence_of(self._memories, candidate, step.sha)
        evidence = [EvidenceText(each.sha, each.text) for each in below]
        try:
            made = await self._projector.project(candidate.node.text, evidence)
        except ControllerRefused:
            if not step.last_ask:
                raise
            made = await self._stand_in.project(candidate.node.text, evidence)
        return await self._memories.put_projection(step.sha, made)

    @activity.defn(name="embed_symptoms")
    @reporting
    async def embed_symptoms(self, step: MemoryStep) -> bool:
        """Store the vector of the projection; false where it is empty."""
        projection = await self._memories.projection(step.sha)
        if projection is None or not projection.text:
            return False
        await self._memories.put_vectors("symptom", {step.sha: projection.text}, self._embedder)
        return True
