"""Serving an application until the process is told to end, and ending in order."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn

from mem.gateway.limits import Limits
from mem.gateway.protocol import BoundedProtocol

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server(uvicorn.Server):
    """Uvicorn's server, which ends by itself after a signal: uvicorn would raise it again, and end by that.

    Then what the process holds open is never closed, and its exit code is not 0.
    """

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop at the first signal, and at the second one without waiting for anybody."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def server_for(app: Any, limits: Limits, refused: Callable[[int], None]) -> Server:
    """A server of an ASGI application within the limits; `refused` is told what is no request."""
    protocol: Any = partial(BoundedProtocol, limits=limits, refused=refused)
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.drain_seconds,
        h11_max_incomplete_event_size=limits.head_bytes,
    )
    return Server(config)


async def serve_app(app: Any, listening: socket.socket, limits: Limits, refused: Callable[[int], None]) -> None:
    """Serve an ASGI application on a bound socket until SIGTERM or SIGINT.

    Then no connection is taken any more, idle ones are closed, and what is worked on gets `drain_seconds` to be
    answered; what is not by then is answered with 503.
    """
    await server_for(app, limits, refused).serve(sockets=[listening])
