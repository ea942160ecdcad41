"""How commands reach the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mem.addresses import find_addresses
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.client import MemoryClient


async def connected() -> MemoryClient:
    """A client of the worker that environment or stack name."""
    from mem.client import MemoryClient  # noqa: PLC0415 - temporalio takes half a second to import

    found = find_addresses(Settings())
    return await MemoryClient.connect(
        address=found.need_temporal(), namespace=found.namespace, task_queue=found.task_queue
    )
