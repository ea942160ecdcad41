"""The real command line, but for an embedder that takes its time over each batch."""

from __future__ import annotations

import asyncio

from mem import wiring
from mem.testing import FakeEmbedder
from tests.forking import mem

SECONDS = 0.02


class SlowEmbedder(FakeEmbedder):
    """The fake embedder, as slow as it has to be to be killed between two batches."""

    async def embed(self, texts):
        await asyncio.sleep(SECONDS)
        return await super().embed(texts)


def reference(*arguments: str) -> None:
    """`mem reference`."""
    wiring.MiniLmEmbedder.load = SlowEmbedder  # type: ignore[method-assign, assignment]
    mem("reference", *arguments)
