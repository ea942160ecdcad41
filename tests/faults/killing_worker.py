"""The real worker, but for its embedder, in a process that kills itself at a chosen step.

Each line on stdin asks for one, as JSON: `step`, `point`, `environment` and `log`. `point` is `before` the step has had
any effect, or `after` it has had all of it, and nobody was told; what stands behind a colon names the case alone. It is
forked from this process, which has everything imported and read, so that many cost little. A line on stdout tells how
each ended: `step`, `point` and `code`.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from typing import Any, NamedTuple

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from mem import wiring
from mem.recall.query import read_failure
from mem.settings import Settings
from mem.testing import FakeEmbedder
from worker import serve

POLL_SECONDS = 0.05
NO_FAILURE = "all is well\n"
"""Reads the rules, which every worker that is forked then has."""


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


class Order(NamedTuple):
    """One worker to be started."""

    step: str
    point: str
    environment: dict[str, str]
    log: str


def main() -> None:
    """Start what is asked for and tell how it ended, until stdin is closed and all have ended."""
    read_failure(NO_FAILURE)
    wiring.MiniLmEmbedder.load = FakeEmbedder  # type: ignore[method-assign, assignment]
    running: dict[int, Order] = {}
    pending = b""
    reading = True
    while reading or running:
        if reading and select.select([0], [], [], POLL_SECONDS)[0]:
            read = os.read(0, 65_536)
            reading = bool(read)
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                order = Order(**json.loads(line))
                running[_fork(order)] = order
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG if reading else 0)
            if ended:
                order = running.pop(pid)
                told = {"step": order.step, "point": order.point, "code": os.waitstatus_to_exitcode(status)}
                sys.stdout.write(json.dumps(told) + "\n")
                sys.stdout.flush()


def _fork(order: Order) -> int:
    pid = os.fork()
    if pid == 0:
        log = os.open(order.log, os.O_WRONLY | os.O_CREAT)
        for number in (1, 2):
            os.dup2(log, number)
        os.environ.clear()
        os.environ.update(order.environment)
        asyncio.run(serve(Settings(), [Killing(order.step, order.point.partition(":")[0])]))
        os._exit(0)
    return pid


if __name__ == "__main__":
    main()
