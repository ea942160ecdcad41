"""The outermost middleware: one line and one count for each request, and an answer to faults that nobody foresaw."""

from __future__ import annotations

import time
import traceback
from typing import Protocol

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mem.domain.errors import MemError
from mem.gateway.asgi import Exchange, Outcome, exchange_of
from mem.gateway.metrics import Metrics
from mem.gateway.problems import UNFORESEEN, problem, problem_of
from mem.parsing.redact import redact

REQUEST_ID_HEADER = "Mem-Request-Id"


class Log(Protocol):
    """Takes an event and its fields, as structlog does."""

    def info(self, event: str, **fields: object) -> object:
        """What is as it should be."""

    def error(self, event: str, **fields: object) -> object:
        """What somebody has to look at."""


class BrokenOffError(Exception):
    """An answer failed after it had begun, so that nothing is left but to hang up; its cause was logged."""


class Observed:
    """Tells of each request its way and its outcome: never its body, nor a parameter, nor anything of an answer."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, log: Log) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and see what becomes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = exchange_of(scope)
        began = time.perf_counter()
        self._metrics.begun()

        async def counted_receive() -> Message:
            exchange.read = True
            message = await receive()
            exchange.received += len(message.get("body", b""))
            return message

        async def told_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                _name(message, exchange)
                _hang_up_on_waiting(message, scope, exchange)
            exchange.sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._answer(scope, counted_receive, told_send, exchange)
        finally:
            self._tell(scope, exchange, time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets an answer
            if exchange.status is not None:
                self._log.error("fault", **fault_of(error))
                raise BrokenOffError from None
            if isinstance(error, MemError):
                answer = problem_of(error)
            else:
                # Told without its message, which may quote what the caller sent.
                self._log.error("fault", **fault_of(error))
                answer = problem(500, UNFORESEEN[0], remedy=UNFORESEEN[1])
            await answer(scope, receive, send)

    def _tell(self, scope: Scope, exchange: Exchange, seconds: float) -> None:
        route = route_of(scope)
        # What is said to somebody who left is no answer.
        status = None if exchange.outcome == "gone" else exchange.status
        self._metrics.ended(scope["method"], route, status, seconds, exchange.received, exchange.sent)
        self._log.info(
            "request",
            method=scope["method"][:20],
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            request_id=None if exchange.request_id is None else redact(exchange.request_id).text,
            received=exchange.received,
            sent=exchange.sent,
            outcome=exchange.outcome or _outcome(status),
        )


def route_of(scope: Scope) -> str:
    """The template of the route that took the request; what stands in its place in the URL is the caller's."""
    return str(getattr(scope.get("route"), "path", "none"))


def fault_of(error: BaseException) -> dict[str, object]:
    """What kind of fault it is and where it arose, innermost last; no value of the request is in it."""
    frames = traceback.extract_tb(error.__traceback__)
    cause = error.__cause__ or error.__context__
    return {
        "kind": type(error).__name__,
        "cause": None if cause is None else type(cause).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]],
    }


def _outcome(status: int | None) -> Outcome:
    if status is None:
        return "gone"
    if status >= 500:
        return "failed"
    return "refused" if status >= 400 else "answered"


def _name(message: Message, exchange: Exchange) -> None:
    """Repeat the request id; a header cannot hold all that a body can, nor begin or end with a space."""
    named = exchange.request_id
    if named is not None and named == named.strip() and named.isprintable() and named.isascii():
        MutableHeaders(scope=message)[REQUEST_ID_HEADER] = named


def _hang_up_on_waiting(message: Message, scope: Scope, exchange: Exchange) -> None:
    """Who waits for leave to send a body that nobody wants would have to send it: close the connection instead."""
    if not exchange.read and any(key == b"expect" for key, _ in scope["headers"]):
        MutableHeaders(scope=message)["Connection"] = "close"
