"""How much is let in at once: callers, the bytes that they bring, and the time that a body may take."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mem.domain.errors import TooLarge, Unavailable
from mem.gateway.asgi import brings_body, exchange_of, headers_of
from mem.gateway.limits import MEGABYTE, Limits
from mem.gateway.metrics import Metrics
from mem.gateway.problems import RefusedError

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Let in whatever the load is, since they tell of it; they bring no body and take no time."""

VERSIONS = frozenset({"1.0", "1.1"})
HANG_UP = {"Connection": "close"}

AGAIN_SECONDS = 1.0
"""Places become free within a second under any load."""


class Shedding:
    """Refuses at once what there is no room for; nobody waits in a line that they cannot see."""

    def __init__(self, app: ASGIApp, *, limits: Limits, metrics: Metrics, always: Collection[str] = PROBES) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._always = always
        self._callers = 0
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if there is room for it.

        Raises:
            RefusedError: its head is too long, or its framing in doubt.
            TooLarge: the body is over its limit.
            Unavailable: there is no room.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        check_head(scope, self._limits.head_bytes)
        if scope["path"] in self._always:
            await self._app(scope, receive, send)
            return
        if self._callers >= self._limits.callers:
            raise self._full(scope, "callers", "The gateway is at work on as many requests as it takes.")
        self._callers += 1
        body = _Body(self, scope, receive)
        try:
            body.declare()
            await self._app(scope, body.receive, send)
        finally:
            self._callers -= 1
            self.hold(-body.held)

    def hold(self, size: int) -> None:
        """Count bytes that are held from now on, or no more."""
        self._held += size
        self._metrics.held(self._held)

    def let_in(self, scope: Scope, size: int) -> None:
        """Hold some more bytes of a request.

        Raises:
            Unavailable: there is no room.
        """
        if self._held + size > self._limits.bytes_in_flight:
            raise self._full(scope, "bytes", "The gateway holds as many bytes of requests as it takes.")
        self.hold(size)

    @property
    def limits(self) -> Limits:
        """The bounds that this keeps."""
        return self._limits

    def _full(self, scope: Scope, reason: str, cause: str) -> Unavailable:
        exchange_of(scope).outcome = "shed"
        self._metrics.shed(reason)
        return Unavailable(cause, "Send the same request again.", retry_after=AGAIN_SECONDS)


class _Body:
    """One body on its way in, which is bounded in size and time."""

    def __init__(self, room: Shedding, scope: Scope, receive: Receive) -> None:
        self._room = room
        self._scope = scope
        self._receive = receive
        self._seen = 0
        self._complete = not brings_body(scope)
        self._deadline: float | None = None
        self.held = 0

    def declare(self) -> None:
        """Let in what the head announces."""
        for value in headers_of(self._scope, b"content-length"):
            if value.isdecimal():
                self._let_in(int(value))

    async def receive(self) -> Message:
        """The next part of it."""
        if self._complete:
            return await self._receive()
        now = asyncio.get_running_loop().time()
        seconds = self._room.limits.body_seconds
        self._deadline = self._deadline or now + seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError as error:
            raise RefusedError(
                408, f"The body did not come within {seconds:g} s.", "Send it again.", HANG_UP
            ) from error
        self._seen += len(message.get("body", b""))
        self._let_in(self._seen)
        self._complete = not message.get("more_body", False)
        return message

    def _let_in(self, size: int) -> None:
        most = self._room.limits.body_bytes
        if size > most:
            raise TooLarge(
                f"The body is over {most // MEGABYTE} MB.",
                "Send the failing part of the log, or use `mem lookup --file`, which distils it first.",
            )
        if size > self.held:
            self._room.let_in(self._scope, size - self.held)
            self.held = size


def check_head(scope: Scope, most: int) -> None:
    """Refuse a head that the parser lets through.

    Raises:
        RefusedError: it is too long, of another version, or its body has two lengths, of which readers differ.
    """
    if scope["http_version"] not in VERSIONS:
        raise RefusedError(400, "This is no request of HTTP/1.1.", "Speak HTTP/1.1.", HANG_UP)
    # The parser takes a head of any length that arrives in one piece.
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if target + sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > most:
        raise RefusedError(431, "The head of the request is too long.", "Send fewer or shorter headers.", HANG_UP)
    if headers_of(scope, b"transfer-encoding") and headers_of(scope, b"content-length"):
        raise RefusedError(
            400,
            "The body is framed twice, by Content-Length and by Transfer-Encoding.",
            "Send one of the two headers.",
            HANG_UP,
        )
