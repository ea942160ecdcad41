"""`python -m mem.gateway`: serve on the loopback interface."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys

import uvicorn
from pydantic import ValidationError

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.ending import end
from mem.domain.errors import ConfigurationError, MemError
from mem.domain.faults import told
from mem.gateway.app import create_app
from mem.gateway.reading import Reading
from mem.settings import Settings

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        MemError: no Temporal server is known, or it does not answer.
    """
    found = find_addresses(settings)
    # Not by way of the wiring, which loads models: this process needs none, and no database until it is asked to read.
    client = await MemoryClient.connect(
        address=found.need_temporal(), namespace=found.namespace, task_queue=found.task_queue
    )
    with _bound(settings.http_port or DEFAULT_PORT) as listening:
        async with Reading(found.database_url) as reading:
            config = uvicorn.Config(create_app(client, reading), log_level="warning", access_log=False)
            await uvicorn.Server(config).serve(sockets=[listening])


def _bound(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"Port {port} of {LOOPBACK} cannot be used: {error.strerror}.",
            "Stop what listens there, or set MEM_HTTP_PORT.",
        ) from error
    return listening


def main() -> None:
    """Run the gateway; one clear line where it cannot start."""
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("mem").setLevel(logging.INFO)
    code = 0
    try:
        asyncio.run(serve(Settings()))
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        code = 2
    end(code)


if __name__ == "__main__":
    main()
