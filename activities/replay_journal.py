"""The steps of a rebuild from the journal: each goes on where an attempt that was lost stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.counting import show_drift
from activities.errors import reporting
from mem.domain.pacing import rest_after
from mem.domain.replaying import Position, ReplayReport, ReplayStep, Shadow
from mem.ports import Rebuilding

STRETCH_SECONDS = 3.0
"""A step ends after so long, so that whoever watches sees how far it is; what it did stays in any case."""


class ReplayJournal:
    """Makes the projections anew beside the live ones, and compares or exchanges the two."""

    def __init__(self, rebuilding: Rebuilding, *, rest: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._rebuilding = rebuilding
        self._rest = rest

    @activity.defn(name="begin_replay")
    @reporting
    async def begin_replay(self, shadow: Shadow) -> Position:
        """Make empty tables for this run, or find those that it has."""
        return await self._rebuilding.begin(shadow)

    @activity.defn(name="replay_records")
    @reporting
    async def replay_records(self, step: ReplayStep) -> Position:
        """Replay page after page for a few seconds, or up to the last record, with a rest after each."""
        ends = time.monotonic() + STRETCH_SECONDS
        while True:
            began = time.monotonic()
            position = await self._rebuilding.replay(step, step.page)
            if position.seq >= position.length:
                return position
            await self._rest(rest_after(time.monotonic() - began))
            if time.monotonic() >= ends:
                return position

    @activity.defn(name="index_replayed")
    @reporting
    async def index_replayed(self, shadow: Shadow) -> int:
        """Build one more index, and rest; how many are missing still."""
        began = time.monotonic()
        missing = await self._rebuilding.index(shadow)
        await self._rest(rest_after(time.monotonic() - began))
        return missing

    @activity.defn(name="swap_replayed")
    @reporting
    async def swap_replayed(self, shadow: Shadow) -> ReplayReport:
        """Put the tables in the place of the live ones."""
        return await self._rebuilding.swap(shadow)

    @activity.defn(name="compare_replayed")
    @reporting
    async def compare_replayed(self, shadow: Shadow) -> ReplayReport:
        """Compare the tables with the live ones."""
        report = await self._rebuilding.compare(shadow)
        show_drift(report)
        return report

    @activity.defn(name="discard_replayed")
    @reporting
    async def discard_replayed(self, shadow: Shadow) -> None:
        """Remove the tables of this run, if they are there still."""
        await self._rebuilding.discard(shadow)
