"""What the gateway lets one caller, and all of them together, take."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The bounds of one process; what is over one is refused, never waited for.

    `callers` and `bytes_in_flight` bound what is worked on at once, `connections` what is open. A request is let in
    whole or not at all: its bytes count from its declared length until it is answered.
    """

    callers: int = 100
    bytes_in_flight: int = 64 * MEGABYTE
    connections: int = 512
    body_bytes: int = 32 * MEGABYTE
    head_bytes: int = 32 * 1024
    head_seconds: float = 10.0
    """From the first byte of a request line to the end of the headers."""
    body_seconds: float = 30.0
    idle_seconds: int = 30
    """Between two requests of a connection."""
    unread_seconds: float = 20.0
    """A caller who takes less than 64 KB of an answer in so long is hung up on."""
    linger_seconds: float = 5.0
    """How long the rest of a refused body is read and thrown away, so that its sender gets to see the answer."""
    handler_seconds: float | None = 100.0
    """Above the deadline of the client of the worker, which knows better what it waits for; None: for ever."""
    drain_seconds: int = 8
    """What is worked on when the process is told to end gets so long; below the grace of the embedded stack."""
