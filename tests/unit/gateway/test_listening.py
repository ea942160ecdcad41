"""Where the gateway listens, and when it refuses to."""

from __future__ import annotations

import socket

import pytest

from mem.domain.errors import ConfigurationError
from mem.gateway.listening import bound, find_host, refuse_open_door
from mem.gateway.tokens import Tokens

LOOPBACK = ["127.0.0.1", "127.0.0.53", "localhost", "::1", "[::1]", "::ffff:127.0.0.1", " 127.0.0.1 "]
OUTSIDE = ["0.0.0.0", "::", "[::]", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1"]


@pytest.mark.parametrize("host", LOOPBACK)
async def test_a_loopback_address_needs_no_tokens(host):
    """Of either family, by number or by name."""
    refuse_open_door(await find_host(host, 1), None)


@pytest.mark.parametrize("host", OUTSIDE)
async def test_any_other_address_needs_tokens(host):
    """Without them the error names the setting; with them it is nobody's business where it listens."""
    place = await find_host(host, 1)
    with pytest.raises(ConfigurationError, match="MEM_TOKENS_FILE"):
        refuse_open_door(place, None)
    refuse_open_door(place, Tokens([]))


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "a" * 300])
async def test_what_is_no_address_is_told(host):
    """The error names the setting."""
    with pytest.raises(ConfigurationError, match="MEM_HTTP_HOST"):
        await find_host(host, 1)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_it_listens_there(host):
    """A socket of the family of the address; one that is in use is an error that names it."""
    with bound(await find_host(host, 0)) as listening:
        listening.listen()
        port = listening.getsockname()[1]
        with socket.create_connection((host, port), timeout=5):
            pass
        taken = (await find_host(host, 0))._replace(port=port)
        with pytest.raises(ConfigurationError, match=f"Port {port} of {host} cannot be used"):
            bound(taken)
