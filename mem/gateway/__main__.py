"""`python -m mem.gateway`: serve on the loopback interface."""

from __future__ import annotations

import asyncio
import logging
import sys

import uvicorn
from pydantic import ValidationError

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.domain.errors import MemError
from mem.gateway.app import create_app
from mem.settings import Settings, told

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        MemError: no Temporal server is known, or it does not answer.
    """
    found = find_addresses(settings)
    # Not by way of the wiring, which loads database and models: this process needs neither, nor the extra `worker`.
    client = await MemoryClient.connect(
        address=found.need_temporal(), namespace=found.namespace, task_queue=found.task_queue
    )
    config = uvicorn.Config(
        create_app(client),
        host=LOOPBACK,
        port=settings.http_port or DEFAULT_PORT,
        log_level="warning",
        access_log=False,
    )
    await uvicorn.Server(config).serve()


def main() -> None:
    """Run the gateway; one clear line where it cannot start."""
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("mem").setLevel(logging.INFO)
    try:
        asyncio.run(serve(Settings()))
    except MemError as error:
        sys.exit(f"error: {error}")
    except ValidationError as error:
        sys.exit(f"error: the environment: {told(error)}")


if __name__ == "__main__":
    main()
