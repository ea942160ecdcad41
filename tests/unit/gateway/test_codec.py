"""The codec's routes: who may use them, from which pages, and what comes back."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Payload

from mem.clients.temporal.codec import EncryptingCodec
from mem.clients.temporal.remote_codec import RemoteCodec
from mem.domain.errors import ConfigurationError
from mem.domain.payload_keys import PayloadKey
from mem.domain.rights import Token, hash_of
from mem.gateway.app import create_app
from mem.gateway.codec import parse_origins
from mem.gateway.tokens import Tokens
from tests.unit.gateway.test_gateway import StubClient, problem_of

UI = "http://127.0.0.1:8233"
KEY, OTHER = (PayloadKey(name, os.urandom(32)) for name in ("k1", "gone"))
CLEAR = {"metadata": {"encoding": b64encode(b"json/plain").decode()}, "data": b64encode(b'"hello"').decode()}
TOKENS = [
    Token(name="everywhere", sha256=hash_of(b"e"), admin=["*"]),
    Token(name="somewhere", sha256=hash_of(b"s"), admin=["p"], read=["*"]),
]
AS_UI = {"Origin": UI, "Authorization": "Bearer e", "X-Namespace": "default"}


def _app(**given: Any) -> Any:
    codec = RemoteCodec(EncryptingCodec([KEY]))
    return create_app(StubClient(), tokens=Tokens(TOKENS), **{"codec": codec, "ui_origins": [UI], **given})


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=_app()), base_url="http://gateway") as client:
        yield client


async def test_payloads_go_there_and_back(http):
    """What is encoded is encrypted, and decoded it is what it was; the page may read both answers."""
    sealed = await http.post("/codec/encode", json={"payloads": [CLEAR]}, headers=AS_UI)
    (payload,) = sealed.json()["payloads"]
    assert b64decode(payload["metadata"]["encryption-key-id"]) == b"k1"
    opened = await http.post("/codec/decode", json={"payloads": [payload, CLEAR]}, headers=AS_UI)
    assert opened.json() == {"payloads": [CLEAR, CLEAR]}
    assert opened.headers["access-control-allow-origin"] == UI
    assert "mem-note" not in opened.headers


async def test_what_cannot_be_read_comes_back_as_it_is(http):
    """A payload of a missing key does not hide its neighbours; a note names the key."""
    elsewhere = RemoteCodec(EncryptingCodec([OTHER]))
    (sealed,) = (await elsewhere.encode({"payloads": [CLEAR]})).payloads["payloads"]
    opened = await http.post("/codec/decode", json={"payloads": [sealed, CLEAR]}, headers=AS_UI)
    assert opened.json() == {"payloads": [sealed, CLEAR]}
    assert "key 'gone'" in opened.headers["mem-note"]


async def test_a_browser_may_ask_before_it_has_a_token(http):
    """The question whether the UI's page may call is answered yes, with all that it will send; of another page no."""
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-namespace",
    }
    answer = await http.options("/codec/decode", headers={"Origin": UI, **asked})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, UI)
    assert "x-namespace" in answer.headers["access-control-allow-headers"].lower()
    foreign = await http.options("/codec/decode", headers={"Origin": "http://elsewhere.example", **asked})
    assert "access-control-allow-origin" not in foreign.headers
    assert problem_of(foreign, 403)["remedy"]
    beside = await http.options("/memory/query", headers={"Origin": UI, **asked})
    assert (beside.status_code, "access-control-allow-origin" in beside.headers) == (401, False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer s"}, 403),
        ({"Authorization": "Bearer e"}, 200),
        ({"Authorization": "Bearer e", "Origin": "http://elsewhere.example"}, 403),
        ({"Authorization": "Bearer e", "Origin": "null"}, 403),
    ],
    ids=["nobody", "one-project", "no-page", "another-page", "a-file"],
)
@pytest.mark.parametrize("route", ["decode", "encode"])
async def test_it_takes_the_right_in_every_project(http, route, headers, status):
    """Payloads are of all projects: an administrator of one, a stranger and a page from elsewhere get none."""
    answer = await http.post(f"/codec/{route}", json={"payloads": [CLEAR]}, headers=headers)
    assert answer.status_code == status


async def test_the_note_stays_short_however_many_keys_are_missing(http):
    """A header of many kilobytes would lose the answer on its way; the payloads name their keys themselves."""
    keys = [PayloadKey(f"{'k' * 50}-{number}", os.urandom(32)) for number in range(100)]
    sealed = [(await EncryptingCodec([key]).encode([Payload(data=b"x")]))[0] for key in keys]
    body = {"payloads": [MessageToDict(payload) for payload in sealed]}
    opened = await http.post("/codec/decode", json=body, headers=AS_UI)
    assert opened.json() == body
    assert len(opened.headers["mem-note"]) < 2_000
    assert "90 more" in opened.headers["mem-note"]


@pytest.mark.parametrize("body", [{"payloads": [{"data": 3}]}, {"payloads": 3}, {"payloads": [{"metadata": []}]}])
async def test_what_is_no_payload_is_refused_without_being_quoted(http, body):
    """A body that is none is the caller's fault, and is told in words of ours."""
    answer = await http.post("/codec/decode", json=body, headers=AS_UI)
    assert problem_of(answer, 422)["detail"] == "These are no payloads."


async def test_without_keys_there_is_no_codec():
    """Where nothing is encrypted there is nothing to call, and nothing is told of it."""
    app = _app(codec=None)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gateway") as client:
        assert (await client.post("/codec/decode", json={}, headers=AS_UI)).status_code == 404
        assert "/codec/decode" not in (await client.get("/openapi.json")).json()["paths"]


async def test_the_document_tells_of_it(http):
    """Both routes stand in /openapi.json with an example that they take."""
    paths = (await http.get("/openapi.json")).json()["paths"]
    for route in ("/codec/decode", "/codec/encode"):
        described = paths[route]["post"]
        example = described["requestBody"]["content"]["application/json"]["example"]
        assert (await http.post(route, json=example, headers=AS_UI)).status_code == 200
        assert {"401", "403", "413", "415", "422"} <= set(described["responses"])


def test_origins_are_read_as_browsers_send_them():
    """A slash too many and capitals do no harm; what is no origin is refused."""
    assert parse_origins(" http://UI.example:80/ , https://a,") == ("http://ui.example:80", "https://a")
    for wrong in ("ui.example", "http://a/path", "*", "ftp://a"):
        with pytest.raises(ConfigurationError, match="no origin"):
            parse_origins(wrong)
