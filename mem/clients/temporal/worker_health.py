"""A worker tells how it is: whether Temporal sees this very process poll its task queues."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from temporalio.client import Client
from temporalio.service import RPCError

from mem.clients.temporal.pollers import alive, describe
from mem.domain.errors import ConfigurationError
from mem.health import FILE, forget, tell

log = structlog.get_logger()

NOT_POLLED = "this process does not poll it"
PAUSE_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.5


@asynccontextmanager
async def telling_polls(client: Client, queues: Sequence[str], file: Path | None) -> AsyncIterator[None]:
    """Tell meanwhile, every ten seconds, which of the queues this process polls; None: nobody asks.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    if file is None:
        yield
        return
    try:
        _tell(file, dict.fromkeys(queues, "not asked yet"))
    except OSError as error:
        raise ConfigurationError(
            f"{FILE} is {file}, which cannot be written: {error.strerror}.", "Name a file in a folder that can be."
        ) from error
    telling = asyncio.create_task(_go_on_telling(client, queues, file))
    try:
        yield
    finally:
        telling.cancel()
        forget(file)


async def _go_on_telling(client: Client, queues: Sequence[str], file: Path) -> None:
    while True:
        faults = dict(zip(queues, await asyncio.gather(*(_fault(client, queue) for queue in queues)), strict=True))
        try:
            _tell(file, faults)
        except OSError:
            # Who reads finds what was told last, and when; the work goes on.
            log.exception("health not told")
        await asyncio.sleep(FIRST_PAUSE_SECONDS if NOT_POLLED in faults.values() else PAUSE_SECONDS)


async def _fault(client: Client, queue: str) -> str | None:
    """Why this process cannot be seen to poll a queue; None: it can."""
    try:
        pollers = alive(await describe(client, queue))
    except (RPCError, TimeoutError):
        return "Temporal does not answer"
    return None if client.identity in {poller.identity for poller in pollers} else NOT_POLLED


def _tell(file: Path, faults: dict[str, str | None] | dict[str, str]) -> None:
    # This clock is the same for all processes of a machine, and nobody sets it.
    tell(file, {"told": time.monotonic(), "queues": faults})
