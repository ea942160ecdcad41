"""A gateway on a real socket, over a client that does as a test says, and callers who speak HTTP byte by byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry

from mem.client import Reply
from mem.domain.errors import MemError
from mem.domain.lookup import ContextAnswer
from mem.gateway.app import create_app
from mem.gateway.limits import Limits
from mem.gateway.metrics import Metrics
from mem.gateway.openapi import examples
from mem.gateway.serving import Server, bound, server_for

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

    async def check(self) -> None:
        if isinstance(self.error, MemError):
            raise self.error

    async def look_up(self, request: Any) -> Reply[Any]:
        return await self._reply(request, "context", ContextAnswer)

    async def _reply(self, request: Any, name: str, model: Any) -> Reply[Any]:
        self.requests.append(request)
        self.begun.set()
        if self.hold is not None:
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
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
        async with asyncio.timeout(5):
            while len(found := [each for each in self.events if each["event"] == "request"]) <= number:
                await asyncio.sleep(0.005)
        return found[number]


class Gateway(NamedTuple):
    server: Server
    port: int
    log: ListedLog
    metrics: Metrics
    serving: asyncio.Task[None]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Connection(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def exchange(self, sent: bytes) -> Answer:
        """Send bytes over a connection of their own, and read the one answer."""
        async with self.connected() as connection:
            await connection.send(sent)
            return await connection.answer()

    async def until_open(self, connections: int) -> None:
        """Wait until so many connections are left."""
        async with asyncio.timeout(5):
            while len(self.server.server_state.connections) != connections:
                await asyncio.sleep(0.005)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        found: dict[str, Any] = json.loads(self.body)
        assert found["status"] == self.status
        assert found["detail"]
        assert found["remedy"]
        return found


class Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
            return Answer(int(head[0].split()[1]), headers, body)

    async def is_closed(self) -> bool:
        """Whether the server hangs up without another word; waits for it."""
        async with asyncio.timeout(5):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


def post(fields: Any, *headers: str, path: str = "/memory/context", body: bytes | None = None) -> bytes:
    """A well-formed request with its body."""
    content = json.dumps(fields).encode() if body is None else body
    lines = [f"POST {path} HTTP/1.1", "Host: h", "Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + content


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode()


@asynccontextmanager
async def gateway(client: Any, reading: Any = None, **limits: Any) -> AsyncIterator[Gateway]:
    """Serve in this process; the server ends with the block, if the test did not end it before."""
    log, metrics = ListedLog(), Metrics(CollectorRegistry())
    chosen = Limits(**limits)
    app = create_app(client, reading, limits=chosen, metrics=metrics, log=log)
    server = server_for(app, chosen, metrics.refused)
    listening = bound(0)
    # Without the signal handlers, which belong to a process of its own.
    serving = asyncio.create_task(server._serve([listening]))
    async with asyncio.timeout(5):
        while not server.started:
            await asyncio.sleep(0.005)
    try:
        yield Gateway(server, listening.getsockname()[1], log, metrics, serving)
    finally:
        server.should_exit = True
        await serving
