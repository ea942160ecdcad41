"""Step 4c of an acceptance: the failures in the evidence become exact keys of the memory."""

from __future__ import annotations

import asyncio

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import LinkedSignatures, MemoryStep
from mem.ports import Failures, Memories
from mem.writing.links import signatures_of


class LinkSignatures:
    """Extracts the signatures of the L0 parents and points them at the memory."""

    def __init__(self, memories: Memories, failures: Failures) -> None:
        self._memories = memories
        self._failures = failures

    @activity.defn(name="link_signatures")
    @reporting
    async def link_signatures(self, step: MemoryStep) -> LinkedSignatures:
        """Link and count each signature once for the request id."""
        evidence = [each.text for each in await self._memories.evidence(step.sha)]
        signatures = await asyncio.to_thread(signatures_of, evidence)
        linked = await self._failures.link(
            project=step.project, request_id=step.request_id, sha=step.sha, signatures=signatures
        )
        return LinkedSignatures(signatures=linked)
