"""Asking a controller for the context of a turn."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.recall.ground_outcome import Enhanced, GroundFound
from mem.recall.grounding import Enhancer


class EnhanceContext:
    """Lets the configured controller put what was found into words."""

    def __init__(self, enhancer: Enhancer | None) -> None:
        self._enhancer = enhancer

    @activity.defn(name="enhance_context")
    @reporting
    async def enhance_context(self, found: GroundFound) -> Enhanced:
        """What it made of it; nothing where what it says is not borne out by the memories.

        Raises:
            ApplicationError: it does not answer, or refuses.
        """
        if self._enhancer is None:
            return Enhanced(failure="This worker knows no controller.")
        made = await self._enhancer.enhance(
            found.message, found.relevant, found.limit, scope=found.diagnostics.scope_applied
        )
        failure = "" if made is not None else "What it said is not borne out by the memories."
        return Enhanced(enhancement=made, model_id=self._enhancer.model_id, failure=failure)
