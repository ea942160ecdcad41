"""The connection to an OpenAI-compatible endpoint: no retries, no waiting without end, no endless answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from mem.clients.openai.errors import OversizedError, UnreadableError
from mem.domain.errors import ConfigurationError

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent to a server of one's own that asks for no key, since the client wants one."""

CONNECT_SECONDS = 5.0


class Endpoint(NamedTuple):
    """Where the models are, and the key to them; None: OpenAI's own address, and no key."""

    base_url: str | None
    api_key: str | None

    @property
    def host(self) -> str:
        """Host and port, which is all that an error may tell of an address: the rest can hold credentials.

        Raises:
            ConfigurationError: there are none in it.
        """
        try:
            parts = urlsplit(self.base_url or OPENAI)
            if parts.scheme in ("http", "https") and parts.hostname:
                return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
        except ValueError:
            pass
        raise ConfigurationError(
            "OPENAI_BASE_URL is not the address of a server.", "Set it like `http://127.0.0.1:8080/v1`, or unset it."
        )

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI itself, which refuses fields that it does not know."""
        return self.host == urlsplit(OPENAI).hostname

    def connect(self, *, seconds: float, max_bytes: int) -> AsyncOpenAI:
        """A client whose every read ends within `seconds` and whose answers end at `max_bytes`.

        Temporal owns the retries: what fails is told at once. Nothing is contacted yet.

        Raises:
            ConfigurationError: the address is none.
        """

        async def bound(response: httpx2.Response) -> None:
            # Compressed, a small body could unpack to any size.
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise UnreadableError
            if isinstance(response.stream, httpx2.AsyncByteStream):
                response.stream = _Bounded(response.stream, max_bytes)

        return AsyncOpenAI(
            api_key=self.api_key or NO_KEY,
            base_url=self.base_url or OPENAI,
            max_retries=0,
            timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
            default_headers={"Accept-Encoding": "identity"},
            # What is asked goes to the address that was set, and to no other that it names.
            http_client=DefaultAsyncHttpxClient(event_hooks={"response": [bound]}, follow_redirects=False),
        )


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
