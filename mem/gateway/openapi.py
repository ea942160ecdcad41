"""The OpenAPI document: what FastAPI knows, and what the routes read, write and refuse by themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from mem.gateway.rights import OPEN

Answers = dict[int | str, dict[str, Any]]

_NULL = "\0null"

COMPONENTS = "#/components/schemas/"
PROBLEM_REF = {"$ref": f"{COMPONENTS}Problem"}
TAGS = [
    {"name": "memory", "description": "Hand in what was learned, and ask what is known."},
    {"name": "process", "description": "Of the gateway itself. Served whatever the load is."},
]
PROBLEMS: dict[int, tuple[str, str, str]] = {
    400: ("It is no HTTP/1.1 request, or one whose end is in doubt.", "Bad Request", "This is no request of HTTP/1.1."),
    401: ("Tokens are configured, and the caller sent none that is known.", "Unauthorized", "This needs a token."),
    403: ("The token lacks the right.", "Forbidden", "The token has no right to read project 'billing'."),
    404: ("No memory that the caller may read begins so.", "NotFound", "No memory begins with 'abcd'."),
    408: ("Head or body did not come in time.", "Request Timeout", "The body did not come within 30 s."),
    409: (
        "The request id was used before with another body, or under other rights.",
        "RequestConflict",
        "The request id 'run-812-step-4' was used before with another body, or under other rights.",
    ),
    413: ("The body, or a text in it, is over its limit.", "TooLarge", "The body is over 32 MB."),
    415: (
        "The body is not declared to be JSON in UTF-8, or it is compressed.",
        "Unsupported Media Type",
        "The body is not declared to be JSON in UTF-8.",
    ),
    422: ("The request breaks the contract.", "InvalidRequest", "budget: Input should be a valid integer"),
    431: (
        "Headers and URL together are too long.",
        "Request Header Fields Too Large",
        "The head of the request is too long.",
    ),
    500: (
        "A fault of the gateway or its configuration.",
        "Internal Server Error",
        "The gateway failed at this request.",
    ),
    503: (
        "A part that the request needs does not answer, or the gateway is at work on as many requests as it takes.",
        "Unavailable",
        "Temporal at 127.0.0.1:7233 does not answer.",
    ),
}
ALL = (400, 408, 431, 500)
"""What any request can be answered with."""

POSTED = (409, 413, 415, 422, 503)
"""What a request with a body can be answered with besides."""

GUARDED = (401, 403)
"""What any route but the open ones can be answered with where tokens are configured."""

BEARER = {"type": "http", "scheme": "bearer", "description": "A token, needed where the gateway has tokens configured."}


class Problem(BaseModel):
    """An error as RFC 9457 has it. `remedy` says what to do, `candidates` what the caller may have meant."""

    type: str
    title: str
    status: int
    detail: str
    remedy: str | None = None
    candidates: list[str] | None = None


def examples() -> dict[str, Any]:
    """A request and an answer of each route, by name."""
    text = files("mem.gateway").joinpath("examples.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _header(told: str, **schema: Any) -> dict[str, Any]:
    return {"description": told, "schema": {"type": "string", **schema}}


REQUEST_ID = _header("The request id: the caller's, or the one that was made for a request without.")
NOTE = _header("What was done to the texts before they were sent on, in words: redacted, stripped, distilled.")
RETRY_AFTER = {"description": "Seconds after which to ask again.", "schema": {"type": "integer", "minimum": 1}}


def problems(*statuses: int, **told: str) -> Answers:
    """The problem documents of a route; `told` says of a status (`s404`) what it means there."""
    found: Answers = {}
    for status in sorted({*ALL, *statuses}):
        found[status] = _problem(status, told.get(f"s{status}"))
    return found


def _problem(status: int, told: str | None = None) -> dict[str, Any]:
    description, title, detail = PROBLEMS[status]
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail, "remedy": "…"}
    return {
        "description": told or description,
        "headers": {"Retry-After": RETRY_AFTER} if status == 503 else {},
        "content": {"application/problem+json": {"schema": PROBLEM_REF, "example": document}},
    }


def answers(
    model: type[BaseModel], told: str, example: Any, *statuses: int, identified: bool = False, **meanings: str
) -> Answers:
    """All answers of a route; an `identified` one repeats the request id."""
    headers = {"Mem-Request-Id": REQUEST_ID, "Mem-Note": NOTE} if identified else {}
    good = {
        "description": told,
        "model": model,
        "headers": headers,
        "content": {"application/json": {"example": kept(example)}},
    }
    return {200: good, **problems(*statuses, **meanings)}


def replies(model: type[BaseModel], told: str, example: Any, *statuses: int, **meanings: str) -> Answers:
    """All answers of a route that hands a request on to the worker."""
    return answers(model, told, example, *POSTED, *statuses, identified=True, **meanings)


def posted(model: type[BaseModel], example: Any) -> dict[str, Any]:
    """A request body with its request id, for a route that reads them itself.

    The header stands in words alone: no schema can say that it and the field of the body are one, and may not differ.
    """
    content = {"schema": {"$ref": f"{COMPONENTS}{model.__name__}"}, "example": kept(example)}
    return {
        "description": "The request id stands in the body or in the header `Idempotency-Key`; two that differ are a "
        "422. A request that is sent again under its id gets the same bytes and counts once; without an id each send "
        "is a request of its own, under the id of the header `Mem-Request-Id` of the answer.",
        "requestBody": {"required": True, "content": {"application/json": content}},
    }


def describe(app: FastAPI, requests: Mapping[type[BaseModel], Mapping[str, Any]]) -> None:
    """Have the document hold what a problem is, and the models of bodies that routes read by themselves.

    Each model comes with what its schema lacks: rules that the code has and types cannot say.
    """

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                description=app.description,
                routes=app.routes,
                tags=TAGS,
            )
            schemas = found.setdefault("components", {}).setdefault("schemas", {})
            mode: JsonSchemaMode = "validation"
            wanted: list[type[BaseModel]] = [*requests, Problem]
            _, models = models_json_schema([(one, mode) for one in wanted], ref_template=f"{COMPONENTS}{{model}}")
            schemas.update(models["$defs"])
            _guard(found)
            for model, rules in requests.items():
                _request_id_may_lack(schemas[model.__name__])
                _add(schemas[model.__name__], rules)
            app.openapi_schema = _readable(found)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _guard(document: dict[str, Any]) -> None:
    """Have every route but the open ones name the token that it may need, and what is answered without it."""
    document["components"]["securitySchemes"] = {"bearer": BEARER}
    for path, operations in document["paths"].items():
        for operation in () if path in OPEN else operations.values():
            operation["security"] = [{}, {"bearer": []}]
            operation["responses"] |= {str(status): _problem(status) for status in GUARDED}


def own_version() -> str:
    """The version of this package; in a checkout that was not installed there is none to be found."""
    try:
        return version("mem-worker")
    except PackageNotFoundError:
        return "0"


def _request_id_may_lack(schema: dict[str, Any]) -> None:
    schema["required"] = [name for name in schema["required"] if name != "request_id"]
    given = schema["properties"]["request_id"]
    schema["properties"]["request_id"] = {
        "anyOf": [{name: given[name] for name in ("type", "pattern")}, {"type": "null"}],
        "title": given["title"],
        "description": "1 to 200 printable ASCII characters; may stand in the header Idempotency-Key instead.",
    }


def _add(schema: dict[str, Any], rules: Mapping[str, Any]) -> None:
    for name, rule in rules.items():
        if isinstance(rule, Mapping) and name in schema:
            _add(schema[name], rule)
        else:
            schema[name] = rule


def kept(example: Any) -> Any:
    """An example whose nulls FastAPI does not take out of the document."""
    match example:
        case None:
            return _NULL
        case dict():
            return {name: kept(value) for name, value in example.items()}
        case list():
            return [kept(value) for value in example]
        case _:
            return example


def _readable(part: Any) -> Any:
    """Patterns as JSON Schema has them, since ours are written for another engine; and nulls as nulls again."""
    match part:
        case dict():
            return {
                name: value.replace("\\z", "$") if name == "pattern" and isinstance(value, str) else _readable(value)
                for name, value in part.items()
            }
        case list():
            return [_readable(one) for one in part]
        case _:
            return None if part == _NULL else part
