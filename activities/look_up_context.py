"""The one local activity of a lookup."""

from __future__ import annotations

import structlog
from temporalio import activity

from activities.counting import count_lookup
from activities.errors import attempt, reporting
from mem.domain.lookup import LookUpInput
from mem.recall.look_up import LookUp
from mem.recall.outcome import LookUpOutcome

log = structlog.get_logger()


class LookUpActivity:
    """Runs the lookup use case and tells its story in one log line."""

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up

    @activity.defn(name="look_up")
    @reporting
    async def look_up(self, request: LookUpInput) -> LookUpOutcome:
        """Answer a request, or return what was answered to it before."""
        outcome = await self._look_up(request)
        log.info("lookup", attempt=attempt(), tiers=outcome.trace.tiers, **outcome.trace.model_dump(mode="json"))
        count_lookup(outcome.trace)
        return outcome
