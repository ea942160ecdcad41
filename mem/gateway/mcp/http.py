"""Serving over streamable HTTP, on the loopback interface."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from starlette.types import ASGIApp

from mem.domain.errors import ConfigurationError
from mem.gateway.mcp.tools import MAX_ARGUMENT_CHARACTERS

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8643
PATH = "/mcp"
MAX_BODY_BYTES = 2 * MAX_ARGUMENT_CHARACTERS
"""What JSON makes of arguments is longer than they are; beyond their limit the tool says so itself."""

MAX_SESSIONS = 1000
ENDING_SECONDS = 2


def create_http_app(server: Server[Any]) -> ASGIApp:
    """The server as an application; a page that a browser shows cannot call it, by name or by another's."""
    return server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS, host=LOOPBACK
    )


async def serve_http(server: Server[Any], port: int | None) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: the port is taken.
    """
    with _bound(DEFAULT_PORT if port is None else port) as listening:
        config = uvicorn.Config(
            create_http_app(server), log_level="warning", access_log=False, timeout_graceful_shutdown=ENDING_SECONDS
        )
        serving = uvicorn.Server(config)
        await serving.serve(sockets=[listening])


def _bound(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"Port {port} of {LOOPBACK} cannot be used: {error.strerror}.", "Stop what listens there, or name another."
        ) from error
    return listening
