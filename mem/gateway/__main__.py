"""`python -m mem.gateway`: serve, without tokens on a loopback address alone."""

from __future__ import annotations

import asyncio
import logging
import sys

import uvicorn
from pydantic import ValidationError

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.ending import end
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.gateway.app import create_app
from mem.gateway.listening import bound, find_host, refuse_open_door
from mem.gateway.reading import Reading
from mem.gateway.tokens import find_tokens
from mem.settings import Settings

DEFAULT_PORT = 8642


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: the tokens cannot be read, or there are none and the address is not a loopback one.
        MemError: no Temporal server is known, or it does not answer.
    """
    tokens = find_tokens(settings)
    where = await find_host(settings.http_host, settings.http_port or DEFAULT_PORT)
    refuse_open_door(where, tokens)
    found = find_addresses(settings)
    # Not by way of the wiring, which loads models: this process needs none, and no database until it is asked to read.
    client = await MemoryClient.connect(
        address=found.need_temporal(), namespace=found.namespace, task_queue=found.task_queue
    )
    with bound(where) as listening:
        async with Reading(found.database_url) as reading:
            config = uvicorn.Config(create_app(client, reading, tokens), log_level="warning", access_log=False)
            await uvicorn.Server(config).serve(sockets=[listening])


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
