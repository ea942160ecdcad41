"""One memory over HTTP: what the store tells, byte for byte, or a problem document that says why not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from mem.domain.errors import AmbiguousPrefix, ConfigurationError, InvalidRequest, NotFound, Unavailable
from mem.domain.shown import ShownMemory
from mem.gateway.app import POSTED, create_app
from mem.gateway.described import SHOWN_EXAMPLE
from tests.unit.gateway.test_gateway import StubClient, problem_of

SHA = SHOWN_EXAMPLE["sha"]


class StubReading:
    """Takes what the route asks of the store, and gives a fixed memory or an error."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def show(self, sha: str, *, readable=None) -> ShownMemory:
        self.asked.append(sha)
        if self.error is not None:
            raise self.error
        return ShownMemory.model_validate(SHOWN_EXAMPLE)


@pytest.fixture
def reading() -> StubReading:
    return StubReading()


@pytest.fixture
async def http(reading) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(StubClient(), reading), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_memory_is_asked_for_by_its_sha(http, reading):
    """What stands in the URL goes on as it is, and the answer is the document of the contract."""
    response = await http.get(f"/memory/{SHA[:12]}")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.content == ShownMemory.model_validate(SHOWN_EXAMPLE).model_dump_json().encode()
    assert response.json() == SHOWN_EXAMPLE
    await http.get("/memory/LATEST%0a")
    assert reading.asked == [SHA[:12], "LATEST\n"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidRequest("The cause.", "The remedy."), 422),
        (NotFound("The cause.", "The remedy."), 404),
        (Unavailable("The cause.", "The remedy."), 503),
        (ConfigurationError("The cause.", "The remedy."), 500),
    ],
    ids=str,
)
async def test_an_error_of_the_store_is_a_problem(http, reading, error, status):
    """It says what went wrong and what to do."""
    reading.error = error
    found = problem_of(await http.get("/memory/abcd"), status)
    assert (found["title"], found["detail"], found["remedy"]) == (type(error).__name__, "The cause.", "The remedy.")


async def test_a_prefix_of_several_lists_them(http, reading):
    """A machine finds the shas in a field of their own."""
    reading.error = AmbiguousPrefix("Several.", "Give more digits.", candidates=["a" * 64, "b" * 64])
    response = await http.get("/memory/abcd")
    assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
    found = response.json()
    assert (found["title"], found["candidates"]) == ("AmbiguousPrefix", ["a" * 64, "b" * 64])


@pytest.mark.parametrize("name", POSTED)
async def test_what_is_posted_to_is_no_memory(http, reading, name):
    """The other names below /memory are told to be the wrong method, not looked up as shas."""
    response = await http.get(f"/memory/{name}")
    problem_of(response, 405)
    assert (response.headers["allow"], reading.asked) == ("POST", [])


def test_all_that_is_posted_to_is_named(http):
    """A route that is added later has to be known here, too."""
    posted = {route.path for route in create_app(StubClient()).routes if "POST" in getattr(route, "methods", ())}
    assert {path for path in posted if path.startswith("/memory/")} == {f"/memory/{name}" for name in POSTED}


async def test_parameters_are_refused(http, reading):
    """There are none, so one is a mistake."""
    assert "no parameters" in problem_of(await http.get("/memory/abcd?format=text"), 422)["detail"]
    assert reading.asked == []


async def test_without_a_database_it_is_a_problem():
    """A gateway may run where none is known, and says so."""
    transport = httpx2.ASGITransport(create_app(StubClient()), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        assert "knows no database" in problem_of(await client.get("/memory/abcd"), 503)["detail"]


async def test_the_schema_shows_a_memory_with_a_true_example(http):
    """The parameter, the fields of the answer with an example that is one, and when it is which problem."""
    described = (await http.get("/openapi.json")).json()["paths"]["/memory/{sha}"]["get"]
    (parameter,) = described["parameters"]
    assert (parameter["name"], parameter["in"]) == ("sha", "path")
    assert "4 to 64 hex digits" in parameter["description"]
    content = described["responses"]["200"]["content"]["application/json"]
    assert content["example"] == SHOWN_EXAMPLE
    assert ShownMemory.model_validate(SHOWN_EXAMPLE).model_dump(mode="json") == SHOWN_EXAMPLE
    assert content["schema"]
    assert "candidates" in described["responses"]["422"]["description"]
    assert {"404", "422", "503"} <= set(described["responses"])
