"""A scripted server on loopback: real sockets, real HTTP, answers as the test wrote them."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, Self

CHUNK = b"x" * 65536
_REASONS = {200: "OK"}


class Reply(NamedTuple):
    """What to send, once `seconds` have passed; `reset` sends nothing and breaks the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    seconds: float = 0.0
    reset: bool = False
    endless: int = 0
    """So many more bytes of nothing, sent piece by piece."""
    pause: float = 0.0
    """Seconds between these pieces."""


class Seen(NamedTuple):
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def page(status: int = 200) -> Reply:
    """The web page that some proxy sends instead."""
    return Reply(status, b"<!doctype html><html><body><h1>Welcome</h1></body></html>", {"Content-Type": "text/html"})


def later(seconds: float, reply: Reply) -> Reply:
    """The same, too late."""
    return reply._replace(seconds=seconds)


RESET = Reply(reset=True)


def as_json(status: int, value: Any, headers: Mapping[str, str]) -> Reply:
    """A reply of JSON."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


class ScriptedServer:
    """Keeps what it was asked; a subclass says what to answer."""

    prefix = ""
    """What its address ends in."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.sent = 0
        self.base_url = ""
        self._open: set[asyncio.Task[Any]] = set()

    def reply_to(self, seen: Seen) -> Reply:
        """What to send to this request."""
        raise NotImplementedError

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Serve on a free port of the loopback interface."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{self.prefix}"
        try:
            yield self
        finally:
            server.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while (seen := await _read(reader)) is not None:
                    self.requests.append(seen)
                    if not await self._send(writer, self.reply_to(seen)):
                        break
        finally:
            self._open.discard(task)
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        """Whether the connection can be used on."""
        await asyncio.sleep(reply.seconds)
        if reply.reset:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        headers = {**reply.headers, "Content-Length": str(len(reply.body) + reply.endless)}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        reason = _REASONS.get(reply.status, "Whatever")
        writer.write(f"HTTP/1.1 {reply.status} {reason}\r\n{head}\r\n".encode() + reply.body)
        await writer.drain()
        for _ in range(0, reply.endless, len(CHUNK)):
            writer.write(CHUNK)
            await writer.drain()
            self.sent += len(CHUNK)
            await asyncio.sleep(reply.pause)
        return not reply.endless


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(first.split(" ")[1], headers, json.loads(body) if body else {})
