"""Bad input for every field of every route, made from the OpenAPI document, so that a new route is tried by itself.

What the document allows is taken, and what it does not is a problem document with status 422 or 413.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import httpx2
import jsonschema_rs
import pytest

from mem.domain.errors import InvalidRequest
from mem.gateway.limits import MEGABYTE
from mem.gateway.structure import MAX_DEPTH, MAX_PARTS, check_structure
from tests.unit.gateway.contract import contract_app
from tests.unit.gateway.test_gateway import problem_of

APP = contract_app()
DOCUMENT = APP.openapi()
POSTS = {path: item["post"] for path, item in DOCUMENT["paths"].items() if "post" in item}
GETS = {path: item["get"] for path, item in DOCUMENT["paths"].items() if "get" in item}
EXAMPLES = {
    route: operation["requestBody"]["content"]["application/json"]["example"] for route, operation in POSTS.items()
}
VALIDATORS = {
    route: jsonschema_rs.validator_for(
        {
            **operation["requestBody"]["content"]["application/json"]["schema"],
            "components": DOCUMENT["components"],
        }
    )
    for route, operation in POSTS.items()
}
JSON = {"content-type": "application/json"}

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "a float": 1.5,
    "a whole float": 5.0,
    "a large number": 2**63,
    "a huge number": 10**400,
    "a text": "x",
    "an empty text": "",
    "blank": " \n",
    "a number as text": "5",
    "nul": "a\x00b",
    "line ends": "a\r\nX-Injected: b",
    "half a character": "a\ud800b",
    "invisible": "\u202e\u200b",
    "many characters": "ü" * 9000,
    "an empty list": [],
    "a list": [1, "x", None],
    "a long list": ["x"] * 1500,
    "an empty object": {},
    "an object": {"$ref": "x", "__proto__": 1},
    "nested": [[[[{"a": [1]}]]]],
}
RAW = {
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "beyond a float": b"1e999",
    "digits without end": b"9" * 5000,
    "hexadecimal": b"0x10",
    "octal": b"010",
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "lists without an end": b"[" * MEGABYTE,
    "many lists": b"[" + b"[]," * 100_000 + b"[]]",
    "a field twice": b'{"a":1,"a":1}',
    "single quotes": b"'x'",
    "no utf-8": b'"\xff\xfe"',
    "a raw control character": b'"a\nb"',
    "an unknown escape": b'"\\x41"',
    "half an escape": b'"\\ud8',
    "a comment": b"/* */ 1",
    "a comma too many": b"[1,]",
    "nothing": b"",
}


class Place(NamedTuple):
    """A field of a body: where it stands in the example, and how it is called."""

    route: str
    path: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"{self.route} {'.'.join(map(str, self.path))}"


def places() -> Iterator[Place]:
    """Every field that the body of a route can have, those inside of others too."""
    for route, operation in POSTS.items():
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        yield from (Place(route, path) for path in _fields(schema, ()))
        yield Place(route, ("surprise",))


def _fields(schema: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name)
        yield from _fields(inner, (*path, name))
    if "items" in schema:
        yield (*path, 0)
        yield from _fields(schema["items"], (*path, 0))
    for option in schema.get("anyOf", []):
        if "properties" not in option:
            yield from _fields(option, path)


def body_with(place: Place, value: Any) -> Any:
    """The example of the route with a value in that place, and what it takes to get there."""
    found = copy.deepcopy(EXAMPLES[place.route])
    at: Any = found
    for step, following in itertools.pairwise(place.path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(at, list):
            at[:] = at[:1] or [empty]
        elif not isinstance(at.get(step), type(empty)):
            at[step] = empty
        at = at[step]
    if isinstance(at, list):
        at[:] = [value]
    else:
        at[place.path[-1]] = value
    return found


def is_allowed(route: str, body: Any, sent: bytes) -> bool:
    """Whether the document allows it, and it is text that UTF-8 can carry."""
    return b"\\ud800" not in sent and VALIDATORS[route].is_valid(body)


@pytest.fixture(scope="module")
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(APP, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


PLACES = sorted(set(places()), key=str)


def test_every_field_is_a_place():
    """Those of a list of objects are found, too."""
    assert Place("/memory/accept", ("evidence", 0, "source")) in PLACES
    assert Place("/memory/accept", ("parents", 0)) in PLACES
    assert {place.route for place in PLACES} == set(POSTS)


def some(values: dict[str, Any], place: Place) -> dict[str, Any]:
    """A fourth of them, beginning with another one from place to place, so that each stands in several."""
    return dict(itertools.islice(values.items(), PLACES.index(place) % 4, None, 4))


def each_value(values: dict[str, Any], places: list[Place]) -> list[Any]:
    """Each place with some of the values, and with all of them where the slow tests run."""
    return [
        *(pytest.param(place, some(values, place), id=str(place)) for place in places),
        *(pytest.param(place, values, id=f"{place} all", marks=pytest.mark.slow) for place in places),
    ]


@pytest.mark.parametrize(("place", "values"), each_value(VALUES, PLACES))
async def test_a_value_is_taken_where_the_document_allows_it_and_refused_else(http, place, values):
    """Whatever stands in a field, the answer is a good one or a problem document that quotes no value."""
    for name, value in values.items():
        body = body_with(place, value)
        sent = json.dumps(body).encode()
        response = await http.post(place.route, content=sent, headers=JSON)
        if response.status_code != 413 and is_allowed(place.route, body, sent):
            assert response.status_code == 200, (name, response.text)
        else:
            found = problem_of(response, 413 if response.status_code == 413 else 422)
            assert found["remedy"], name
            assert len(response.content) < 3000, name
            assert "X-Injected" not in response.text, name


LARGE = [
    pytest.param(place, marks=[] if place.route == "/memory/context" else pytest.mark.slow, id=str(place))
    for place in PLACES
]


@pytest.mark.parametrize("place", LARGE)
async def test_five_megabytes_in_a_field_are_a_text_or_a_problem(http, place):
    """A log may be as long; all else is told in few words that it is too long, or no text."""
    body = body_with(place, "x" * (5 * MEGABYTE))
    response = await http.post(place.route, content=json.dumps(body).encode(), headers=JSON)
    if response.status_code == 200:
        assert VALIDATORS[place.route].is_valid(body)
    else:
        assert problem_of(response, response.status_code)["remedy"]
        assert response.status_code in (413, 422)
        assert len(response.content) < 3000


@pytest.mark.parametrize(("place", "values"), each_value(RAW, [place for place in PLACES if len(place.path) == 1]))
async def test_what_is_no_json_is_refused_wherever_it_stands(http, place, values):
    """Lenient readers take some of it; here it is a 422, before anything is made of it."""
    before, after = json.dumps(body_with(place, "@@")).encode().split(b'"@@"')
    for name, raw in values.items():
        if name == "nothing" and isinstance(place.path[-1], int):
            continue  # an empty list is JSON
        response = await http.post(place.route, content=before + raw + after, headers=JSON)
        assert problem_of(response, 422)["remedy"], name


@pytest.mark.parametrize("route", POSTS)
@pytest.mark.parametrize(
    "declared",
    [
        None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "application/xml", "application/jsonp", "application/json; charset=latin-1", "application/json; charset=utf-16",
        "*/*",
        "application/json, text/plain", "json",
    ],
)  # fmt: skip
async def test_a_body_of_another_type_is_415(http, route, declared):
    """A form of a web page cannot be sent here by mistake; the remedy names the header."""
    headers = {} if declared is None else {"content-type": declared}
    response = await http.post(route, content=b"{}", headers=headers)
    assert "Content-Type: application/json" in problem_of(response, 415)["remedy"]


@pytest.mark.parametrize("route", POSTS)
@pytest.mark.parametrize(
    "declared",
    [
        "application/json", "APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"',
        "application/vnd.mem+json", "application/problem+json; charset=utf8", "application/json; profile=x",
    ],
)  # fmt: skip
async def test_json_by_any_of_its_names_is_taken(http, route, declared):
    """With the character set that JSON has, or none."""
    response = await http.post(route, content=json.dumps(EXAMPLES[route]).encode(), headers={"content-type": declared})
    assert response.status_code == 200


@pytest.mark.parametrize("route", POSTS)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip", "x"])
async def test_a_compressed_body_is_415(http, route, encoding):
    """Nothing is unpacked here, so a small body cannot become a large one."""
    response = await http.post(route, content=b"\x1f\x8b", headers={**JSON, "content-encoding": encoding})
    assert "Content-Encoding" in problem_of(response, 415)["remedy"]
    assert response.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("route", POSTS)
async def test_two_keys_are_refused(http, route):
    """A header that stands twice with two values names no request."""
    headers = [*JSON.items(), ("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    response = await http.post(
        route, content=json.dumps({**EXAMPLES[route], "request_id": None}).encode(), headers=headers
    )
    assert "twice" in problem_of(response, 422)["detail"]


PARAMETERS = [
    (route, parameter["name"], parameter["in"])
    for route, operation in GETS.items()
    for parameter in operation.get("parameters", [])
]
TEXTS = [
    "",
    "%00",
    "%0d%0aX-Injected:%20b",
    "%ff",
    "%ed%a0%80",
    "x" * 9000,
    "NaN",
    "1e9",
    "-1",
    "0x1",
    "%2e%2e",
    "*",
    "'--",
]


@pytest.mark.parametrize(("route", "name", "where"), PARAMETERS)
async def test_a_parameter_is_taken_or_refused(http, route, name, where):
    """Whatever stands in a URL, the answer is a good one or a problem document."""
    for text in TEXTS:
        url = route.replace(f"{{{name}}}", text) if where == "path" else f"{route}?{name}={text}"
        response = await http.get(url)
        assert response.status_code in {200, 404, 422}, text
        assert "x-injected" not in response.headers
        if response.status_code != 200:
            problem_of(response, response.status_code)


@pytest.mark.parametrize("route", [route for route in GETS if route.startswith(("/memory", "/v1"))])
async def test_an_unknown_parameter_is_refused(http, route):
    """A name that nobody reads is a mistake."""
    response = await http.get(route.replace("{sha}", "abcd") + "?surprise=1")
    assert problem_of(response, 422)["remedy"]


# --- structure ---


@pytest.mark.parametrize(
    "text", [b'"[[[["', b'"\\"[["', b'{"a":"}}]]"}', b'"\\\\"', b"", b"]]]", b'"no end [[', b"\x00"]
)
def test_what_stands_in_texts_has_no_structure(text):
    """Brackets in a log are no lists; what is no JSON is for the parser to refuse."""
    check_structure(text)


@pytest.mark.parametrize(("body", "says"), [(b"[" * (MAX_DEPTH + 1), "deep"), (b"," * (MAX_PARTS + 1), "many")])
def test_depth_and_parts_have_a_limit(body, says):
    """The limit itself is allowed, one more is not."""
    check_structure(body[1:])
    with pytest.raises(InvalidRequest, match=says):
        check_structure(body)
