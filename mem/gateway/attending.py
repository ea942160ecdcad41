"""A request is worked on as long as somebody waits for its answer, and not longer than any answer takes."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mem.domain.errors import Unavailable
from mem.gateway.asgi import Exchange, brings_body, exchange_of, skip_to_disconnect
from mem.gateway.problems import problem_of

AGAIN = "Send the same request again: what was begun for it is not lost."


class Attended:
    """Cancels what nobody waits for. A run that was started in Temporal goes on, and its answer is kept."""

    def __init__(self, app: ASGIApp, *, seconds: float | None) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on until it is answered, its caller leaves, or its time is over.

        Raises:
            Unavailable: it took too long.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = exchange_of(scope)
        caller = _Caller(receive, send, exchange)
        if not brings_body(scope):
            caller.watch()
        try:
            async with asyncio.timeout(self._seconds) as deadline:
                await self._app(scope, caller.receive, caller.send)
        except TimeoutError as error:
            if not deadline.expired() or exchange.status is not None:
                raise
            exchange.outcome = "late"
            raise Unavailable(f"No answer within {self._seconds:g} s.", AGAIN) from error
        except asyncio.CancelledError:
            if caller.left:
                exchange.outcome = "gone"
                caller.forgive()
                return
            exchange.outcome = "ended"
            if exchange.status is not None:
                raise
            # Nothing is left to be cancelled but this answer.
            await problem_of(Unavailable("The gateway ends.", AGAIN, retry_after=1))(scope, receive, send)
        finally:
            caller.release()


class _Caller:
    """Who waits for an answer; leaving cancels the work on it."""

    def __init__(self, receive: Receive, send: Send, exchange: Exchange) -> None:
        self._exchange = exchange
        self._receive = receive
        self._send = send
        self._work = asyncio.current_task()
        self._watching: asyncio.Task[None] | None = None
        self._has_body = False
        self._has_answer = False
        self.left = False

    async def receive(self) -> Message:
        """The next part of the body; after the last one, somebody looks out for the caller."""
        if self._watching is None:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._exchange.outcome = "gone"
            self._has_body = message["type"] == "http.request" and not message.get("more_body", False)
            if self._has_body:
                self.watch()
            return message
        if not self._has_body:
            self._has_body = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.wait([self._watching])
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        self._has_answer = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    def watch(self) -> None:
        """Look out for the caller from now on."""
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        await skip_to_disconnect(self._receive)
        if self._work is not None and not self._has_answer:
            self.left = True
            self._work.cancel()

    def forgive(self) -> None:
        """Take the cancellation back, which was meant for the work alone."""
        if self._work is not None:
            self._work.uncancel()

    def release(self) -> None:
        """Look out no more."""
        if self._watching is not None:
            self._watching.cancel()
