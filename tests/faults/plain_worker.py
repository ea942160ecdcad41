"""The real worker, but for its embedder, in a process of its own."""

from __future__ import annotations

import asyncio

from mem import wiring
from mem.settings import Settings
from mem.testing import FakeEmbedder
from worker import serve


def work() -> None:
    """Work until told to end."""
    wiring.MiniLmEmbedder.load = FakeEmbedder  # type: ignore[method-assign, assignment]
    asyncio.run(serve(Settings()))
