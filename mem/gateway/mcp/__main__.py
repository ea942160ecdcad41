"""`python -m mem.gateway.mcp`: serve agents over stdio, or over HTTP on the loopback interface."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Coroutine
from functools import partial
from typing import Any

from mem.addresses import find_addresses
from mem.clients.temporal.ending import end
from mem.clients.temporal.tracing import open_tracing
from mem.domain.faults import not_installed
from mem.domain.payload_keys import parse_payload_keys
from mem.gateway.mcp.reaching import Reaching
from mem.process import run_process
from mem.settings import Settings

ENDING_SECONDS = 3.0


async def serve(settings: Settings, arguments: argparse.Namespace) -> None:
    """Serve until the agent leaves, SIGTERM or SIGINT.

    Raises:
        ConfigurationError: a part that this needs is not installed, a payload key is malformed, or it may not or cannot
            listen there.
    """
    # It connects at the first call, which is late to find that nothing can be read.
    key = settings.payload_key
    parse_payload_keys(None if key is None else key.get_secret_value())
    async with open_tracing("mem-mcp", os.environ) as tracing:
        await _serve(settings, arguments, Reaching(partial(find_addresses, settings), tracing))


async def _serve(settings: Settings, arguments: argparse.Namespace, reaching: Reaching) -> None:
    try:
        if arguments.http:
            from mem.gateway.mcp.http import serve_http  # noqa: PLC0415 - only with the extras `mcp` and `http`

            await serve_http(reaching, arguments.project, settings, host=arguments.host, port=arguments.port)
        else:
            from mem.gateway.mcp.stdio import serve_stdio  # noqa: PLC0415 - only with the extra `mcp`

            await serve_stdio(reaching, arguments.project)
    except ModuleNotFoundError as error:
        raise not_installed(error, "mcp,http" if arguments.http else "mcp") from error


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Run until it ends by itself or a signal ends it; who does not end in time is ended."""
    loop = asyncio.get_running_loop()
    serving = asyncio.ensure_future(work)

    def stop() -> None:
        serving.cancel()
        loop.call_later(ENDING_SECONDS, end, 0)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop)
    try:
        await serving
    except asyncio.CancelledError:
        return


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m mem.gateway.mcp", description=__doc__)
    parser.add_argument("--project")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    return parser.parse_args()


def main() -> None:
    """Run the server; one clear line where it cannot start."""
    run_process(lambda: _until_signal(serve(Settings(), _arguments())))


if __name__ == "__main__":
    main()
