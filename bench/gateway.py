"""What the gateway adds to a call of the client: `python -m bench.gateway [--rounds N] [--json FILE]`.

One run on one stack. Calls over HTTP and calls of the client in this process take turns, one caller or sixteen at once:
over a worker that does nothing, over the real one, and sent again, which no worker answers. HTTP is spoken byte by byte
over connections that are kept, so that the callers cost little themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from temporalio import workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.figures import tell
from mem.cli.common import run
from mem.client import MemoryClient
from mem.clients.temporal.ending import end_with
from mem.domain.answers import Answer
from mem.domain.lookup import ContextRequest, LookUpInput
from mem.gateway.openapi import examples
from mem.local import StackFile, StackOptions, running_stack
from tests.callers import Connection, connected, get, post

ROUNDS = 200
CALLERS = 16
WARM_UP = 20
QUEUE = "bench-gateway"
LOG = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"
NOTHING = json.dumps(examples()["context"]["answer"])

Ask = Callable[[str, Connection | None], Awaitable[None]]


@workflow.defn(name="LookUpContext")
class NoLookup:
    """A lookup that does nothing."""

    @workflow.init
    def __init__(self, request: LookUpInput) -> None:
        self._answer = Answer(body=NOTHING, fingerprint=request.fingerprint or "")

    @workflow.run
    async def run(self, request: LookUpInput) -> Answer:  # noqa: ARG002 - as the real one takes it
        """Answer at once."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self._answer

    @workflow.update
    async def lookup(self, request: LookUpInput) -> Answer:  # noqa: ARG002 - as the real one takes it
        """Answer at once."""
        return self._answer


class Ways(NamedTuple):
    """The two ways to one worker."""

    memory: MemoryClient
    port: int

    async def direct(self, name: str, _: Connection | None = None) -> None:
        """Call the client in this process."""
        await self.memory.look_up(ContextRequest(request_id=name, project="bench", signature_source=LOG))

    async def over_http(self, name: str, connection: Connection | None) -> None:
        """Call the gateway."""
        if connection is None:
            raise ValueError("a call over HTTP needs a connection")
        await connection.send(post({"request_id": name, "project": "bench", "signature_source": LOG}))
        answer = await connection.answer(60)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {answer.body!r}")


async def measure(rounds: int) -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        async with running_stack(Path(home), StackOptions(app_dir=Path.cwd())) as stack, AsyncExitStack() as opened:
            client = await Client.connect(
                stack.temporal.address, namespace=stack.temporal.namespace, data_converter=pydantic_data_converter
            )
            worker = Worker(client, task_queue=QUEUE, workflows=[NoLookup], workflow_runner=UnsandboxedWorkflowRunner())
            await opened.enter_async_context(worker)
            idle = Ways(MemoryClient(client, task_queue=QUEUE), await opened.enter_async_context(_gateway(stack)))
            real = Ways(MemoryClient(client), int(stack.http.rpartition(":")[2]))
            figures: dict[str, float] = {}
            for name, ways in (("no_op", idle), ("real", real)):
                figures |= await _compare(name, ways, rounds, 1)
                figures |= await _compare(name, ways, rounds, CALLERS)
            figures |= await _compare("again", real, rounds, 1, again=True)
            return {name: round(value, 3) for name, value in figures.items()}


@asynccontextmanager
async def _gateway(stack: StackFile) -> AsyncIterator[int]:
    """A gateway before the worker that does nothing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    given = {"TEMPORAL_ADDRESS": stack.temporal.address, "TEMPORAL_NAMESPACE": stack.temporal.namespace}
    environment = {**os.environ, **given, "MEM_TASK_QUEUE": QUEUE, "MEM_HTTP_PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mem.gateway", env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await _until_ready(port)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def _until_ready(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                async with connected(port) as connection:
                    await connection.send(get("/readyz"))
                    if (await connection.answer()).status == 200:
                        return
            except ConnectionError:
                pass
            await asyncio.sleep(0.1)


async def _compare(name: str, ways: Ways, rounds: int, callers: int, *, again: bool = False) -> dict[str, float]:
    """The medians of both ways, which every caller takes in turn."""
    direct: list[float] = []
    over_http: list[float] = []

    async def one(caller: int) -> None:
        async with connected(ways.port) as connection:
            for number in range(-WARM_UP, rounds // callers):
                key = "again" if again else f"{name}-{callers}-{caller}-{number}"
                at_first = await _ms(ways.direct, f"{key}-direct", None)
                then = await _ms(ways.over_http, f"{key}-http", connection)
                if number >= 0:
                    direct.append(at_first)
                    over_http.append(then)

    await asyncio.gather(*[one(caller) for caller in range(callers)])
    client_ms, http_ms = statistics.median(direct), statistics.median(over_http)
    prefix = f"{name}_{callers}_callers" if callers > 1 else name
    return {
        f"{prefix}_client_p50_ms": client_ms,
        f"{prefix}_http_p50_ms": http_ms,
        f"{prefix}_overhead_ms": http_ms - client_ms,
        f"{prefix}_ratio": http_ms / client_ms,
    }


async def _ms(ask: Ask, name: str, connection: Connection | None) -> float:
    began = time.perf_counter()
    await ask(name, connection)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="calls each way")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.rounds)), arguments.json)


if __name__ == "__main__":
    end_with(main)
