"""Whether a worker is there: what Temporal remembers of one that is gone does not count."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueResponse

from mem.client import MemoryClient
from mem.clients.temporal.pollers import POLLER_SECONDS
from mem.domain.errors import Unavailable


def client(*ages: float) -> MemoryClient:
    """One whose task queue was polled so many seconds ago, by a worker each."""

    async def describe(_: Any) -> DescribeTaskQueueResponse:
        pollers = [PollerInfo(identity=str(number)) for number in range(len(ages))]
        for poller, age in zip(pollers, ages, strict=True):
            poller.last_access_time.FromNanoseconds(int((time.time() - age) * 1e9))
        return DescribeTaskQueueResponse(pollers=pollers)

    temporal: Any = SimpleNamespace(namespace="n", workflow_service=SimpleNamespace(describe_task_queue=describe))
    return MemoryClient(temporal)


async def test_a_worker_that_polled_within_a_minute_is_there():
    """A poll lasts a minute, so a living worker may have been heard of that long ago."""
    await client(60.0).check()
    await client(300.0, 1.0).check()


@pytest.mark.parametrize("ages", [(), (POLLER_SECONDS + 1,), (POLLER_SECONDS + 1, 299.0)])
async def test_a_worker_that_polled_before_is_gone(ages):
    """The server names it for minutes, though nobody would answer."""
    with pytest.raises(Unavailable, match="No worker polls"):
        await client(*ages).check()
