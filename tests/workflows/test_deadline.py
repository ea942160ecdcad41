"""A call ends within its deadline, whatever the server on the other side does, and may be sent again afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from mem.client import MemoryClient
from mem.domain.errors import Unavailable
from tests.temporal_server import MAIN, TemporalServer
from tests.wire import Wire
from tests.workflows.material import candidate, lookup, question

DEADLINE = 1.5
AT_MOST = 2 * DEADLINE
"""For a busy machine: what is held to the limit takes DEADLINE, and what is not took twice as long and more."""


@asynccontextmanager
async def _wired(server: TemporalServer, task_queue: str) -> AsyncIterator[tuple[Wire, MemoryClient]]:
    wire = Wire(server.address)
    address = await wire.start()
    client = await Client.connect(address, namespace=MAIN, data_converter=pydantic_data_converter)
    try:
        yield wire, MemoryClient(client, task_queue=task_queue)
    finally:
        wire.cut()


@pytest.mark.parametrize("fault", ["no worker", "silent", "cut"])
async def test_a_deadline_is_total(rig, temporal_server, fault):
    """No worker, a server that takes calls and never answers, one that is gone: an error that names it, in time."""
    async with _wired(temporal_server, rig.task_queue) as (wire, memory):
        if fault == "silent":
            wire.silence()
        elif fault == "cut":
            wire.cut()
        calls = [
            memory.look_up(lookup(rig), deadline=DEADLINE),
            memory.accept(candidate(rig), deadline=DEADLINE),
            memory.query(question(rig), deadline=DEADLINE),
        ]
        async with asyncio.timeout(AT_MOST):
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        for one in outcomes:
            assert "No answer to" in str(one)
            assert "send the same request again" in str(one)


async def test_a_call_that_was_given_up_is_answered_later(rig):
    """Given up before any worker came, a lookup is run by the worker that comes, closes, and answers the same call."""
    with pytest.raises(Unavailable):
        await rig.memory.look_up(lookup(rig), deadline=0.5)
    async with rig.working(), asyncio.timeout(30):
        result = await rig.context_handle("1").result()
        assert (await rig.memory.look_up(lookup(rig))).body == result["body"].encode()
    assert len(await rig.journal("lookup")) == 1


async def test_a_call_survives_a_server_that_is_away_for_a_while(rig, temporal_server):
    """What was sent while the wire was silent is answered once it carries again, once for all attempts."""
    async with rig.working(), _wired(temporal_server, rig.task_queue) as (wire, memory), asyncio.timeout(40):
        wire.silence()
        call = asyncio.create_task(memory.look_up(lookup(rig), deadline=30.0))
        await asyncio.wait([call], timeout=0.5)
        assert not call.done()
        wire.carry()
        body = (await call).body
        assert (await rig.memory.look_up(lookup(rig))).body == body
    assert len(await rig.journal("lookup")) == 1
