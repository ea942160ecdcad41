"""The gateway with all that it is made of, until it is told to end."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack

import structlog
from prometheus_client import CollectorRegistry

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.codec import EncryptingCodec
from mem.clients.temporal.connection import payload_keys
from mem.clients.temporal.remote_codec import RemoteCodec
from mem.clients.temporal.tracing import open_tracing
from mem.gateway.app import create_app
from mem.gateway.codec import parse_origins
from mem.gateway.limits import Limits
from mem.gateway.listening import bound, find_host, refuse_open_door
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
    origins, codec = parse_origins(settings.ui_origins), _codec(settings)
    limits, metrics = Limits(), Metrics(CollectorRegistry())
    async with AsyncExitStack() as opened:
        tracing = await opened.enter_async_context(open_tracing("mem-gateway", os.environ))
        # Not by way of the wiring, which loads models: this process needs none, and no database until it is asked to
        # read.
        client = await MemoryClient.connect(
            address=found.need_temporal(),
            namespace=found.namespace,
            task_queue=found.task_queue,
            interceptors=() if tracing is None else tracing.interceptors,
        )
        listening = opened.enter_context(bound(where))
        opened.enter_context(telling_door(settings.health_file, where.host, where.port))
        reading = await opened.enter_async_context(Reading(found.database_url, spans=tracing))
        app = create_app(
            client,
            reading,
            tokens,
            limits=limits,
            metrics=metrics,
            log=structlog.get_logger(),
            spans=tracing,
            codec=codec,
            ui_origins=origins,
            listening=where.name,
        )
        await serve_app(app, listening, limits, metrics.refused)


def _codec(settings: Settings) -> RemoteCodec | None:
    """What reads payloads for Temporal's UI; None where none are encrypted."""
    keys = payload_keys(settings)
    return RemoteCodec(EncryptingCodec(keys)) if keys else None
