"""Encrypted payloads on a real server: what Temporal is told, and that nothing else changes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.workflowservice.v1 import QueryWorkflowRequest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from mem.domain.errors import RequestConflict, Unavailable
from mem.domain.payload_keys import PayloadKey
from tests.temporal_server import Rig, TemporalServer, events, eventually, reset
from tests.workflows.material import LESSON, candidate, lookup, own, question, turn
from tests.workflows.ports import Switch, Wrapped

OF_THE_SDK = {
    "seq", "attempt", "activity_id", "activity_type", "complete_time", "backoff", "original_schedule_time",
    "activation_index", "id", "deprecated",
}  # fmt: skip
"""What the SDK's core notes in markers, past every codec: when a local activity ran, and the name of a patch."""

KEY, NEXT = (PayloadKey(name, os.urandom(32)) for name in ("first", "next"))


@pytest.fixture
async def sealed(rig: Rig, temporal_server: TemporalServer) -> Rig:
    """The rig over a client that has a key."""
    return rig.in_namespace(await temporal_server.client(keys=[KEY]))


def inside(message: Message) -> Iterator[Payload | Failure]:
    """Every payload and failure of a message, but for search attributes."""
    for field, value in message.ListFields():
        if field.name in {"search_attributes", "indexed_fields"} or field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            parts = [each for each in value.values() if isinstance(each, Message)]
        else:
            parts = [value] if isinstance(value, Message) else list(value)
        for part in parts:
            if isinstance(part, Payload):
                yield part
                continue
            if isinstance(part, Failure):
                yield part
            yield from inside(part)


async def _told(handle: WorkflowHandle[Any, Any]) -> list[Message]:
    """All that the server has of a run: its history and its description."""
    return [*(await events(handle)), (await handle.describe()).raw_description]


async def _queried(rig: Rig, handle: WorkflowHandle[Any, Any], query: str) -> Message:
    """What a query answers on the wire."""
    return await rig.temporal.workflow_service.query_workflow(
        QueryWorkflowRequest(
            namespace=rig.temporal.namespace,
            execution=WorkflowExecution(workflow_id=handle.id),
            query=WorkflowQuery(query_type=query),
        )
    )


async def test_temporal_is_told_nothing_and_all_works(sealed):
    """Inputs, results, updates, memos, summaries, details, queries and failures are encrypted; the answers are as ever.

    A retry on a closed run gets its bytes, another body is a conflict, and a reset run gives the same answer.
    """
    switch = Switch(sealed.ports.memories.put_vectors, times=1)
    async with sealed.working(memories=Wrapped(sealed.ports.memories, put_vectors=switch)), asyncio.timeout(60):
        accepted = await sealed.memory.accept(candidate(sealed))
        await sealed.memory.accept(own(sealed, "mine"))
        found = await sealed.memory.look_up(lookup(sealed, tool="npm"))
        await sealed.memory.query(question(sealed))
        await sealed.memory.ground(turn(sealed))
        assert accepted.answer.sha in {lesson.sha for lesson in found.answer.lessons}
        handles = [
            sealed.accept_handle("1"), sealed.accept_handle("mine"), sealed.context_handle("1"),
            sealed.query_handle("1"), sealed.ground_handle("1"),
        ]  # fmt: skip
        for handle in handles:
            await handle.result()
        bad = await sealed.temporal.start_workflow(
            "LookUpContext", {"request_id": LESSON}, id=f"context:{sealed.project}:bad", task_queue=sealed.task_queue
        )
        with pytest.raises(WorkflowFailureError):
            await bad.result()
        with pytest.raises(RequestConflict):
            await sealed.memory.look_up(lookup(sealed, task="another body"))
        assert (await sealed.memory.look_up(lookup(sealed, tool="npm"))).body == found.body
        told = [message for handle in [*handles, bad] for message in await _told(handle)]
        queries = [(handles[0], "status"), (handles[2], "context"), (handles[2], "__temporal_workflow_metadata")]
        told += [await _queried(sealed, handle, query) for handle, query in queries]
        description = await handles[2].describe()
        assert await description.static_summary() == f"Look up failure and tool, project {sealed.project}"
        await reset(sealed.temporal, handles[2].id)
        assert (await sealed.memory.look_up(lookup(sealed, tool="npm"))).body == found.body
    parts = [part for message in told for part in inside(message)]
    payloads = [part for part in parts if isinstance(part, Payload)]
    failures = [part for part in parts if isinstance(part, Failure)]
    assert len(payloads) > 50
    clear = [json.loads(payload.data) for payload in payloads if payload.metadata["encryption-key-id"] != b"first"]
    assert [sorted(each) for each in clear if not set(each) <= OF_THE_SDK] == []
    assert {failure.message for failure in failures} == {"Encoded failure"}
    assert LESSON.encode() not in b"".join(message.SerializeToString() for message in told)


async def test_a_caller_whose_key_the_worker_lacks_is_told(rig, temporal_server):
    """The call is sent again until its deadline, since another worker may have the key; then it says which."""
    worker = rig.in_namespace(await temporal_server.client(keys=[KEY]))
    caller = rig.in_namespace(await temporal_server.client(keys=[NEXT, KEY]))
    worker.task_queue = caller.task_queue
    async with worker.working(), asyncio.timeout(60):
        with pytest.raises(Unavailable, match=r"No worker gets on with the run: .* key 'next', which"):
            await caller.memory.look_up(lookup(rig, tool="npm"), deadline=3)


@pytest.mark.slow
async def test_a_worker_without_the_key_leaves_the_run_waiting(rig, sealed):
    """A run whose key a worker lacks stays open, says in the UI which key is missing, and ends once it is there."""
    asking = asyncio.create_task(sealed.memory.look_up(lookup(sealed)))
    handle = sealed.context_handle("1")
    keyless = rig.in_namespace(rig.temporal)
    keyless.task_queue = sealed.task_queue

    async def said() -> list[Failure]:
        return [
            event.workflow_task_failed_event_attributes.failure
            for event in (await events(handle) if await _exists(handle) else [])
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
        ]

    async def failed() -> bool:
        return bool(await said())

    async with asyncio.timeout(60):
        async with keyless.working():
            await eventually(failed)
        assert "key 'first'" in (await said())[0].message
        assert (await handle.describe()).status == WorkflowExecutionStatus.RUNNING
        async with sealed.working():
            assert (await asking).answer.signatures


async def _exists(handle: WorkflowHandle[Any, Any]) -> bool:
    try:
        await handle.describe()
    except RPCError:
        return False
    return True


async def test_keys_are_changed_while_runs_go_on(sealed, temporal_server):
    """What the old key wrote is answered by processes whose first key is the next one, and the other way round."""
    rotated = sealed.in_namespace(await temporal_server.client(keys=[NEXT, KEY]))
    rotated.task_queue = sealed.task_queue
    both = await temporal_server.client(keys=[KEY, NEXT])
    async with asyncio.timeout(60):
        async with sealed.working():
            before = await sealed.memory.look_up(lookup(sealed))
        async with rotated.working():
            assert (await rotated.memory.look_up(lookup(sealed))).body == before.body
            await sealed.in_namespace(both).memory.look_up(lookup(sealed))


async def test_what_is_pending_is_told_in_clear(sealed):
    """A caller who waits in vain is told what the pending step failed with, though Temporal does not know it."""
    broken = Wrapped(sealed.ports.memories, put_vectors=Switch(sealed.ports.memories.put_vectors))
    async with sealed.working(memories=broken), asyncio.timeout(60):
        with pytest.raises(Unavailable, match=r"embed_text failed with: (?!Encoded)"):
            await sealed.memory.accept(candidate(sealed), deadline=3)
