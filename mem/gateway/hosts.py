"""Under which names a gateway may be called that asks for no token."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from mem.domain.errors import Forbidden
from mem.gateway.asgi import headers_of
from mem.gateway.problems import problem_of


class LocalHosts:
    """Middleware that answers only who calls by a loopback address, `localhost`, or the name that is listened at.

    A page whose name its owner lets point at this machine would otherwise read all memories: to the browser the
    gateway is then of the page's own origin.
    """

    def __init__(self, app: ASGIApp, listening: str) -> None:
        self._app = app
        self._listening = listening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or refuse it by its name."""
        if scope["type"] != "http" or all(map(self._is_local, headers_of(scope, b"host"))):
            await self._app(scope, receive, send)
            return
        refusal = Forbidden(
            "This gateway asks for no token, and was called by a name that is not of this machine.",
            "Call it by 127.0.0.1 or localhost, or configure tokens.",
        )
        await problem_of(refusal)(scope, receive, send)

    def _is_local(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in {"localhost", self._listening.lower()}:
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False
