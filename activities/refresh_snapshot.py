"""Step 4d of an acceptance of a user's memory: the user's rolling summary tells of it."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import MemoryStep
from mem.ports import Users


class RefreshSnapshot:
    """Brings the rolling summary of a memory's owner up to date."""

    def __init__(self, users: Users) -> None:
        self._users = users

    @activity.defn(name="refresh_snapshot")
    @reporting
    async def refresh_snapshot(self, step: MemoryStep) -> int:
        """How many lessons the summary has; nothing that the summary lacked before is left out."""
        return await self._users.refresh_snapshot(step.sha)
