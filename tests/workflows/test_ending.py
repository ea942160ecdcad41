"""A worker that is told to end finishes its steps, or hands them back; the next one goes on with them at once."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.client import WorkflowHandle

from mem.domain.errors import Unavailable
from mem.domain.ids import replay_workflow_id
from tests.temporal_server import Rig, events, scheduled
from tests.workflows.material import candidate

SECONDS = 300
"""Against hanging alone."""


@pytest.fixture
def environment(rig: Rig, temporal_server, database_url) -> dict[str, str]:
    return {
        "PATH": os.defpath, "MEM_DATABASE_URL": database_url, "MEM_DATABASE_POOL": "2",
        "MEM_TASK_QUEUE": rig.task_queue, "TEMPORAL_ADDRESS": temporal_server.address,
    }  # fmt: skip


async def attempts(handle: WorkflowHandle, step: str) -> list[tuple[int, Failure]]:
    """How often each run of a step was started, and what it had failed with before."""
    found = await events(handle)
    of_step = {
        event.event_id
        for event in found
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        and event.activity_task_scheduled_event_attributes.activity_type.name == step
    }
    started = [
        event.activity_task_started_event_attributes
        for event in found
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    ]
    return [(one.attempt, one.last_failure) for one in started if one.scheduled_event_id in of_step]


@pytest.mark.parametrize(("how", "tries"), [("finishes", 1), ("hangs", 2)])
async def test_an_acceptance_goes_on_with_the_next_worker(rig, forks, environment, how, tries):
    """The step under way is finished, or is cancelled and done by the next worker without a wait for its heartbeat."""
    async with asyncio.timeout(SECONDS):
        ending = forks.start("tests.faults.ending_worker:work", "append_memory", how, environment=environment)
        asked = asyncio.create_task(rig.memory.accept(candidate(rig), deadline=SECONDS))
        result = await ending.ended()
        assert result.code == 0, result.err
        async with rig.working():
            assert (await asked).answer.status == "accepted"
    ((attempt, failure),) = await attempts(rig.accept_handle("1"), "append_memory")
    assert attempt == tries
    assert not failure.HasField("timeout_failure_info"), failure
    assert [record.kind for record in await rig.journal("appended")] == ["appended"]


async def test_a_second_signal_ends_at_once(rig, forks, environment):
    """Whoever does not want to wait sends it again; the code tells."""
    async with asyncio.timeout(SECONDS):
        ending = forks.start("tests.faults.ending_worker:work", "append_memory", "twice", environment=environment)
        asked = asyncio.create_task(rig.memory.accept(candidate(rig), deadline=SECONDS))
        assert (await ending.ended()).code == 128 + signal.SIGTERM
        asked.cancel()


@pytest.mark.slow
async def test_a_rebuild_goes_on_with_the_next_worker(rig, forks, environment):
    """A stretch that is handed back is replayed by the next worker, and the tables are those of the journal."""
    async with asyncio.timeout(SECONDS):
        async with rig.working():
            await rig.memory.accept(candidate(rig))
        ending = forks.start("tests.faults.ending_worker:work", "replay_records", "hangs", environment=environment)
        while True:
            try:
                await rig.memory.check("writes")
                break
            except Unavailable:
                await asyncio.sleep(0.05)
        asked = asyncio.create_task(rig.memory.replay())
        assert (await ending.ended()).code == 0
        async with rig.working():
            await asked
            handle = rig.temporal.get_workflow_handle(replay_workflow_id(check=False))
            assert "swap_replayed" in await scheduled(handle)
            ((attempt, failure), *_) = await attempts(handle, "replay_records")
            assert attempt == 2
            assert not failure.HasField("timeout_failure_info"), failure
            assert (await rig.memory.replay(check=True)).same
