"""Serving over standard input and output, which carry nothing but the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, BinaryIO, cast

import anyio
from mcp.server.stdio import stdio_server

from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.server import create_server, unrestricted


async def serve_stdio(reaching: Reaching, project: str | None) -> None:
    """Serve one agent until it closes the input."""
    server = create_server(reaching, project, unrestricted)
    with _claimed() as (incoming, outgoing):
        lines = cast("anyio.AsyncFile[str]", _Lines(incoming))
        written = anyio.wrap_file(TextIOWrapper(outgoing, encoding="utf-8", newline="\n"))
        async with stdio_server(stdin=lines, stdout=written) as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _claimed() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The streams of the protocol, out of reach of whatever else prints: that goes to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    # Neither is closed: a thread may still wait for the input when the process ends.
    yield os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", closefd=False)


class _Lines:
    """The lines of the input, read by a thread of their own: one that waits for input holds up no end."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(maxsize=16)
        threading.Thread(target=self._read, daemon=True, name="mcp input").start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self) -> None:
        # The loop is closed once nobody reads any more.
        with contextlib.suppress(RuntimeError, OSError):
            for line in self._source:
                if line.strip():
                    self._hand_on(_readable(line))
            self._hand_on(None)

    def _hand_on(self, line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()


def _readable(line: bytes) -> str:
    r"""A message as text; halves of characters, which agents cut logs into, become the sign for what cannot be read.

    JSON can write them (`\ud83d`), but the protocol's parser drops a message with one, and its sender waits in vain.
    """
    text = line.decode("utf-8", "replace")
    if "\\ud" not in text and "\\uD" not in text:
        return text
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(_whole(message), ensure_ascii=False) + "\n"


def _whole(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}
        case list():
            return [_whole(each) for each in value]
        case _:
            return value
