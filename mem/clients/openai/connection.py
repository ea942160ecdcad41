"""The connection to an OpenAI-compatible endpoint: no retries, no waiting without end, no endless answers."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from mem.clients.bounded_http import IDENTITY, bounded, host_of

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
        return host_of(self.base_url or OPENAI, "OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")

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
        return AsyncOpenAI(
            api_key=self.api_key or NO_KEY,
            base_url=self.base_url or OPENAI,
            max_retries=0,
            timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
            default_headers=IDENTITY,
            # What is asked goes to the address that was set, and to no other that it names.
            http_client=DefaultAsyncHttpxClient(event_hooks=bounded(max_bytes), follow_redirects=False),
        )
