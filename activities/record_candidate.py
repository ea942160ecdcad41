"""Step 1 of an acceptance: the candidate is in the journal, and nothing else exists yet."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import AcceptInput
from mem.ports import Journal
from mem.writing.candidate import record_candidate


class RecordCandidate:
    """Redacts and records a candidate."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @activity.defn(name="record_candidate")
    @reporting
    async def record_candidate(self, request: AcceptInput) -> str:
        """Record the candidate; returns the fingerprint that the request id now stands for."""
        return await record_candidate(self._journal, request)
