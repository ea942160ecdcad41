"""The OpenAPI document is complete and true: what it shows is answered as it says, and all else is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from mem.gateway.openapi import ALL, POSTED
from mem.gateway.problems import problem
from tests.unit.gateway.contract import contract_app

APP = contract_app()
DOCUMENT = APP.openapi()
METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
}
LOADED = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig())
LOADED.app = APP
LABELS = [operation.ok().label for operation in LOADED.get_all_operations()]


def holds(schema: Any, value: Any) -> bool:
    """Whether a value is what a schema of the document says."""
    return jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).is_valid(value)


def test_every_route_is_in_the_document():
    """None is hidden but the document itself."""
    served = {
        f"{method} {route.path}" for route in APP.routes for method in getattr(route, "methods", ()) if method != "HEAD"
    }
    assert served - {"GET /openapi.json"} == set(OPERATIONS) == set(LABELS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_says_what_it_is(name):
    """It has a summary, a known tag and a name of its own."""
    operation = OPERATIONS[name]
    assert operation["summary"]
    assert {*operation["tags"]} <= {tag["name"] for tag in DOCUMENT["tags"]}
    assert [each["operationId"] for each in OPERATIONS.values()].count(operation["operationId"]) == 1


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_has_a_true_example(name):
    """Each status is told in words with an example that its schema allows; an error is a problem document."""
    responses = OPERATIONS[name]["responses"]
    assert {"200", *map(str, ALL)} <= set(responses)
    if "requestBody" in OPERATIONS[name]:
        assert set(map(str, POSTED)) <= set(responses)
    for status, response in responses.items():
        assert response["description"]
        ((media_type, content),) = response["content"].items()
        if media_type == "text/plain":
            continue
        assert media_type == ("application/json" if status == "200" else "application/problem+json")
        shown = (
            [one["value"] for one in content["examples"].values()] if "examples" in content else [content["example"]]
        )
        assert shown
        assert all(holds(content["schema"], one) for one in shown), status
        assert status == "200" or [one["status"] for one in shown] == [int(status)]
        assert ("Retry-After" in response.get("headers", {})) is (status == "503")


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name.startswith("POST ")])
def test_every_body_has_a_true_example_and_an_id_in_two_places(name):
    """The example is a request, and both places of the id are told, and the header that repeats it."""
    operation = OPERATIONS[name]
    content = operation["requestBody"]["content"]["application/json"]
    assert holds(content["schema"], content["example"])
    assert not holds(content["schema"], {**content["example"], "surprise": 1})
    assert "Idempotency-Key" in operation["description"]
    assert "Mem-Request-Id" in operation["responses"]["200"]["headers"]


def test_a_problem_is_what_its_schema_says():
    """With and without what not every problem has."""
    schema = {"$ref": "#/components/schemas/Problem"}
    for document in (problem(422, "d"), problem(503, "d", remedy="r", title="t", candidates=["a"])):
        assert holds(schema, json.loads(bytes(document.body)))
    assert not holds(schema, {"title": "t"})


def test_no_pattern_is_of_another_engine():
    """A reader in any language can take the patterns."""
    for pattern in _patterns(DOCUMENT):
        assert "\\z" not in pattern
        assert jsonschema_rs.validator_for({"pattern": pattern})


def _patterns(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name == "pattern" and isinstance(value, str):
                yield value
            else:
                yield from _patterns(value)
    elif isinstance(part, list):
        for one in part:
            yield from _patterns(one)


# --- Schemathesis ---


def tried(label: str, mode: GenerationMode, examples: int) -> int:
    """Send what the document allows, or what it does not, and hold every answer to it; how many were sent."""
    sent = 0
    (operation,) = [each.ok() for each in LOADED.get_all_operations() if each.ok().label == label]

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=examples < 100,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case: Any) -> None:
        nonlocal sent
        case.call_and_validate()
        sent += 1

    try_it()
    return sent


WRONG = [label for label in LABELS if OPERATIONS[label].get("requestBody") or label == "GET /memory/gaps"]
"""Nothing that a URL can hold is wrong where no parameter is read."""


@pytest.mark.parametrize("label", LABELS)
def test_what_the_document_allows_is_taken(label):
    """Generated requests get answers of the shape, the status and the headers that are told."""
    assert tried(label, GenerationMode.POSITIVE, 3) > 0


@pytest.mark.parametrize("label", WRONG)
def test_what_the_document_does_not_allow_is_refused(label):
    """Generated faults get problem documents of a status that is told."""
    assert tried(label, GenerationMode.NEGATIVE, 3) > 0


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_much_that_the_document_allows_is_taken(label):
    """The same with many requests, other ones each time."""
    assert tried(label, GenerationMode.POSITIVE, 400) > 0


@pytest.mark.slow
@pytest.mark.parametrize("label", WRONG)
def test_much_that_the_document_does_not_allow_is_refused(label):
    """The same with many faults, other ones each time."""
    assert tried(label, GenerationMode.NEGATIVE, 400) > 0
