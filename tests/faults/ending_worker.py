"""The real worker, but for its embedder, in a process that is told to end in the middle of a chosen step."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

import worker
from mem import wiring
from mem.settings import Settings
from mem.testing import FakeEmbedder

HANDED_BACK_AFTER = timedelta(seconds=0.5)


class Ending(Interceptor):
    """Sends this process SIGTERM before the step, which then goes on, or takes longer than it is given."""

    def __init__(self, name: str, how: str) -> None:
        self._name = name
        self._how = how

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Inbound(next, self._name, self._how)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, name: str, how: str) -> None:
        super().__init__(following)
        self._name = name
        self._how = how

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        if activity.info().activity_type == self._name:
            os.kill(os.getpid(), signal.SIGTERM)
            await activity.wait_for_worker_shutdown()
            if self._how == "twice":
                os.kill(os.getpid(), signal.SIGTERM)
            if self._how != "finishes":
                await asyncio.Event().wait()
        return await super().execute_activity(input)


def work(step: str, how: str) -> None:
    """Work until told to end; `how` the step behaves then: it `finishes`, `hangs`, or is told `twice`."""
    wiring.MiniLmEmbedder.load = FakeEmbedder  # type: ignore[method-assign, assignment]
    if how == "hangs":
        worker.GRACE = HANDED_BACK_AFTER
    asyncio.run(worker.serve(Settings(), [Ending(step, how)]))
