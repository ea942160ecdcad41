"""`python -m mem.gateway`: serve, without tokens on a loopback address alone."""

from __future__ import annotations

import asyncio
import logging
import sys

from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.ending import end
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.gateway.app import create_app
from mem.gateway.limits import Limits
from mem.gateway.listening import bound, find_host, refuse_open_door
from mem.gateway.logs import log_to
from mem.gateway.metrics import Metrics
from mem.gateway.reading import Reading
from mem.gateway.serving import serve_app
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
    limits, metrics = Limits(), Metrics(CollectorRegistry())
    with bound(where) as listening:
        async with Reading(found.database_url) as reading:
            app = create_app(client, reading, tokens, limits=limits, metrics=metrics, log=log_to(sys.stderr))
            await serve_app(app, listening, limits, metrics.refused)


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
