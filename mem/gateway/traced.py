"""The outermost middleware of a gateway that traces: the span in which a request is answered."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from mem.gateway.asgi import exchange_of
from mem.gateway.metrics import METHODS
from mem.gateway.observing import route_of
from mem.gateway.shedding import PROBES


class Served(Protocol):
    """The span of a request that is being answered."""

    def ended(self, route: str, status: int | None) -> None:
        """Name the span by its route, and tell what became of the request."""


class Serving(Protocol):
    """Makes such spans."""

    def serving(self, method: str, headers: dict[str, str]) -> AbstractContextManager[Served]:
        """The span of a request, below that of the caller where the headers name one."""
        ...


class Traced:
    """Traces requests, but for those of probes; neither path nor parameter nor body is in a span."""

    def __init__(self, app: ASGIApp, *, spans: Serving) -> None:
        self._app = app
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "other"
        with self._spans.serving(method, _parents(scope)) as span:
            try:
                await self._app(scope, receive, send)
            finally:
                exchange = exchange_of(scope)
                span.ended(route_of(scope), None if exchange.outcome == "gone" else exchange.status)


def _parents(scope: Scope) -> dict[str, str]:
    names = (b"traceparent", b"tracestate")
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"] if key in names}
