"""Who polls a task queue, as the server tells it."""

from __future__ import annotations

import asyncio
import time

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

ANSWER_SECONDS = 5.0
POLLER_SECONDS = 75.0
"""A server lists a poller for minutes after its process was killed. One that lives comes back within a minute, which is
how long a poll waits for work; the rest is for clocks that differ."""


async def is_polled(client: Client, task_queue: str, *, since: float | None = None, by: str | None = None) -> bool:
    """Whether a worker polls a task queue for workflows.

    Args:
        since: Unix seconds after which it was seen; None: so lately that it may be taken for alive.
        by: the identity of the one that is asked for; None: any.

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
        described = await client.workflow_service.describe_task_queue(request)
    earliest = time.time() - POLLER_SECONDS if since is None else since
    return any(
        poller.last_access_time.ToNanoseconds() / 1e9 >= earliest
        for poller in described.pollers
        if by in (None, poller.identity)
    )
