"""Who may do what: a token before every route, the same refusal whatever exists, and the rights handed on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from mem.domain.gaps import GapsAnswer
from mem.domain.rights import UNRESTRICTED, Token, TokenList, hash_of, rights_of_token
from mem.domain.shown import ShownMemory
from mem.gateway import tokens as tokens_module
from mem.gateway.app import create_app
from mem.gateway.described import GAPS_EXAMPLE, SHOWN_EXAMPLE
from mem.gateway.rights import OPEN
from mem.gateway.tokens import Tokens
from tests.unit.gateway.test_gateway import ASKED, BROUGHT, QUESTION, StubClient, problem_of

SECRETS = {"reader": b"r", "writer": b"w", "operator": b"o", "everywhere": b"e", "nobody": b"n"}
TOKENS = [
    Token(name="reader", sha256=hash_of(b"r"), read=["q", "p"]),
    Token(name="writer", sha256=hash_of(b"w"), write=["p"]),
    Token(name="operator", sha256=hash_of(b"o"), admin=["p"]),
    Token(name="everywhere", sha256=hash_of(b"e"), all_projects=True, write=["*"]),
    Token(name="nobody", sha256=hash_of(b"n")),
]
SHOW = f"/memory/{SHOWN_EXAMPLE['sha']}"
CALLS = [
    ("POST", "/memory/context", ASKED, "reader"),
    ("POST", "/memory/query", QUESTION, "reader"),
    ("POST", "/memory/accept", BROUGHT, "writer"),
    ("GET", "/memory/gaps?project=p", None, "reader"),
    ("GET", "/memory/gaps", None, "reader"),
    ("GET", SHOW, None, "reader"),
    ("GET", "/metrics", None, "operator"),
]


class SeeingClient(StubClient):
    """Keeps what each call may read."""

    def __init__(self) -> None:
        super().__init__()
        self.readable: list[object] = []

    async def look_up(self, request, *, readable=None):
        self.readable.append(readable)
        return await super().look_up(request)

    async def accept(self, request, *, readable=None):
        self.readable.append(readable)
        return await super().accept(request)

    async def query(self, request, *, readable=None):
        self.readable.append(readable)
        return await super().query(request)


class SeeingReading:
    """Keeps what each read may see."""

    configured = True

    def __init__(self) -> None:
        self.readable: list[object] = []

    async def check(self) -> None:
        pass

    async def gaps(self, request, *, readable=None) -> GapsAnswer:
        self.readable.append(readable)
        return GapsAnswer.model_validate(GAPS_EXAMPLE)

    async def show(self, sha, *, readable=None) -> ShownMemory:
        self.readable.append(readable)
        return ShownMemory.model_validate(SHOWN_EXAMPLE)


class Door:
    """A gateway over stubs."""

    def __init__(self, tokens: Tokens | None) -> None:
        self.client, self.reading = SeeingClient(), SeeingReading()
        app = create_app(self.client, self.reading, tokens)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://test")

    @property
    def seen(self) -> list[object]:
        return self.client.readable + self.reading.readable

    async def call(self, call: tuple, name: str | None = None, **headers: str) -> httpx2.Response:
        method, path, body, _ = call
        if name is not None:
            headers["Authorization"] = f"Bearer {SECRETS[name].decode()}"
        return await self.http.request(method, path, json=body, headers=headers)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    found = Door(Tokens(TOKENS))
    async with found.http:
        yield found


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[1].split("?")[0])
async def test_each_route_asks_for_its_right_alone(door, call):
    """Who has the right gets through; a token with other rights, or with none, does not."""
    for name in SECRETS:
        response = await door.call(call, name)
        allowed = name == call[3] or (name == "everywhere" and call[3] in {"reader", "writer"})
        if allowed:
            assert response.status_code == 200, (name, response.text)
        else:
            problem = problem_of(response, 403)
            assert (problem["title"], repr(name) in problem["detail"]) == ("Forbidden", True)
            assert response.headers["www-authenticate"] == 'Bearer realm="mem", error="insufficient_scope"'


async def test_the_readable_projects_go_on(door):
    """A call sees what its token may read: a list, or all; who may write alone reads nothing else."""
    for call in CALLS[:-1]:
        await door.call(call, "reader")
        await door.call(call, "writer")
        await door.call(call, "everywhere")
    lists = [each for each in door.seen if each is not None]
    assert lists == [["p", "q"], ["p", "q"], [], ["p", "q"], ["p", "q"], ["p", "q"]]
    assert door.seen.count(None) == 6


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Bearer x", "Basic r", "r", "Bearer rr", "Bearer R", "Bearer r r", "Bearer \xff"],
)
async def test_a_stranger_is_asked_for_a_token(door, header):
    """Without a token, or with one that is none, nothing is read and nothing is told."""
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    for method, path, body, _ in (*CALLS, ("GET", "/no/such/path", None, "")):
        response = await door.http.request(method, path, json=body, headers=headers)
        assert problem_of(response, 401)["title"] == "Unauthorized"
        assert response.headers["www-authenticate"] == 'Bearer realm="mem"'
    assert door.seen == []


async def test_two_tokens_at_once_are_none(door):
    """Which of them is meant nobody can say."""
    headers = [("Authorization", "Bearer r"), ("Authorization", "Bearer e")]
    assert (await door.http.get(SHOW, headers=headers)).status_code == 401


async def test_what_watches_and_what_describes_is_open(door):
    """Probes and the description need no token; nothing else is open."""
    for path in OPEN:
        assert (await door.http.get(path)).status_code == 200, path
    for path in ("/healthz/", "/docs/x", "//healthz", "/metrics", "/openapi.yaml"):
        assert (await door.http.get(path)).status_code == 401, path


async def test_a_body_of_a_stranger_is_not_read(door):
    """The refusal comes before the body."""

    async def endless():
        yield b"{"
        raise AssertionError("The body was read.")

    response = await door.http.post("/memory/accept", content=endless())
    assert response.status_code == 401


async def test_the_refusal_does_not_tell_what_exists(door):
    """A project of others and one that nobody has are refused alike, before anything is asked."""
    for call, name in ((CALLS[0], "reader"), (CALLS[1], "reader"), (CALLS[2], "writer")):
        method, path, body, _ = call
        told = [await door.call((method, path, {**body, "project": project}, ""), name) for project in ("xx", "yy")]
        assert [each.status_code for each in told] == [403, 403]
        assert told[0].text.replace("xx", "yy") == told[1].text
    assert (await door.call(("GET", "/memory/gaps?project=xx", None, ""), "reader")).status_code == 403
    assert door.seen == []


async def test_without_tokens_everybody_may_do_everything():
    """As on one machine; a header that nobody asked for changes nothing."""
    door = Door(None)
    async with door.http:
        for call in CALLS:
            assert (await door.call(call)).status_code == 200
            assert (await door.call(call, "nobody")).status_code == 200
    assert set(door.seen) == {None}


async def test_no_tokens_at_all_let_nobody_in():
    """An empty list is a list: it is not the same as none."""
    door = Door(Tokens([]))
    async with door.http:
        assert (await door.call(CALLS[0])).status_code == 401


def test_every_entry_is_compared(monkeypatch):
    """How long a look-up takes does not tell where in the list a token stands, nor whether it does."""
    compared = []

    def counting(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr(tokens_module.hmac, "compare_digest", counting)
    held = Tokens(TOKENS)
    for secret in (b"r", b"n", b"unknown", b""):
        compared.clear()
        found = held.rights_of(secret)
        assert compared == [token.sha256.encode() for token in TOKENS]
        assert (found is None) == (secret in {b"unknown", b""})


def test_a_right_comes_with_no_other():
    """What is not listed is not given; a star is every project."""
    rights = rights_of_token(Token(name="n", sha256="0" * 64, read=["a"], write=["*"]))
    assert [rights.may(right, "a") for right in ("read", "write", "admin")] == [True, True, False]
    assert [rights.may(right, "b") for right in ("read", "write", "admin")] == [False, True, False]
    assert [rights.may(right) for right in ("read", "write", "admin")] == [True, True, False]
    assert (rights.readable, UNRESTRICTED.readable) == (["a"], None)
    assert all(UNRESTRICTED.may(right, "a") for right in ("read", "write", "admin"))
    assert rights_of_token(Token(name="n", sha256="0" * 64, all_projects=True)).readable is None


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([{"name": "a", "sha256": "0" * 64}, {"name": "a", "sha256": "1" * 64}], "same name"),
        ([{"name": "a", "sha256": "0" * 64}, {"name": "b", "sha256": "0" * 64}], "same secret"),
        ([{"name": "a b", "sha256": "0" * 64}], "name"),
        ([{"name": "a", "sha256": "secret"}], "sha256"),
        ([{"name": "a", "sha256": "0" * 64, "read": ["a b"]}], "read"),
        ([{"name": "a", "sha256": "0" * 64, "read": "a"}], "read"),
        ([{"name": "a", "sha256": "0" * 64, "reads": ["a"]}], "reads"),
    ],
)
def test_a_list_that_says_two_things_is_refused(entries, fault):
    """No two tokens of one name or secret, no name that is none, and no word that nobody knows."""
    with pytest.raises(ValueError, match=re.escape(fault)):
        TokenList.model_validate({"token": entries})
