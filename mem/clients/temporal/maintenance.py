"""What is asked of the workers now and then: whether they are there, rebuilds, and the check of each night."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Literal, TypeVar

from pydantic import BaseModel
from temporalio.client import Client

from mem.clients.temporal.jobs import Watch, run_to_end
from mem.clients.temporal.schedules import Daily, find_daily, start_daily, stop_daily
from mem.clients.temporal.serving import check_served
from mem.domain.ids import (
    NIGHTLY_SCHEDULE_ID,
    REGENERATE_WORKFLOW_ID,
    rebuild_workflow_id,
    replay_workflow_id,
    writes_queue,
)
from mem.domain.rebuild import RebuildInput, RebuildReport
from mem.domain.regenerating import RegenerateReport
from mem.domain.replaying import NightlyCheck, ReplayReport
from mem.parsing import current_algo

ReportT = TypeVar("ReportT", bound=BaseModel)

REBUILD_LIFETIME = timedelta(days=15)
"""Beyond every retry of a step, so that no run stays open for ever."""
NIGHTLY_LIFETIME = timedelta(hours=20)
"""A check that no worker took keeps no other night from its own."""

REPLAY_PAGE = 250
REGENERATE_PAGE = 50
"""Records or memories to a step's transaction or batch."""

Work = Literal["lookups", "writes"]
"""Lookups, queries and turns, or acceptances and rebuilds: each kind has a task queue of its own."""


class Maintenance:
    """Keeps a memory in order; waits however long that takes."""

    def __init__(self, client: Client, *, task_queue: str) -> None:
        self._client = client
        self._queues: dict[Work, str] = {"lookups": task_queue, "writes": writes_queue(task_queue)}

    async def check(self, *needed: Work) -> None:
        """Return if Temporal answers and a worker gets the work of each kind that is needed.

        Args:
            needed: none: both.

        Raises:
            Unavailable: either is missing; the cause says which.
        """
        for work in needed or self._queues:
            await check_served(self._client, self._queues[work])

    async def rebuild(self, *, check: bool = False, watch: Watch | None = None) -> RebuildReport:
        """Derive the signatures of all memories from their evidence, or only compare; waits however long it takes.

        A run of the same kind that is open already is waited for instead; `watch` is told now and then where it stands.

        Raises:
            Unavailable: Temporal or every worker is away.
        """
        algo = current_algo()
        message = RebuildInput(check=check, algo=algo)
        summary = f"{'Check' if check else 'Rebuild'} the signatures of all memories, version {algo}"
        workflow_id = rebuild_workflow_id(algo, check=check)
        return await self._rebuild(message, workflow_id, RebuildReport, summary, watch)

    async def replay(self, *, check: bool = False, watch: Watch | None = None) -> ReplayReport:
        """Rebuild every projection from the journal, or only compare; otherwise as `rebuild`.

        Raises:
            JournalCorrupt: the journal does not hold.
            Unavailable: Temporal or every worker is away.
        """
        message = RebuildInput(task="replay", check=check, page=REPLAY_PAGE)
        summary = "Compare every projection with the journal" if check else "Rebuild every projection from the journal"
        return await self._rebuild(message, replay_workflow_id(check=check), ReplayReport, summary, watch)

    async def regenerate(self, *, apply: bool = False, watch: Watch | None = None) -> RegenerateReport:
        """Ask the projector again for every live memory, and record what it says only to `apply`; else as `rebuild`.

        Raises:
            Unavailable: Temporal or every worker is away.
        """
        message = RebuildInput(task="regenerate", apply=apply, page=REGENERATE_PAGE)
        summary = f"{'Record' if apply else 'Propose'} the projections of all memories anew"
        return await self._rebuild(message, REGENERATE_WORKFLOW_ID, RegenerateReport, summary, watch)

    async def schedule_check(self, at: time) -> None:
        """Have every table compared with the journal every night at a time in UTC; again, to change the time.

        Raises:
            Unavailable: Temporal does not answer.
        """
        daily = Daily(
            schedule_id=NIGHTLY_SCHEDULE_ID,
            workflow="RebuildProjections",
            workflow_id=replay_workflow_id(check=True),
            message=RebuildInput(task="replay", check=True, nightly=True, page=REPLAY_PAGE),
            task_queue=self._queues["writes"],
            summary="Compare every projection with the journal, every night",
            lifetime=NIGHTLY_LIFETIME,
        )
        await start_daily(self._client, daily, at)

    async def unschedule_check(self) -> bool:
        """Have it compared no more; whether it was.

        Raises:
            Unavailable: Temporal does not answer.
        """
        return await stop_daily(self._client, NIGHTLY_SCHEDULE_ID)

    async def scheduled_check(self) -> NightlyCheck | None:
        """When it is compared next, and what came of the last time; None where it is not.

        Raises:
            Unavailable: Temporal does not answer.
        """
        return await find_daily(self._client, NIGHTLY_SCHEDULE_ID)

    async def _rebuild(
        self,
        message: RebuildInput,
        workflow_id: str,
        result_type: type[ReportT],
        summary: str,
        watch: Watch | None,
    ) -> ReportT:
        await self.check("writes")
        return await run_to_end(
            self._client,
            "RebuildProjections",
            message,
            workflow_id=workflow_id,
            task_queue=self._queues["writes"],
            result_type=result_type,
            summary=summary,
            lifetime=REBUILD_LIFETIME,
            watch=watch,
        )
