"""Lookups and writes have a task queue each; a run that was started on the other one is done all the same."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType

from mem.domain.accepting import AcceptResult
from mem.domain.errors import Unavailable
from mem.domain.ids import writes_queue
from tests.temporal_server import events
from tests.workflows.material import candidate, candidate_fields, lookup


async def test_each_kind_of_work_is_done_by_its_own_worker(rig):
    """Without the worker of writes a lookup is answered and a candidate waits; `check` tells of each."""
    async with asyncio.timeout(60):
        async with rig.working(serves="lookups"):
            await rig.memory.look_up(lookup(rig))
            await rig.memory.check("lookups")
            with pytest.raises(Unavailable, match=r"queue-.*-writes"):
                await rig.memory.check("writes")
            waiting = asyncio.create_task(rig.memory.accept(candidate(rig)))
            await rig.memory.look_up(lookup(rig, "2"))
            assert not waiting.done()
        async with rig.working(serves="writes"):
            assert (await waiting).answer.status == "accepted"
            await rig.memory.check("writes")


async def test_the_steps_of_a_plain_acceptance_leave_the_queue_of_lookups(rig):
    """Whoever starts one on the queue of lookups keeps no lookup waiting."""
    async with rig.working(), asyncio.timeout(60):
        handle = await rig.temporal.start_workflow(
            "AcceptMemory", candidate_fields(rig), id=f"accept:{rig.project}:1", task_queue=rig.task_queue,
            result_type=AcceptResult,
        )  # fmt: skip
        await handle.result()
    queues = [
        event.activity_task_scheduled_event_attributes.task_queue.name
        for event in await events(handle)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    assert len(queues) > 3
    assert set(queues) == {writes_queue(rig.task_queue)}
