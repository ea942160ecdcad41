"""The nightly check, on a real server: scheduled, run ahead of its time, and told."""

from __future__ import annotations

import asyncio
from datetime import time

import pytest
from temporalio.client import ScheduleHandle

from mem.domain.ids import NIGHTLY_SCHEDULE_ID, writes_queue
from mem.domain.replaying import NightlyCheck, Shadow
from mem.store.pool import open_pool
from mem.store.rebuilding import PostgresRebuilding
from tests.temporal_server import Rig, eventually
from tests.workflows.material import candidate
from workflows.search_attributes import MEM_OUTCOME


@pytest.fixture
async def schedule(rig: Rig):
    """The handle of the schedule, which is gone afterwards: tests share the server."""
    yield rig.temporal.get_schedule_handle(NIGHTLY_SCHEDULE_ID)
    await rig.memory.unschedule_check()


async def ended(rig: Rig, schedule: ScheduleHandle, runs: int) -> NightlyCheck:
    """What is told once so many runs were started and the last has ended."""
    found: list[NightlyCheck | None] = [None]

    async def over() -> bool:
        started = (await schedule.describe()).info.num_actions
        found[0] = await rig.memory.scheduled_check()
        return started >= runs and found[0].last is not None and found[0].last.state != "running"

    await eventually(over, seconds=60)
    assert found[0] is not None
    return found[0]


async def hour_of(schedule: ScheduleHandle) -> list[tuple[int, int]]:
    described = await schedule.describe()
    return [(each.hour[0].start, each.minute[0].start) for each in described.schedule.spec.calendars]


async def test_a_night_is_checked_and_what_differs_is_told(rig, schedule, database_url):
    """The run is a check of the whole journal on the queue of writes; its report names table and rows.

    A check that somebody began by hand before goes on.
    """
    await rig.memory.schedule_check(time(3, 30))
    async with rig.working(), asyncio.timeout(90):
        await rig.memory.accept(candidate(rig))
        pool = await open_pool(database_url, size=1)
        by_hand = Shadow(run="by hand", check=True)
        await PostgresRebuilding(pool).begin(by_hand)
        await schedule.trigger()
        first = await ended(rig, schedule, 1)
        assert (first.last.state, first.last.differing) == ("same", {})
        assert (await PostgresRebuilding(pool).compare(by_hand)).same
        async with pool.connection() as connection:
            await connection.execute("UPDATE memory_node SET projected = ''")
        await pool.close()
        await schedule.trigger()
        second = await ended(rig, schedule, 2)
    assert (second.last.state, second.last.differing) == ("differs", {"memory_node": 1})
    assert second.last.workflow_id.startswith("check:journal-")
    run = await rig.temporal.get_workflow_handle(second.last.workflow_id).describe()
    assert run.task_queue == writes_queue(rig.task_queue)
    assert run.typed_search_attributes.get(MEM_OUTCOME) == "differs"
    assert (second.next.hour, second.next.minute) == (3, 30)


async def test_scheduling_again_changes_the_time_alone(rig, schedule):
    """One schedule however often it is made; what somebody paused stays paused."""
    await rig.memory.schedule_check(time(3, 0))
    await schedule.pause()
    await rig.memory.schedule_check(time(4, 15))
    assert await hour_of(schedule) == [(4, 15)]
    found = await rig.memory.scheduled_check()
    assert (found.paused, found.last) == (True, None)
    assert await rig.memory.unschedule_check()
    assert not await rig.memory.unschedule_check()
    assert await rig.memory.scheduled_check() is None
