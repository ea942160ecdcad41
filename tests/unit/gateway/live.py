"""A gateway on a real socket, over a client that does as a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry

from mem.client import Reply
from mem.domain.errors import MemError
from mem.domain.lookup import ContextAnswer
from mem.gateway.app import create_app
from mem.gateway.limits import Limits
from mem.gateway.listening import bound, find_host
from mem.gateway.metrics import Metrics
from mem.gateway.openapi import examples
from mem.gateway.serving import Server, server_for
from tests.callers import Answer, Connection, connected

EXAMPLES = examples()
ASKED = {"request_id": "r", "project": "p", "tool": "npm"}


class ScriptedClient:
    """Answers with an example; with `hold` it waits until that is set, and tells when it was cancelled."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.hold: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.cancelled = 0
        self.error: Exception | None = None
        self.body: bytes | None = None

    async def check(self, *_: str) -> None:
        if isinstance(self.error, MemError):
            raise self.error
        await self._wait()

    async def look_up(self, request: Any, *, readable: Any = None) -> Reply[Any]:
        return await self._reply(request, "context", ContextAnswer)

    async def _wait(self) -> None:
        self.begun.set()
        if self.hold is not None:
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise

    async def _reply(self, request: Any, name: str, model: Any) -> Reply[Any]:
        self.requests.append(request)
        await self._wait()
        if self.error is not None:
            raise self.error
        body = self.body or json.dumps(EXAMPLES[name]["answer"]).encode()
        return Reply(model.model_validate(EXAMPLES[name]["answer"]), body, ())


class ListedLog:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def info(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    error = info

    async def line(self, number: int = 0) -> dict[str, Any]:
        """A request's line, once it is there."""
        async with asyncio.timeout(30):
            while len(found := [each for each in self.events if each["event"] == "request"]) <= number:
                await asyncio.sleep(0.005)
        return found[number]


class Gateway(NamedTuple):
    server: Server
    port: int
    log: ListedLog
    metrics: Metrics
    serving: asyncio.Task[None]

    def connected(self) -> AbstractAsyncContextManager[Connection]:
        return connected(self.port)

    async def exchange(self, sent: bytes) -> Answer:
        """Send bytes over a connection of their own, and read the one answer."""
        async with self.connected() as connection:
            await connection.send(sent)
            return await connection.answer()

    async def until_open(self, connections: int) -> None:
        """Wait until so many connections are left."""
        async with asyncio.timeout(30):
            while len(self.server.server_state.connections) != connections:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def gateway(client: Any, reading: Any = None, **limits: Any) -> AsyncIterator[Gateway]:
    """Serve in this process; the server ends with the block, if the test did not end it before."""
    log, metrics = ListedLog(), Metrics(CollectorRegistry())
    chosen = Limits(**limits)
    app = create_app(client, reading, limits=chosen, metrics=metrics, log=log)
    server = server_for(app, chosen, metrics.refused)
    listening = bound(await find_host("127.0.0.1", 0))
    # Without the signal handlers, which belong to a process of its own.
    serving = asyncio.create_task(server._serve([listening]))
    async with asyncio.timeout(30):
        while not server.started:
            await asyncio.sleep(0.005)
    try:
        yield Gateway(server, listening.getsockname()[1], log, metrics, serving)
    finally:
        server.should_exit = True
        await serving
