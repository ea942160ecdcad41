"""Step 1 of an acceptance: the candidate is in the journal, and nothing else exists yet."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import AcceptInput, AcceptStep
from mem.ports import Journal
from mem.writing.ahead import Ahead
from mem.writing.candidate import load_candidate, record_candidate


class RecordCandidate:
    """Redacts and records a candidate."""

    def __init__(self, journal: Journal, ahead: Ahead) -> None:
        self._journal = journal
        self._ahead = ahead

    @activity.defn(name="record_candidate")
    @reporting
    async def record_candidate(self, request: AcceptInput) -> str:
        """Record the candidate; returns the fingerprint that the request id now stands for."""
        mark = await record_candidate(self._journal, request)
        step = AcceptStep(project=request.project, request_id=request.request_id)
        self._ahead.begin(await load_candidate(self._journal, step))
        return mark
