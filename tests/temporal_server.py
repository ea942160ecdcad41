"""A Temporal dev server for the session, and on it, for each test, the real worker over a database of its own."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Interceptor

from mem import wiring
from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.converter import data_converter
from mem.clients.temporal.search_attributes import SEARCH_ATTRIBUTES
from mem.clients.temporal.tuning import Deployment
from mem.domain.ids import accept_workflow_id, context_workflow_id, ground_workflow_id, query_workflow_id
from mem.domain.payload_keys import PayloadKey
from mem.local.temporal import DYNAMIC_CONFIG, binary
from mem.recall.grounding import GroundTurns
from mem.recall.look_up import LookUp
from mem.recall.query_memories import QueryMemories
from mem.settings import Settings
from mem.testing import FakeEmbedder
from mem.wiring import Ports, open_ports
from worker import Serves, build_workers, running

MAIN = "default"
OTHER = "elsewhere"
"""Namespaces: the second has no history of what the first did."""

USER = "user-123"

PATIENT_LEG_SECONDS = 6.0
"""On a busy machine a leg may take longer than in production; tests that want one to time out say so."""

_NUMBERS = itertools.count()


class TemporalServer:
    """The server, and a client for each namespace."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def client(self, namespace: str = MAIN, *, keys: Sequence[PayloadKey] = ()) -> Client:
        return await Client.connect(self.address, namespace=namespace, data_converter=data_converter(keys))


class Rig:
    """What one test needs: ports over its database, a task queue and a project of its own, and a client.

    Workflow ids contain the project, so tests that share the server never meet.
    """

    def __init__(self, temporal: Client, ports: Ports) -> None:
        number = next(_NUMBERS)
        self.temporal = temporal
        self.ports = ports
        self.task_queue = f"queue-{number}"
        self.project = f"project-{number}"
        self.memory = MemoryClient(temporal, task_queue=self.task_queue)

    def in_namespace(self, temporal: Client) -> Rig:
        """The same database and ids, seen by a server that knows nothing of what was done before."""
        other = Rig(temporal, self.ports)
        other.project = self.project
        return other

    @asynccontextmanager
    async def working(
        self,
        interceptors: Sequence[Interceptor] = (),
        *,
        serves: Serves = "all",
        build: Deployment | None = None,
        **ports: Any,
    ) -> AsyncIterator[None]:
        """Run the real worker, some ports replaced; those of a use case are `look_up_<name>` and so on."""
        cases = {"look_up": LookUp, "query": QueryMemories, "ground": GroundTurns}
        for name, case in cases.items():
            legs = {one.removeprefix(f"{name}_"): ports.pop(one) for one in list(ports) if one.startswith(f"{name}_")}
            seconds = legs.pop("leg_seconds", PATIENT_LEG_SECONDS)
            legs_of = replace(getattr(self.ports, name)._ports, **legs)
            ports.setdefault(name, case(legs_of, leg_seconds=seconds, total_seconds=seconds + 1))
        given = replace(self.ports, **ports)
        workers = build_workers(
            self.temporal,
            given,
            task_queue=self.task_queue,
            serves=serves,
            interceptors=interceptors,
            build=build,
        )
        async with running(workers):
            yield

    def accept_handle(self, request_id: str) -> WorkflowHandle[Any, Any]:
        return self.temporal.get_workflow_handle(accept_workflow_id(self.project, request_id))

    def context_handle(self, request_id: str) -> WorkflowHandle[Any, Any]:
        return self.temporal.get_workflow_handle(context_workflow_id(self.project, request_id))

    def query_handle(self, request_id: str) -> WorkflowHandle[Any, Any]:
        return self.temporal.get_workflow_handle(query_workflow_id(self.project, request_id))

    def ground_handle(self, request_id: str, user_id: str = USER) -> WorkflowHandle[Any, Any]:
        return self.temporal.get_workflow_handle(ground_workflow_id(self.user(user_id), request_id))

    def user(self, user_id: str = USER) -> str:
        """A user of this project alone: ids of turns contain the user and no project."""
        return f"{user_id}@{self.project}"

    async def journal(self, kind: str | None = None) -> list[Any]:
        """The records of the journal, of one kind or all of them."""
        return [record async for record in self.ports.journal.read() if kind in (None, record.kind)]


@asynccontextmanager
async def running_temporal(*namespaces: str) -> AsyncIterator[TemporalServer]:
    """The dev server of the embedded stack with its settings, in memory; each namespace costs it a little all along."""
    options = [
        *(("--search-attribute", f"{name}={kind}") for name, kind in SEARCH_ATTRIBUTES.items()),
        *(("--dynamic-config-value", f"{key}={value}") for key, value in DYNAMIC_CONFIG.items()),
        *(("--namespace", name) for name in namespaces),
    ]
    environment = await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(binary()),
        dev_server_log_level="error",
        dev_server_extra_args=[word for pair in options for word in pair],
    )
    yield TemporalServer(environment.client.service_client.config.target_host)
    await environment.shutdown()


@pytest.fixture(scope="session")
async def temporal_server() -> AsyncIterator[TemporalServer]:
    """The server that tests share."""
    async with running_temporal(OTHER) as server:
        yield server


@pytest.fixture
async def rig(
    temporal_server: TemporalServer, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    """A rig whose ports are wired as in production, but for the embedder."""
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    settings = Settings(database_url=database_url, temporal_address=temporal_server.address)
    async with open_ports(find_addresses(settings), settings) as ports:
        yield Rig(await temporal_server.client(), ports)


async def eventually(check: Callable[[], Awaitable[bool]], *, seconds: float = 120.0) -> None:
    """Ask again and again until `check` holds; fails when it never does."""
    deadline = time.monotonic() + seconds
    while not await check():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        await asyncio.sleep(0.05)


async def scheduled(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """The names of the activities that a run scheduled, in order."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in await events(handle)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]


async def events(handle: WorkflowHandle[Any, Any]) -> list[HistoryEvent]:
    """The history of a run as it is now."""
    return [event async for event in handle.fetch_history_events()]


async def runs_of(client: Client, workflow_id: str) -> int:
    """How many runs visibility knows under a workflow id."""
    return len([run async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'")])


async def reset(client: Client, workflow_id: str) -> None:
    """Begin the last run anew, from its first workflow task."""
    finished = [
        event.event_id
        async for event in client.get_workflow_handle(workflow_id).fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            reason="for the test",
            request_id=str(uuid.uuid4()),
            workflow_task_finish_event_id=finished[0],
        )
    )
