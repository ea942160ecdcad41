"""The way to the worker and to the store, found when first needed, and found anew when they are back elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from mem.addresses import Addresses
from mem.gateway.reading import Reading

if TYPE_CHECKING:
    from mem.client import MemoryClient
    from mem.clients.temporal.spans import Tracing


class Reaching:
    """Connects at the first call, so that a server starts while Temporal is away, and again where it moved.

    Args:
        find: looks the addresses up; asked before each call, since a stack that restarts comes back on other ports.
        tracing: makes spans; None: nothing is traced.
    """

    def __init__(self, find: Callable[[], Addresses], tracing: Tracing | None = None) -> None:
        self._find = find
        self.tracing = tracing
        self._connected_to: tuple[str | None, ...] = ()
        self._connecting: asyncio.Task[MemoryClient] | None = None
        self._reading_from: str | None = None
        self._reading = Reading(None)

    async def client(self) -> MemoryClient:
        """A client of the worker; all who ask at once wait for one attempt.

        Raises:
            ConfigurationError: no Temporal server is known.
            Unavailable: it does not answer.
        """
        found = self._find()
        found.need_temporal()
        where = (found.temporal, found.namespace, found.task_queue)
        if self._connecting is None or where != self._connected_to or _failed(self._connecting):
            self._connected_to = where
            self._connecting = asyncio.create_task(_connect(found, self.tracing))
        return await asyncio.shield(self._connecting)

    async def reading(self) -> Reading:
        """What reads from the store.

        Raises:
            ConfigurationError: no database is known.
        """
        url = self._find().need_database()
        if url != self._reading_from:
            left, self._reading, self._reading_from = self._reading, Reading(url, spans=self.tracing), url
            await left.__aexit__()
        return self._reading


def _failed(task: asyncio.Task[MemoryClient]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _connect(found: Addresses, tracing: Tracing | None) -> MemoryClient:
    memory_client = await asyncio.to_thread(_imported)
    return await memory_client.connect(
        address=found.temporal,
        namespace=found.namespace,
        task_queue=found.task_queue,
        interceptors=() if tracing is None else tracing.interceptors,
    )


def _imported() -> type[MemoryClient]:
    from mem.client import MemoryClient  # noqa: PLC0415 - temporalio takes half a second to import

    return MemoryClient
