"""Who polls a task queue, as the server tells it."""

from __future__ import annotations

import asyncio
import time

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client

ANSWER_SECONDS = 5.0
POLLER_SECONDS = 75.0
"""A server lists a poller for minutes after its process was killed. One that lives comes back within a minute, which is
how long a poll waits for work; the rest is for clocks that differ."""


async def describe(client: Client, task_queue: str) -> DescribeTaskQueueResponse:
    """What the server knows of a task queue of workflows: who polls it, and which build gets the work.

    Raises:
        RPCError: the server refuses, or is away.
        TimeoutError: it does not answer within five seconds.
    """
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    async with asyncio.timeout(ANSWER_SECONDS):
        return await client.workflow_service.describe_task_queue(request)


def alive(described: DescribeTaskQueueResponse, *, since: float | None = None) -> list[PollerInfo]:
    """Those that poll it.

    Args:
        since: Unix seconds after which one was seen; None: so lately that it may be taken for alive.
    """
    earliest = time.time() - POLLER_SECONDS if since is None else since
    return [poller for poller in described.pollers if poller.last_access_time.ToNanoseconds() / 1e9 >= earliest]
