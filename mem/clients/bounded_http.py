"""HTTP to a server that is not ours: answers that end, in the encoding that was asked for, and addresses told by host.

No text of an answer, no key and nothing of an address but its host gets into an error: errors stay in histories.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

import httpx2

from mem.domain.errors import ConfigurationError

IDENTITY = {"Accept-Encoding": "identity"}
"""What to ask for: compressed, a small body could unpack to any size."""

Hook = Callable[[httpx2.Response], Awaitable[None]]


class OversizedError(Exception):
    """A body was longer than anything that was asked for."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self.max_bytes = max_bytes


class UnreadableError(Exception):
    """A body came in an encoding that was not asked for."""


def bounded(max_bytes: int) -> dict[str, list[Hook]]:
    """The event hooks of a client whose answers end at `max_bytes`: reading on raises one of the two errors above."""

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise UnreadableError
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, max_bytes)

    return {"response": [bound]}


def host_of(address: str, setting: str, example: str) -> str:
    """Host and port, which is all that an error may tell of an address: the rest can hold credentials.

    Raises:
        ConfigurationError: there are none in it; names the setting, with the example as remedy.
    """
    try:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname:
            return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        pass
    raise ConfigurationError(f"{setting} is not the address of a server.", f"Set it like `{example}`, or unset it.")


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks off where it grows too long, before it is kept."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > self._max_bytes:
                raise OversizedError(self._max_bytes)
            yield chunk

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self._stream.aclose()
