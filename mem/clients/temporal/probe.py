"""Asking a Temporal server whether it answers and whether somebody polls a task queue."""

from __future__ import annotations

import asyncio

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError

from mem.clients.temporal.connection import temporal_environment
from mem.clients.temporal.pollers import alive, describe
from mem.clients.temporal.runtime import process_runtime
from mem.domain.errors import Unavailable

TIMEOUT_SECONDS = 5.0


async def check_server(address: str, namespace: str, *, environment: bool = False) -> None:
    """Return if the server answers and knows the namespace.

    `environment` adds what Temporal's own variables and profile file say (TLS, API key), as a given server may need.

    Raises:
        Unavailable: It does not; the cause names the address.
    """
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            client = await _connect(address, namespace, environment=environment)
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    except TimeoutError as error:
        raise Unavailable(f"Temporal at {address} does not answer within {TIMEOUT_SECONDS:.0f} s.") from error
    except (RPCError, RuntimeError) as error:
        reason = str(error).split("(", maxsplit=1)[0].strip()
        raise Unavailable(f"Temporal at {address}, namespace {namespace}, does not answer: {reason}.") from error


async def has_pollers(
    address: str, namespace: str, task_queue: str, *, since: float = 0.0, environment: bool = False
) -> bool:
    """Whether a worker polls the task queue for workflows.

    A server lists a poller for minutes after its death; `since` (Unix seconds) asks for one that was seen later, so
    that a worker's predecessor is not taken for it.
    """
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            client = await _connect(address, namespace, environment=environment)
            return bool(alive(await describe(client, task_queue), since=since))
    except (TimeoutError, RPCError, RuntimeError):
        return False


async def _connect(address: str, namespace: str, *, environment: bool) -> Client:
    if not environment:
        return await Client.connect(address, namespace=namespace, runtime=process_runtime())
    config = ClientConfig.load_client_connect_config(override_env_vars=temporal_environment())
    config["target_host"] = address
    config["namespace"] = namespace
    return await Client.connect(**config, runtime=process_runtime())
