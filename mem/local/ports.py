"""Choosing ports on 127.0.0.1."""

from __future__ import annotations

import secrets
import socket

from mem.domain.errors import StackError

HOST = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000
"""Below the range from which systems take the ports of outgoing connections: a part that is restarted finds its own
port free, however busy its neighbours are."""


def choose(option: str, fixed: int | None, taken: set[int]) -> int:
    """The fixed port if it is free, or any free one; it is added to `taken`.

    Raises:
        StackError: The fixed port is in use.
    """
    if fixed is not None:
        if fixed in taken or not is_free(fixed):
            raise StackError(
                f"Port {fixed} on {HOST}, set by {option}, is in use.",
                f"Stop what listens there, or give another {option}; without it a free port is chosen.",
            )
        taken.add(fixed)
        return fixed
    for _ in range(200):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if port not in taken and is_free(port):
            taken.add(port)
            return port
    raise StackError(f"No free port was found on {HOST}.", f"Give a free one with {option}.")


def is_free(port: int) -> bool:
    """Whether a server could listen on this port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this too: connections of an earlier server that still fade out are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
