"""The names under which a gateway without tokens may be called."""

from __future__ import annotations

import httpx2
import pytest

from mem.domain.rights import Token, hash_of
from mem.gateway.app import create_app
from mem.gateway.tokens import Tokens
from tests.unit.gateway.test_gateway import StubClient, problem_of

TOKEN = Token(name="reader", sha256=hash_of(b"r"), read=["*"])


async def called(host: str, tokens: Tokens | None = None) -> httpx2.Response:
    """What is answered to a call by a name."""
    app = create_app(StubClient(), tokens=tokens, listening="my-machine")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gateway") as client:
        return await client.get("/openapi.json", headers={"Host": host})


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "127.9.9.9", "[::1]:8642", "LOCALHOST:1", "my-machine:8642"])
async def test_this_machine_is_answered(host):
    """By any loopback address, `localhost`, and the name that is listened at."""
    assert (await called(host)).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8642", "127.0.0.1.evil.example", "192.0.2.1", "[", "", "a@b.example"])
async def test_a_name_of_somebody_else_is_refused(host):
    """A page that points its own name at this machine reads nothing, whichever the route."""
    assert "no token" in problem_of(await called(host), 403)["detail"]


async def test_with_tokens_the_name_says_nothing():
    """Behind a proxy the gateway has names of its own, and a page has no token."""
    assert (await called("memory.example", Tokens([TOKEN]))).status_code in {200, 401}
