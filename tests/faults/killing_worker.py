"""The real worker, but for its embedder, in a process that kills itself at a chosen step."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from mem import wiring
from mem.settings import Settings
from mem.testing import FakeEmbedder
from worker import serve


class Killing(Interceptor):
    """Kills this process with SIGKILL, which nothing can tidy up after."""

    def __init__(self, name: str, point: str) -> None:
        self._name = name
        self._point = point

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Inbound(next, self._name, self._point)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, name: str, point: str) -> None:
        super().__init__(following)
        self._name = name
        self._point = point

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        chosen = activity.info().activity_type == self._name
        if chosen and self._point == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await super().execute_activity(input)
        if chosen:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def work(step: str, point: str) -> None:
    """Work until it is killed.

    `point` is `before` the step has had any effect, or `after` it has had all of it, and nobody was told; what stands
    behind a colon names the case alone.
    """
    wiring.MiniLmEmbedder.load = FakeEmbedder  # type: ignore[method-assign, assignment]
    asyncio.run(serve(Settings(), [Killing(step, point.partition(":")[0])]))
