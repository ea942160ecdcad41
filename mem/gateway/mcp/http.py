"""Serving over streamable HTTP: by the rules of the gateway for who may call, and from where."""

from __future__ import annotations

from typing import Any

import structlog
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mem.domain.rights import Rights
from mem.gateway.hardened import Hardened
from mem.gateway.limits import Limits
from mem.gateway.listening import bound, find_host, refuse_open_door
from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.server import create_server
from mem.gateway.mcp.tools import MAX_ARGUMENT_CHARACTERS
from mem.gateway.metrics import Metrics
from mem.gateway.rights import Guard, rights_of
from mem.gateway.serving import serve_app
from mem.gateway.tokens import Tokens, find_tokens
from mem.gateway.traced import Traced
from mem.health import telling_door
from mem.settings import Settings

DEFAULT_PORT = 8643
PATH = "/mcp"
HEALTH = "/healthz"
"""The server answers agents whether or not Temporal does, so this is all that it has to tell."""
MAX_SESSIONS = 1000
LIMITS = Limits(
    callers=2 * MAX_SESSIONS,
    bytes_in_flight=4 * MAX_ARGUMENT_CHARACTERS,
    connections=2 * MAX_SESSIONS,
    body_bytes=2 * MAX_ARGUMENT_CHARACTERS,
    handler_seconds=None,
    drain_seconds=2,
)
"""An agent holds a stream open for as long as it lives. JSON makes longer what it sends; beyond the limit of its
arguments a tool says so itself."""


async def serve_http(
    reaching: Reaching, project: str | None, settings: Settings, *, host: str | None, port: int | None
) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: the tokens cannot be read, there are none and others than this machine could call, or the
            address cannot be used.
    """
    tokens = find_tokens(settings)
    place = await find_host(host or settings.http_host, DEFAULT_PORT if port is None else port)
    refuse_open_door(place, tokens)
    server = create_server(reaching, project, rights_of_caller)
    app = create_http_app(server, tokens, local=place.is_loopback)
    metrics = Metrics(CollectorRegistry())
    served: ASGIApp = Hardened(app, limits=LIMITS, metrics=metrics, log=structlog.get_logger())
    if reaching.tracing is not None:
        served = Traced(served, spans=reaching.tracing)
    telling = telling_door(settings.health_file, place.host, place.port, ready=HEALTH)
    with bound(place) as listening, telling:
        await serve_app(served, listening, LIMITS, metrics.refused)


def create_http_app(server: Server[Any], tokens: Tokens | None, *, local: bool) -> ASGIApp:
    """The server as an application.

    Args:
        server: made with `rights_of_caller`.
        tokens: who may do what; None: everybody everything.
        local: it is reached by the names of this machine alone, so that a page in a browser cannot call it by another
            one. Elsewhere names are not known, and no page has a token.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LIMITS.body_bytes,
        max_sessions=MAX_SESSIONS,
        custom_starlette_routes=[Route(HEALTH, _health)],
        transport_security=None if local else TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(_Owned(app), tokens)


def rights_of_caller(context: ServerRequestContext[Any, Any]) -> Rights:
    """What the sender of an HTTP request may do."""
    if not isinstance(context.request, Request):
        raise TypeError("This did not come over HTTP.")
    return rights_of(context.request)


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok")


class _Owned:
    """Middleware that names the caller to the protocol, by which a session is of the token alone that opened it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            name = rights_of(Request(scope)).name
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        await self._app(scope, receive, send)
