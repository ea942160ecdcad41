"""Where the gateway listens: an address of the settings, which without tokens is a loopback one."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import NamedTuple

from mem.domain.errors import ConfigurationError
from mem.gateway.tokens import Tokens


class Place(NamedTuple):
    """An address to listen at, and the name that it was found by."""

    name: str
    family: socket.AddressFamily
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        found = ipaddress.ip_address(self.host.partition("%")[0])
        inside = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return (inside or found).is_loopback


async def find_host(name: str, port: int) -> Place:
    """The first address of a host name; one in brackets, as in a URL, will do.

    Raises:
        ConfigurationError: it has none.
    """
    name = name.strip().removeprefix("[").removesuffix("]")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{name!r} is no address to listen at.", "Set MEM_HTTP_HOST to one of this machine, as 127.0.0.1 or ::1."
        ) from error
    family, _, _, _, address = found[0]
    return Place(name, family, str(address[0]), port)


def refuse_open_door(place: Place, tokens: Tokens | None) -> None:
    """Refuse to listen where others can call while nobody needs a token.

    Raises:
        ConfigurationError: it is so.
    """
    if tokens is None and not place.is_loopback:
        raise ConfigurationError(
            f"Others than this machine reach {place.name}, and no tokens are configured: whoever calls could read and "
            "write everything.",
            "Set MEM_TOKENS_FILE to a file of tokens, which `mem token new` makes entries for, or leave out the host.",
        )


def bound(place: Place) -> socket.socket:
    """A socket at a place, not listening yet.

    Raises:
        ConfigurationError: the place cannot be used.
    """
    # By its protocol asyncio tells what may go out at once; else each answer waits for an acknowledgement, for 40 ms.
    listening = socket.socket(place.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((place.host, place.port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"Port {place.port} of {place.name} cannot be used: {error.strerror}.",
            "Stop what listens there, or choose another port or host.",
        ) from error
    return listening
