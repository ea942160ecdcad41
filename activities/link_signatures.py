"""Step 4c of an acceptance: the failures in the evidence become exact keys of the memory."""

from __future__ import annotations

import asyncio

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import LinkedSignatures, MemoryStep
from mem.ports import Failures, Journal, Memories
from mem.writing.candidate import load_candidate
from mem.writing.evidence import evidence_of
from mem.writing.links import signatures_of


class LinkSignatures:
    """Extracts the signatures of what the candidate stands on and points them at the memory."""

    def __init__(self, journal: Journal, memories: Memories, failures: Failures) -> None:
        self._journal = journal
        self._memories = memories
        self._failures = failures

    @activity.defn(name="link_signatures")
    @reporting
    async def link_signatures(self, step: MemoryStep) -> LinkedSignatures:
        """Link and count each signature once for the request id."""
        candidate = await load_candidate(self._journal, step)
        evidence = [each.text for each in await evidence_of(self._memories, candidate, step.sha)]
        signatures = await asyncio.to_thread(signatures_of, evidence)
        linked = await self._failures.link(
            project=step.project, request_id=step.request_id, sha=step.sha, signatures=signatures
        )
        return LinkedSignatures(signatures=linked)
