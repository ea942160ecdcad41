"""All middlewares around an application, in their order; what serves something else over HTTP uses the same."""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from mem.gateway.attending import Attended
from mem.gateway.limits import Limits
from mem.gateway.metrics import Metrics
from mem.gateway.observing import Log, Observed
from mem.gateway.shedding import PROBES, Shedding


class Hardened:
    """An application, observed and bounded; `always` are the paths that are let in whatever the load is."""

    def __init__(
        self, app: ASGIApp, *, limits: Limits, metrics: Metrics, log: Log, always: Collection[str] = PROBES
    ) -> None:
        attended = Attended(app, seconds=limits.handler_seconds)
        bounded = Shedding(attended, limits=limits, metrics=metrics, always=always)
        self._app = Observed(bounded, metrics=metrics, log=log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on through all of them."""
        await self._app(scope, receive, send)
