"""HTTP/1.1 with what uvicorn leaves out: deadlines on heads and readers, and problem documents from the parser."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mem.gateway.limits import Limits
from mem.gateway.problems import problem

PROGRESS_BYTES = 64 * 1024
_FAULTS = {
    400: ("This is no request of HTTP/1.1.", "Send a well-formed request, in one framing."),
    408: ("The head of the request did not come in time.", "Send it without pauses."),
    431: ("The head of the request is too long.", "Send fewer or shorter headers, and a shorter URL."),
    501: ("This transfer encoding is not known here.", "Send the body with Content-Length, or as chunked."),
    503: ("The gateway has as many connections as it takes.", "Keep connections open and use them again."),
}


class BoundedProtocol(H11Protocol):
    """One connection. What it refuses by itself never reaches the application, so `refused` is told the status."""

    def __init__(self, *arguments: Any, limits: Limits, refused: Callable[[int], None], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._refused = refused
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_begun = False
        self._unread_timer: asyncio.TimerHandle | None = None
        self._unread = 0
        self._linger_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or refuse it where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._refuse(503)
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget all deadlines."""
        super().connection_lost(exc)
        for timer in (self._head_timer, self._unread_timer, self._linger_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after a refusal is thrown away."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._expect_head()

    def on_response_complete(self) -> None:
        """See that the caller reads the answer, and sends the rest of its request or the next one in time."""
        super().on_response_complete()
        self._watch_reader()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._linger_timer = self.loop.call_later(self._limits.linger_seconds, self._end_lingering)
        self._expect_head()

    def pause_writing(self) -> None:
        """See that the caller reads on."""
        super().pause_writing()
        self._watch_reader()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the parser's own words are for developers
        """Answer what is no HTTP; uvicorn calls this while it handles the parser's error."""
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.ProtocolError) else 400
        self._refuse(hint if hint in _FAULTS else 400)

    def _unsupported_upgrade_warning(self) -> None:
        """The request is answered as any other; a line in the log for each would be the caller's to write."""

    def _expect_head(self) -> None:
        """Hold the head to its deadline from its first byte on, and the pause before it to another."""
        if self.transport.is_closing() or self.conn.their_state is not h11.IDLE:
            self._cancel_head()
            return
        begun = bool(self.conn.trailing_data[0])
        if self._head_timer is not None and begun == self._head_begun:
            return
        self._cancel_head()
        self._head_begun = begun
        seconds = self._limits.head_seconds if begun or self.cycle is None else self._limits.idle_seconds
        self._head_timer = self.loop.call_later(seconds, self._give_up_on_head)

    def _cancel_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up_on_head(self) -> None:
        if self._head_begun:
            self._refuse(408)
        else:
            self.transport.close()

    def _end_lingering(self) -> None:
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def _watch_reader(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        if self._unread and self._unread_timer is None:
            self._unread_timer = self.loop.call_later(self._limits.unread_seconds, self._look_at_reader)

    def _look_at_reader(self) -> None:
        self._unread_timer = None
        before, now = self._unread, self.transport.get_write_buffer_size()
        if now and before - now < PROGRESS_BYTES:
            self.transport.abort()
        else:
            self._watch_reader()

    def _refuse(self, status: int) -> None:
        """Send a problem document and hang up."""
        self._refused(status)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            detail, remedy = _FAULTS[status]
            document = problem(status, detail, remedy=remedy)
            headers = [*document.raw_headers, (b"connection", b"close")]
            for event in (
                h11.Response(status_code=status, headers=headers, reason=b""),
                h11.Data(data=bytes(document.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            # What the application still sends for this request has nowhere to go.
            self.cycle.disconnected = True
        self.transport.close()
        self._watch_reader()
