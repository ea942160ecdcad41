"""What stands between two processes that talk over TCP, for tests that cut it."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Wire:
    """What stands between a client and a server; it can be cut, or go silent without a word to either."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._open = asyncio.Event()
        self._open.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._listening: asyncio.Server | None = None

    async def start(self) -> str:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._listening.sockets[0].getsockname()
        return f"{host}:{port}"

    def silence(self) -> None:
        """Take everything and pass nothing on."""
        self._open.clear()

    def carry(self) -> None:
        """Pass on what was taken, and all that comes."""
        self._open.set()

    def cut(self) -> None:
        """Refuse connections, and end those that there are."""
        assert self._listening is not None
        self._listening.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        self._writers += [writer, back]
        with suppress(OSError):
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while read := await reader.read(65_536):
            await self._open.wait()
            writer.write(read)
            await writer.drain()
        writer.close()
