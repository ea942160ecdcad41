"""Callers who speak HTTP byte by byte over connections that they keep."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple


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

    async def answer(self, seconds: float = 60) -> Answer:
        async with asyncio.timeout(seconds):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
            return Answer(int(head[0].split()[1]), headers, body)

    async def is_closed(self) -> bool:
        """Whether the server hangs up without another word; waits for it."""
        async with asyncio.timeout(30):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Connection]:
    """A connection to the loopback interface."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def post(fields: Any, *headers: str, path: str = "/memory/context", body: bytes | None = None) -> bytes:
    """A well-formed request with its body."""
    content = json.dumps(fields).encode() if body is None else body
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*lines, *headers, "", ""]).encode() + content


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@dataclass
class Storm:
    """Many callers at once, each over a connection of its own, and what they were told."""

    port: int
    request: Callable[[int], bytes]
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    """Connections that ended before an answer began, or could not be opened."""
    broken: list[str] = field(default_factory=list)
    """What must not be: half an answer, or a refusal that does not say when to come back."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _sent: int = 0

    async def blow(self, callers: int, seconds: float) -> None:
        """Call on and on, until the time or the storm is over."""
        end = time.monotonic() + seconds
        await asyncio.gather(*[self._call(end) for _ in range(callers)])

    def _goes_on(self, end: float) -> bool:
        return time.monotonic() < end and not self.over.is_set()

    async def _call(self, end: float) -> None:
        while self._goes_on(end):
            try:
                async with connected(self.port) as connection:
                    while self._goes_on(end):
                        await self._ask(connection)
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                if isinstance(error, asyncio.IncompleteReadError) and error.partial:
                    self.broken.append(repr(error.partial[:200]))
                self.lost += 1
                await asyncio.sleep(0.05)

    async def _ask(self, connection: Connection) -> None:
        self._sent += 1
        await connection.send(self.request(self._sent))
        answer = await connection.answer(seconds=120)
        self.statuses[answer.status] += 1
        if answer.status == 503:
            if "retry-after" not in answer.headers:
                self.broken.append("503 without Retry-After")
            await asyncio.sleep(0.2)
        if answer.status == 200:
            json.loads(answer.body)
