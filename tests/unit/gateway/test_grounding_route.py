"""POST /v1/context over a stub client: the fields of the contract and no other, and the stored bytes back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from mem.domain.errors import RequestConflict, Unavailable
from mem.domain.grounding import GroundAnswer, GroundRequest, check_message
from mem.domain.rights import Token, hash_of
from mem.gateway.app import create_app
from mem.gateway.grounding import ANSWER_EXAMPLE, PATH, REQUEST_EXAMPLE, UNKNOWN_EXAMPLE
from mem.gateway.tokens import Tokens
from tests.unit.gateway.test_gateway import ODD_BYTES, StubClient, StubReading, problem_of

ASKED = {"request_id": "r", "user_id": "u", "message": "m"}


class GroundingClient(StubClient):
    """Takes turns as well."""

    async def ground(self, request, *, readable=None):
        check_message(request)
        self.readable = readable
        return self._reply(request)


@pytest.fixture
def stub() -> GroundingClient:
    return GroundingClient()


@pytest.fixture
async def http(stub) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(stub, StubReading()), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_the_example_of_the_contract_is_taken_and_the_stored_bytes_come_back(http, stub):
    """Without a request id the server makes one and says it in a header."""
    nameless = {name: value for name, value in REQUEST_EXAMPLE.items() if name != "request_id"}
    response = await http.post(PATH, json=nameless)
    assert (response.status_code, response.content) == (200, ODD_BYTES)
    assert response.headers["mem-request-id"].startswith("made-")
    assert stub.requests[0].model_dump(exclude_unset=True, exclude={"request_id"}) == nameless


async def test_the_request_id_may_come_by_header_or_body(http, stub):
    """Both name the same request."""
    await http.post(PATH, json={"user_id": "u", "message": "m"}, headers={"Idempotency-Key": "r"})
    await http.post(PATH, json=ASKED)
    assert stub.requests[0] == stub.requests[1]


async def test_what_is_left_out_has_its_default(http, stub):
    """Two fields are needed, all others have a default."""
    await http.post(PATH, json=ASKED)
    asked = stub.requests[0]
    assert (asked.scope_level, asked.read_mode, asked.containers) == ("user_global", "balanced", [])
    assert (asked.budgets.max_output_tokens, asked.budgets.max_candidate_memories) == (400, 30)


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": dict.fromkeys(("app", "source", "model", "trace_id"))},
        {"containers": [{"id": "c", "type": None}]},
        {"budgets": {"max_output_tokens": 1, "max_candidate_memories": 1}},
        {"budgets": {"max_output_tokens": 4000, "max_candidate_memories": 200}},
    ],
    ids=["metadata", "type", "least", "most"],
)
async def test_what_the_contract_takes_is_taken(http, fields):
    """Null where it says so, and the ends of each range."""
    assert (await http.post(PATH, json={**ASKED, **fields})).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"user_id": None}, {"user_id": ""}, {"message": None}, {"message": ""}, {"message": 5},
        {"containers": None}, {"containers": [{"type": "t"}]}, {"containers": [{"id": None}]},
        {"containers": ["c"]}, {"containers": [{"id": "c", "name": "n"}]}, {"scope_level": "all"},
        {"scope_level": None}, {"read_mode": "wild"}, {"read_mode": None}, {"budgets": None},
        {"budgets": {"max_output_tokens": 0}}, {"budgets": {"max_output_tokens": 4001}},
        {"budgets": {"max_candidate_memories": 0}}, {"budgets": {"max_candidate_memories": 201}},
        {"budgets": {"max_output_tokens": "400"}}, {"budgets": {"max_output_tokens": 400.5}},
        {"budgets": {"max_output_tokens": True}}, {"budgets": {"more": 1}}, {"metadata": None},
        {"metadata": {"app": 1}}, {"metadata": {"other": "x"}}, {"extra": 1}, {"readable": ["p"]},
        {"fingerprint": "f"}, {"original_bytes": 1},
    ],
    ids=str,
)  # fmt: skip
async def test_what_breaks_the_contract_is_refused(http, stub, fields):
    """Wrong types, ranges and names are a 422, and nothing is handed on."""
    problem_of(await http.post(PATH, json={**ASKED, **fields}), 422)
    assert stub.requests == []


async def test_a_blank_message_is_refused(http):
    """A message that says nothing is a 422."""
    problem_of(await http.post(PATH, json={**ASKED, "message": " "}), 422)


async def test_errors_are_those_of_the_other_routes(http, stub):
    """A conflict is a 409, an outage a 503 with Retry-After."""
    stub.error = RequestConflict.of("r")
    problem_of(await http.post(PATH, json=ASKED), 409)
    stub.error = Unavailable("No worker.", "Start one.")
    response = await http.post(PATH, json=ASKED)
    problem_of(response, 503)
    assert response.headers["retry-after"]


async def test_the_description_has_true_examples(http):
    """The examples are requests and answers of the contract; a request id is never needed in the body."""
    document = (await http.get("/openapi.json")).json()
    described = document["paths"][PATH]["post"]
    asked = described["requestBody"]["content"]["application/json"]
    assert asked["example"] == REQUEST_EXAMPLE
    assert asked["schema"] == {"$ref": "#/components/schemas/GroundRequest"}
    assert set(document["components"]["schemas"]["GroundRequest"]["required"]) == {"user_id", "message"}
    GroundRequest.model_validate(asked["example"])
    content = described["responses"]["200"]["content"]["application/json"]
    for each in (ANSWER_EXAMPLE, UNKNOWN_EXAMPLE):
        assert GroundAnswer.model_validate(each).model_dump(mode="json") == each
        assert each in [one["value"] for one in content["examples"].values()]
    assert {"401", "403", "409", "413", "422", "503"} <= set(described["responses"])


async def test_a_caller_is_told_of_the_projects_of_its_token_alone(stub):
    """What the token may read travels with the turn; a token that may read nothing is refused."""
    reader = Token(name="reader", sha256=hash_of(b"reader"), read=["p"])
    writer = Token(name="writer", sha256=hash_of(b"writer"), write=["p"])
    app = create_app(stub, StubReading(), Tokens([reader, writer]))
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        problem_of(await client.post(PATH, json=ASKED), 401)
        problem_of(await client.post(PATH, json=ASKED, headers={"Authorization": "Bearer writer"}), 403)
        assert stub.requests == []
        assert (await client.post(PATH, json=ASKED, headers={"Authorization": "Bearer reader"})).status_code == 200
    assert stub.readable == ["p"]
