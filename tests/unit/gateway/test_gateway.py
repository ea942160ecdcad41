"""The HTTP door over a stub client and a stub store: requests in, exact bytes or problem documents out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from mem.client import Reply
from mem.domain.errors import (
    ConfigurationError,
    InvalidRequest,
    MemError,
    NotFound,
    RequestConflict,
    TooLarge,
    Unavailable,
)
from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.domain.ids import fingerprint
from mem.domain.lookup import check_inputs
from mem.domain.query import check_question
from mem.gateway.app import create_app
from mem.gateway.described import GAPS_EXAMPLE
from mem.gateway.limits import Limits
from mem.gateway.problems import problem

MAX_BODY_BYTES = Limits().body_bytes
JSON = {"content-type": "application/json"}
ODD_BYTES = b'{"tier":null,  "b":1,"a":"\xc3\xbc","score":0.50}\n'
CONTEXT = "/memory/context"
ACCEPT = "/memory/accept"
QUERY = "/memory/query"
GAPS = "/memory/gaps"
QUESTION = {"request_id": "r", "project": "p", "question": "why?", "levels": ["L1", "R"], "k": 50, "explain": True}
ASKED = {"request_id": "r", "project": "p", "tool": "npm"}
BROUGHT = {"request_id": "r", "project": "p", "level": "L1", "text": "t"}


class StubClient:
    """Takes what a route hands on, and gives fixed bytes or an error."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.error: Exception | None = None
        self.away: set[str] = set()
        self.notes: tuple[str, ...] = ()

    async def check(self, *needed: str) -> None:
        if self.error is not None:
            raise self.error
        if gone := self.away.intersection(needed):
            raise Unavailable(f"No worker of {gone} polls.")

    async def look_up(self, request, *, readable=None):
        check_inputs(request)
        return self._reply(request)

    async def accept(self, request, *, readable=None):
        return self._reply(request)

    async def query(self, request, *, readable=None):
        check_question(request)
        return self._reply(request)

    def _reply(self, request):
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return Reply(None, ODD_BYTES, self.notes)


class StubReading:
    """Takes what a route asks of the store, and gives a fixed answer or an error."""

    configured = False

    def __init__(self) -> None:
        self.requests: list[GapsRequest] = []
        self.error: Exception | None = None

    async def gaps(self, request: GapsRequest, *, readable=None) -> GapsAnswer:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return GapsAnswer.model_validate(GAPS_EXAMPLE)


@pytest.fixture
def stub() -> StubClient:
    return StubClient()


@pytest.fixture
def reading() -> StubReading:
    return StubReading()


@pytest.fixture
async def http(stub, reading) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(stub, reading), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def problem_of(response, status: int) -> dict[str, Any]:
    """The problem document of a response, held to RFC 9457."""
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    found = response.json()
    assert set(found) - {"remedy"} == {"type", "title", "status", "detail"}
    assert (found["status"], found["type"]) == (status, "about:blank")
    assert found["title"]
    assert found["detail"]
    return found


@pytest.mark.parametrize(("path", "body"), [(CONTEXT, ASKED), (ACCEPT, BROUGHT), (QUERY, QUESTION)])
async def test_the_stored_bytes_are_passed_on_as_they_are(http, stub, path, body):
    """Order, spaces and digits of the stored body stay; the request id stands in a header."""
    response = await http.post(path, json=body)
    assert (response.status_code, response.content) == (200, ODD_BYTES)
    assert (response.headers["content-type"], response.headers["mem-request-id"]) == ("application/json", "r")
    assert "mem-note" not in response.headers
    assert stub.requests[0].model_dump(exclude_unset=True) == body


async def test_what_the_door_did_stands_in_a_header(http, stub):
    """Notes never enter the stored body."""
    stub.notes = ("Secrets were redacted: jwt.", "A long log was distilled to its failing parts.")
    response = await http.post(CONTEXT, json=ASKED)
    assert response.headers["mem-note"] == " ".join(stub.notes)
    assert response.content == ODD_BYTES


@pytest.mark.parametrize(
    ("header", "inside", "used"),
    [("h", None, "h"), (None, "b", "b"), ("same", "same", "same"), ("h", ..., "h")],
)
async def test_the_request_id_may_stand_in_header_or_body(http, stub, header, inside, used):
    """Either place will do, and both if they agree; a null in the body is none."""
    body = {key: value for key, value in ASKED.items() if key != "request_id"}
    body |= {} if inside is None else {"request_id": None if inside is ... else inside}
    response = await http.post(CONTEXT, json=body, headers={"Idempotency-Key": header} if header else {})
    assert (response.headers["mem-request-id"], stub.requests[0].request_id) == (used, used)


async def test_two_different_request_ids_are_refused(http, stub):
    """Which one was meant nobody can say."""
    response = await http.post(CONTEXT, json=ASKED, headers={"Idempotency-Key": "other"})
    assert "Idempotency-Key" in problem_of(response, 422)["detail"]
    assert stub.requests == []


@pytest.mark.parametrize("written", [b"7.0", b"0.7e1", b"7"])
async def test_a_whole_number_is_one_however_it_is_written(http, stub, written):
    """As JSON Schema has it; one with a part behind the point is none."""
    body = b'{"project": "p", "question": "Why?", "k": %s}'
    await http.post("/memory/query", content=body % written, headers={"content-type": "application/json"})
    assert stub.requests[0].k == 7
    other = await http.post("/memory/query", content=body % b"7.5", headers={"content-type": "application/json"})
    assert "k:" in problem_of(other, 422)["detail"]


async def test_a_request_without_an_id_gets_a_new_one(http, stub):
    """Two sends without an id are two requests, each told its id, also where no answer came."""
    body = {key: value for key, value in ASKED.items() if key != "request_id"}
    made = [(await http.post(CONTEXT, json=body)).headers["mem-request-id"] for _ in range(2)]
    assert [each.request_id for each in stub.requests] == made
    assert len(set(made)) == 2
    stub.error = Unavailable("Temporal does not answer.", "Start it.")
    response = await http.post(CONTEXT, json=body)
    assert response.headers["mem-request-id"] == stub.requests[-1].request_id


async def test_the_place_of_the_id_never_changes_the_fingerprint(http, stub):
    """A retry that moves the id from body to header is the same request."""
    await http.post(CONTEXT, json=ASKED)
    body = {key: value for key, value in ASKED.items() if key != "request_id"}
    await http.post(CONTEXT, json=body, headers={"Idempotency-Key": "r"})
    marks = {fingerprint(each.model_dump(mode="json", exclude_unset=True)) for each in stub.requests}
    assert len(marks) == 1


BAD_BODIES = {
    "empty": b"",
    "blank": b" \n",
    "no json": b"tool=npm",
    "cut off": b'{"project":"p"',
    "two documents": b"{}{}",
    "binary": bytes(range(256)),
    "not utf-8": b'{"project":"\xff"}',
    "array": b"[]",
    "text": b'"p"',
    "null": b"null",
    "number": b"5",
    "a field twice": b'{"project":"p","project":"p","request_id":"r","tool":"npm"}',
    "a field twice inside": b'{"project":"p","tool":"npm","x":{"a":1,"a":1}}',
    "nan": b'{"project":"p","tool":"npm","budget":NaN}',
    "infinity": b'{"project":"p","tool":"npm","budget":-Infinity}',
    "huge float": b'{"project":"p","tool":"npm","budget":1e999}',
    "huge integer": b'{"project":"p","tool":"npm","budget":' + b"9" * 5000 + b"}",
    "nested too deep": b'{"project":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "nested deep": b'{"project":' + b"[" * 500 + b"]" * 500 + b"}",
    "surrogate": b'{"project":"p","task":"\\ud800"}',
    "surrogate in a log": b'{"project":"p","signature_source":"a\\udfffb"}',
    "surrogate in a name": b'{"project":"p","tool":"npm","\\ud800":1}',
    "surrogate in an id": b'{"project":"p","tool":"npm","request_id":"\\ud800"}',
}


@pytest.mark.parametrize("case", list(BAD_BODIES))
@pytest.mark.parametrize("path", [CONTEXT, ACCEPT, QUERY])
async def test_a_body_that_is_no_request_is_a_problem(http, stub, path, case):
    """Whatever is sent, the answer is a problem document with status 422, and nothing is handed on."""
    response = await http.post(path, content=BAD_BODIES[case], headers=JSON)
    assert problem_of(response, 422)
    assert stub.requests == []


@pytest.mark.parametrize("case", ["nan", "infinity", "a field twice", "a field twice inside", "nested too deep"])
async def test_what_only_lenient_readers_take_is_no_json(http, case):
    """Constants that JSON lacks, names that stand twice and depth without end are told as such."""
    detail = problem_of(await http.post(CONTEXT, content=BAD_BODIES[case], headers=JSON), 422)["detail"]
    assert detail.startswith(("The body is no JSON:", "The body is nested too deeply.", "The body has too many"))


def test_a_problem_can_quote_what_no_encoding_carries():
    """Half a character in a message is shown as its escape, and a message without end is cut."""
    assert json.loads(problem(422, "a\ud800b").body)["detail"] == "a\\ud800b"
    assert len(problem(422, "x" * 10_000).body) < 3000


BAD_FIELDS = {
    "none of the three": {"tool": None},
    "blank": {"tool": None, "signature_source": " \n"},
    "no project": {"project": None},
    "project too long": {"project": "p" * 65},
    "project with line feed": {"project": "p\n"},
    "project in another script": {"project": "проект"},
    "empty project": {"project": ""},
    "request id too long": {"request_id": "r" * 201},
    "empty request id": {"request_id": ""},
    "request id with line feed": {"request_id": "r\n"},
    "request id as number": {"request_id": 5},
    "unknown field": {"surprise": 1},
    "field of the worker": {"fingerprint": "f" * 64},
    "log as list": {"signature_source": ["line"]},
    "tool as object": {"tool": {}},
    "budget as text": {"budget": "6000"},
    "budget as float": {"budget": 6000.5},
    "no budget": {"budget": 0},
    "too much budget": {"budget": 100_001},
    "scope": {"scope": "galaxy"},
}


@pytest.mark.parametrize("case", list(BAD_FIELDS))
async def test_a_field_outside_the_contract_is_a_problem(http, stub, case):
    """The problem names the field, or what to set, and quotes no value."""
    response = await http.post(CONTEXT, json={**ASKED, **BAD_FIELDS[case]})
    found = problem_of(response, 422)
    (*_, field) = BAD_FIELDS[case]
    assert field in found["detail"] or "signature_source" in found.get("remedy", "") or case == "blank"
    assert stub.requests == []


@pytest.mark.parametrize(
    "fields", [{"level": "L0"}, {"text": None}, {"evidence": [{}]}, {"visibility": "all"}], ids=str
)
async def test_a_candidate_outside_the_contract_is_a_problem(http, stub, fields):
    """Acceptances are held to their own contract."""
    found = problem_of(await http.post(ACCEPT, json={**BROUGHT, **fields}), 422)
    assert next(iter(fields)) in found["detail"]
    assert stub.requests == []


BAD_QUESTIONS = {
    "none": {"question": None},
    "empty": {"question": ""},
    "blank": {"question": " \n"},
    "too long": {"question": "x" * 8193},
    "as list": {"question": ["why?"]},
    "no hit wanted": {"k": 0},
    "too many hits wanted": {"k": 51},
    "k as text": {"k": "5"},
    "k as truth": {"k": True},
    "unknown level": {"levels": ["L3"]},
    "no level": {"levels": []},
    "levels as text": {"levels": "L1"},
    "explain as text": {"explain": "yes"},
    "a scope": {"scope": "all-projects"},
}


@pytest.mark.parametrize("case", list(BAD_QUESTIONS))
async def test_a_question_outside_the_contract_is_a_problem(http, stub, case):
    """The problem names the field and says what to do; nothing is handed on."""
    found = problem_of(await http.post(QUERY, json={**QUESTION, **BAD_QUESTIONS[case]}), 422)
    assert next(iter(BAD_QUESTIONS[case])) in found["detail"]
    assert found["remedy"]
    assert stub.requests == []


async def test_the_limits_of_a_question_are_inside_the_contract(http, stub):
    """The longest question, the fewest and the most hits and all levels are taken."""
    longest = {"question": "x" * 8192, "levels": ["L0", "L1", "L2", "R"]}
    for k in (1, 50):
        assert (await http.post(QUERY, json={**QUESTION, **longest, "k": k})).status_code == 200
    assert [each.k for each in stub.requests] == [1, 50]


async def test_a_bad_request_id_in_the_header_is_a_problem(http, stub):
    """The header is held to the same characters."""
    body = {key: value for key, value in ASKED.items() if key != "request_id"}
    for bad in ("é".encode("latin-1"), b"r" * 201):
        problem_of(await http.post(CONTEXT, json=body, headers={"Idempotency-Key": bad}), 422)
    assert stub.requests == []


async def test_many_faults_are_told_in_few_words(http):
    """A body with a thousand faults, or a name without end, gets an answer that fits a screen, values left out."""
    found = problem_of(await http.post(CONTEXT, json={**ASKED, **{f"field{n}": "SECRET" for n in range(1000)}}), 422)
    assert "and 995 more" in found["detail"]
    assert "SECRET" not in found["detail"]
    found = problem_of(await http.post(CONTEXT, json={**ASKED, "n" * 100_000: 1}), 422)
    assert len(found["detail"]) < 3000


async def test_a_body_over_32_mb_is_refused_by_its_length(http, stub):
    """A declared length over the limit is refused before anything is read."""

    async def never() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    response = await http.post(CONTEXT, content=never(), headers={**JSON, "Content-Length": str(MAX_BODY_BYTES + 1)})
    assert "32 MB" in problem_of(response, 413)["detail"]
    assert stub.requests == []


async def test_a_body_over_32_mb_is_refused_while_it_comes():
    """Without a declared length the reading stops soon after the limit."""
    sent = 0

    async def receive():
        nonlocal sent
        sent += 1024 * 1024
        return {"type": "http.request", "body": b" " * 1024 * 1024, "more_body": True}

    status = await raw_post(receive)
    assert status == 413
    assert sent <= MAX_BODY_BYTES + 2 * 1024 * 1024


async def test_a_caller_who_goes_away_gets_no_fault():
    """A body that breaks off is the caller's problem, not an error of the gateway."""

    async def receive():
        return {"type": "http.disconnect"}

    assert await raw_post(receive) == 422


async def raw_post(receive) -> int:
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": CONTEXT, "raw_path": CONTEXT.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")],
        "server": ("test", 80), "client": ("test", 1),
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message):
        sent.append(message)

    await create_app(StubClient())(scope, receive, send)
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/problem+json"
    return sent[0]["status"]


async def test_a_large_body_below_the_limit_is_handed_on(http, stub):
    """The gateway takes what is below 32 MB; the client behind it distils."""
    log = "x" * (4 * 1024 * 1024)
    response = await http.post(CONTEXT, json={**ASKED, "signature_source": log})
    assert (response.status_code, len(stub.requests[0].signature_source)) == (200, len(log))


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (InvalidRequest, 422),
        (TooLarge, 413),
        (RequestConflict, 409),
        (NotFound, 404),
        (Unavailable, 503),
        (ConfigurationError, 500),
        (MemError, 500),
    ],
)
@pytest.mark.parametrize(("path", "body"), [(CONTEXT, ASKED), (ACCEPT, BROUGHT), (QUERY, QUESTION)])
async def test_each_error_has_its_status_cause_and_remedy(http, stub, path, body, kind, status):
    """The problem says what went wrong, what to do, and for which request; only 503 says when to come back."""
    stub.error = kind("The cause.", "The remedy.")
    response = await http.post(path, json=body)
    found = problem_of(response, status)
    assert (found["title"], found["detail"], found["remedy"]) == (kind.__name__, "The cause.", "The remedy.")
    assert response.headers["mem-request-id"] == "r"
    assert ("retry-after" in response.headers) is (status == 503)
    assert int(response.headers.get("retry-after", "1")) > 0


async def test_an_error_that_nobody_foresaw_gives_nothing_away(http, stub):
    """A bug is a problem document with status 500 that shows neither its message nor its stack."""
    stub.error = KeyError("postgres://app:pw@db/shop")
    response = await http.post(CONTEXT, json=ASKED)
    found = problem_of(response, 500)
    assert "postgres" not in response.text
    assert "KeyError" not in response.text
    assert found["remedy"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("POST", "/memories/context", 404),
        ("POST", "/memory/contexts", 405),
        ("GET", CONTEXT, 405),
        ("DELETE", ACCEPT, 405),
        ("POST", "/healthz", 405),
    ],
)
async def test_an_unknown_route_or_method_is_a_problem(http, method, path, status):
    """The router's own errors are problem documents too; a wrong method says which is right."""
    response = await http.request(method, path)
    problem_of(response, status)
    assert ("allow" in response.headers) is (status == 405)


async def test_health_is_the_process_and_readiness_the_parts(http, stub):
    """`/healthz` answers whatever is down; `/readyz` says what is, and when to ask again."""
    assert (await http.get("/readyz")).json() == {"status": "ready", "writes": "ok", "database": "none"}
    stub.away = {"writes"}
    assert (await http.get("/readyz")).json() == {"status": "ready", "writes": "away", "database": "none"}
    stub.error = Unavailable("No worker polls task queue 'mem'.", "Start one: `mem worker`.")
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    response = await http.get("/readyz")
    assert problem_of(response, 503)["detail"] == "No worker polls task queue 'mem'."
    assert response.headers["retry-after"]


async def test_the_schema_shows_each_request_without_demanding_an_id(http):
    """The generated document holds the fields of each request; the id is optional over HTTP."""
    schema = (await http.get("/openapi.json")).json()
    for path, needed in (
        (CONTEXT, {"project"}),
        (ACCEPT, {"project", "level", "text"}),
        (QUERY, {"project", "question"}),
    ):
        (reference,) = schema["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"].values()
        body = schema["components"]["schemas"][reference.rpartition("/")[2]]
        assert set(body["required"]) == needed
        assert "request_id" in body["properties"]
    assert json.dumps(schema)


async def test_an_agent_cannot_overrule_the_gate(http, stub):
    """Overruling is for a person at the command line: a body that asks for it is refused, and nothing is handed on."""
    found = problem_of(await http.post(ACCEPT, json={**BROUGHT, "override": "I know better."}), 422)
    assert "override" in found["detail"]
    assert stub.requests == []


# --- gaps ---


async def test_gaps_are_asked_by_the_parameters_of_the_url(http, reading):
    """Each goes on under its name, one that is not given does not, and the answer is JSON."""
    response = await http.get(GAPS, params={"project": "p", "tool": "npm", "since": "7d", "limit": "1000"})
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json() == GAPS_EXAMPLE
    await http.get(GAPS)
    assert [each.model_dump(exclude_unset=True) for each in reading.requests] == [
        {"project": "p", "tool": "npm", "since": "7d", "limit": 1000},
        {},
    ]


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("?project=a%20b", "project"),
        ("?project=", "project"),
        ("?project=p%0a", "project"),
        ("?tool=", "tool"),
        ("?since=yesterday", "since"),
        ("?since=2026-02-30", "since"),
        ("?limit=0", "limit"),
        ("?limit=1001", "limit"),
        ("?limit=", "limit"),
        ("?limit=ten", "limit"),
        ("?limit=1&limit=2", "given twice"),
        ("?surprise=1", "surprise"),
        ("?" + "&".join(f"f{n}=SECRET" for n in range(1000)), "and 995 more"),
    ],
)
async def test_a_parameter_outside_the_contract_is_a_problem(http, reading, url, field):
    """The problem names it, quotes no value, and says what to do; nothing is asked."""
    found = problem_of(await http.get(GAPS + url), 422)
    assert field in found["detail"]
    assert "SECRET" not in found["detail"]
    assert found["remedy"]
    assert reading.requests == []


@pytest.mark.parametrize(("kind", "status"), [(Unavailable, 503), (ConfigurationError, 500), (InvalidRequest, 422)])
async def test_an_error_of_the_store_is_a_problem(http, reading, kind, status):
    """It says what went wrong and what to do; only 503 says when to come back."""
    reading.error = kind("The cause.", "The remedy.")
    response = await http.get(GAPS)
    found = problem_of(response, status)
    assert (found["title"], found["detail"], found["remedy"]) == (kind.__name__, "The cause.", "The remedy.")
    assert ("retry-after" in response.headers) is (status == 503)


async def test_without_a_database_gaps_are_a_problem_and_all_else_goes_on(stub):
    """A gateway may run where none is known: it says so, and hands on what the worker answers."""
    transport = httpx2.ASGITransport(create_app(stub), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        found = problem_of(await client.get(GAPS), 503)
        assert "knows no database" in found["detail"]
        assert "MEM_DATABASE_URL" in found["remedy"]
        assert (await client.post(CONTEXT, json=ASKED)).status_code == 200


async def test_gaps_are_read_and_nothing_else(http):
    """Another method is refused and told which is right."""
    response = await http.post(GAPS, json={})
    problem_of(response, 405)
    assert response.headers["allow"] == "GET"


async def test_the_schema_shows_the_gaps_with_a_true_example(http):
    """Parameters with their limits, the fields of the answer, and an example that is one."""
    described = (await http.get("/openapi.json")).json()["paths"][GAPS]["get"]
    by_name = {each["name"]: each["schema"] for each in described["parameters"]}
    assert set(by_name) == {"project", "tool", "since", "limit"}
    assert (by_name["limit"]["minimum"], by_name["limit"]["maximum"], by_name["limit"]["default"]) == (1, 1000, 20)
    content = described["responses"]["200"]["content"]["application/json"]
    assert GapsAnswer.model_validate(content["example"]).model_dump(mode="json") == content["example"]
    assert content["schema"]
    assert {"422", "503"} <= set(described["responses"])
