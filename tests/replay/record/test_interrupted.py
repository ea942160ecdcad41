"""What may happen to a run of any kind is done to one of each."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from datetime import timedelta

import pytest

from mem.domain.errors import ConfigurationError
from tests.replay.histories import record
from tests.replay.record.failing_tasks import FailingTasks
from tests.replay.record.rows import ROWS, Row
from tests.temporal_server import Rig, eventually, reset
from tests.workflows.material import candidate, own
from tests.workflows.ports import Gate, Misconfigured, Switch

pytestmark = pytest.mark.slow

SEED = "Clear the cache of the package manager when the lock file was made by another version of it."
SECONDS = 120


@pytest.fixture
async def seeded(rig, request) -> Rig:
    """A rig with something to find and to rebuild, in a project whose runs the shared server does not know."""
    rig.project = "replay-" + re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")
    async with rig.working(), asyncio.timeout(SECONDS):
        await rig.memory.accept(candidate(rig, "seed", text=SEED))
        await rig.memory.accept(own(rig, "own_seed"))
    return rig


async def test_a_step_that_failed_first(seeded):
    """An activity, or a local one, succeeds in its third attempt."""
    for row in ROWS:
        parts = row.parts(seeded, lambda real: Switch(real, times=2))
        async with seeded.working(**parts), asyncio.timeout(SECONDS):
            await row.call(seeded, "retried")
            await record(f"{row.name}_retried", row.handle(seeded, "retried"))


async def test_a_step_that_cannot_succeed(seeded):
    """A run fails for want of configuration, which no retry of its steps mends."""
    for row in ROWS:
        async with seeded.working(**row.parts(seeded, Misconfigured)), asyncio.timeout(SECONDS):
            with pytest.raises(Exception, match=r"not migrated|failed"):
                await row.call(seeded, "failed")
            await record(f"{row.name}_failed", row.handle(seeded, "failed"))


async def test_a_task_that_failed(seeded):
    """A workflow task fails, and is done again."""
    async with seeded.working([FailingTasks()]), asyncio.timeout(SECONDS):
        for row in ROWS:
            await row.call(seeded, "task_failed")
            await record(f"{row.name}_task_failed", row.handle(seeded, "task_failed"))


async def test_a_run_that_was_reset(seeded):
    """A closed run is begun anew from its first task."""
    async with seeded.working(), asyncio.timeout(SECONDS):
        for row in ROWS:
            await row.call(seeded, "reset")
            handle = row.handle(seeded, "reset")
            await eventually(lambda handle=handle: _closed(handle))
            await reset(seeded.temporal, handle.id)
            await handle.result()
            await record(f"{row.name}_reset", handle)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_worker_that_died(row: Row, seeded, temporal_server, database_url, forks):
    """A worker is killed in a step, and another one goes on."""
    environment = {
        "PATH": os.defpath, "MEM_DATABASE_URL": database_url, "MEM_DATABASE_POOL": "2",
        "MEM_TASK_QUEUE": seeded.task_queue, "TEMPORAL_ADDRESS": temporal_server.address,
    }  # fmt: skip
    async with asyncio.timeout(SECONDS):
        killed = forks.start("tests.faults.killing_worker:work", row.step, "after", environment=environment)
        calling = asyncio.create_task(row.call(seeded, "worker_died"))
        assert (await killed.ended()).code == -signal.SIGKILL
        async with seeded.working():
            await calling
            await record(f"{row.name}_worker_died", row.handle(seeded, "worker_died"))


async def test_a_run_that_was_cancelled(seeded):
    """Somebody cancels a run while it waits for a step."""
    for row in ROWS:
        gates: list[Gate] = []
        async with seeded.working(**row.parts(seeded, _gate(gates))), asyncio.timeout(SECONDS):
            calling = asyncio.create_task(row.call(seeded, "cancelled"))
            await gates[0].entered.wait()
            await row.handle(seeded, "cancelled").cancel()
            with pytest.raises(Exception, match=r"cancelled|failed") as failed:
                await calling
            assert not isinstance(failed.value, ConfigurationError | TimeoutError)
            await record(f"{row.name}_cancelled", row.handle(seeded, "cancelled"))
            gates[0].opened.set()


async def test_a_run_whose_time_was_up(seeded):
    """The server ends a run that waits for a step longer than it may."""
    for row in ROWS:
        gates: list[Gate] = []
        async with seeded.working(**row.parts(seeded, _gate(gates))), asyncio.timeout(SECONDS):
            limits = {"execution_timeout": timedelta(seconds=4), "task_timeout": timedelta(seconds=2)}
            handle = await row.start(seeded, "timed_out", **limits)
            await gates[0].entered.wait()
            await record(f"{row.name}_timed_out", handle)
            gates[0].opened.set()


def _gate(gates: list[Gate]):
    def wrap(real):
        gates.append(Gate(real))
        return gates[-1]

    return wrap


async def _closed(handle) -> bool:
    return (await handle.describe()).close_time is not None
