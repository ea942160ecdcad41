"""The gateway with all that it is made of, until it is told to end."""

from __future__ import annotations

import sys

from prometheus_client import CollectorRegistry

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.gateway.app import create_app
from mem.gateway.limits import Limits
from mem.gateway.listening import bound, find_host, refuse_open_door
from mem.gateway.logs import log_to
from mem.gateway.metrics import Metrics
from mem.gateway.reading import Reading
from mem.gateway.serving import serve_app
from mem.gateway.tokens import find_tokens
from mem.health import telling_door
from mem.settings import Settings

DEFAULT_PORT = 8642


async def serve_gateway(settings: Settings) -> None:
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
    with bound(where) as listening, telling_door(settings.health_file, where.host, where.port):
        async with Reading(found.database_url) as reading:
            app = create_app(client, reading, tokens, limits=limits, metrics=metrics, log=log_to(sys.stderr))
            await serve_app(app, listening, limits, metrics.refused)
