"""The local activities of a user's turn: what is found, and the answer once a controller was asked."""

from __future__ import annotations

import structlog
from temporalio import activity

from activities.counting import count_turn
from activities.errors import attempt, reporting
from mem.domain.grounding import GroundInput
from mem.recall.ground_outcome import EnhancedFound, GroundFound, GroundOutcome
from mem.recall.grounding import GroundTurns

log = structlog.get_logger()


class GroundActivity:
    """Runs the use case and tells its story in one log line, in which no user and no text is named."""

    def __init__(self, ground: GroundTurns) -> None:
        self._ground = ground

    @activity.defn(name="ground_context")
    @reporting
    async def ground_context(self, request: GroundInput) -> GroundOutcome | GroundFound:
        """Answer a turn, or return what was answered before, or what a controller is to be asked about."""
        step = await self._ground(request)
        if isinstance(step, GroundOutcome):
            _tell(step)
        return step

    @activity.defn(name="finish_context")
    @reporting
    async def finish_context(self, enhanced: EnhancedFound) -> GroundOutcome:
        """Answer with what the controller made of what was found, or without it."""
        outcome = await self._ground.finish(enhanced)
        _tell(outcome)
        return outcome


def _tell(outcome: GroundOutcome) -> None:
    log.info("ground", attempt=attempt(), **outcome.trace.model_dump(mode="json"))
    count_turn(outcome.trace)
