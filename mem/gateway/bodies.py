"""Reading what a request brings: a body, bounded and strict, with its request id, or the parameters of its URL."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from mem.domain.canonical import strict_json, whole_numbers
from mem.domain.errors import InvalidRequest
from mem.domain.faults import told
from mem.gateway.asgi import name_request
from mem.gateway.problems import RefusedError
from mem.gateway.structure import check_structure

ModelT = TypeVar("ModelT", bound=BaseModel)

FIELDS_REMEDY = "Send the fields as /openapi.json shows them."
MAX_ERRORS_SHOWN = 5
_REMEDY = "Send a flat JSON object as the documentation shows."
_JSON = re.compile(r"application/(?:json|[a-z0-9!#$&^_.-]+\+json)")


async def read_fields(request: Request) -> dict[str, Any]:
    """Read a JSON object and settle its request id, which is made where the caller brings none.

    Raises:
        RefusedError: the body is not declared to be JSON, is encoded, or does not come in time.
        TooLarge: the body is over its limit.
        InvalidRequest: the body is no JSON object, or header and body name different request ids.
    """
    fields = await read_object(request)
    named = set(request.headers.getlist("idempotency-key"))
    inside = fields.get("request_id")
    if len(named) > 1:
        raise InvalidRequest("The header Idempotency-Key stands twice.", "Send it once.")
    header = next(iter(named), None)
    if header is not None and inside is not None and header != inside:
        raise InvalidRequest(
            "The header Idempotency-Key and `request_id` in the body differ.", "Send one of them, or equal ones."
        )
    request_id = inside if inside is not None else header
    if request_id is None:
        request_id = f"made-{secrets.token_hex(16)}"
    return {**fields, "request_id": request_id}


async def read_object(request: Request) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RefusedError: the body is not declared to be JSON, is encoded, or does not come in time.
        TooLarge: the body is over its limit.
        InvalidRequest: the body is no JSON object.
    """
    _check_declared(request)
    return _parsed(await _read(request))


def understood(request: Request, model: type[ModelT], fields: dict[str, Any]) -> ModelT:
    """The fields as a message of the contract; an answer from here on carries its request id.

    Raises:
        InvalidRequest: they break the contract.
    """
    try:
        message = model.model_validate(fields)
    except ValidationError as error:
        raise InvalidRequest(told(error, whole="body", most=MAX_ERRORS_SHOWN), FIELDS_REMEDY) from None
    if (request_id := getattr(message, "request_id", None)) is not None:
        name_request(request.scope, request_id)
    return message


def read_parameters(request: Request) -> dict[str, str]:
    """The parameters of a URL, by name.

    Raises:
        InvalidRequest: one is given twice.
    """
    given = request.query_params.multi_items()
    found = dict(given)
    if len(found) < len(given):
        raise InvalidRequest("A parameter is given twice.", "Give each at most once.")
    return found


def refuse_parameters(request: Request) -> None:
    """Refuse parameters where a URL takes none.

    Raises:
        InvalidRequest: there is one.
    """
    if request.query_params:
        raise InvalidRequest("This URL takes no parameters.", "Leave out what stands behind the question mark.")


def _check_declared(request: Request) -> None:
    if not _is_json(request.headers.getlist("content-type")):
        raise RefusedError(
            415, "The body is not declared to be JSON in UTF-8.", "Send the header Content-Type: application/json."
        )
    encodings = ",".join(request.headers.getlist("content-encoding")).lower().split(",")
    if {one.strip() for one in encodings} - {"", "identity"}:
        raise RefusedError(
            415,
            "The body is compressed or otherwise encoded.",
            "Send it as it is, without Content-Encoding.",
            {"Accept-Encoding": "identity"},
        )


def _is_json(declared: Sequence[str]) -> bool:
    """Whether one media type is declared, which is JSON in UTF-8."""
    if len(declared) != 1:
        return False
    media_type, *parameters = (part.strip().lower() for part in declared[0].split(";"))
    charsets = {value.strip(' "') for name, _, value in (one.partition("=") for one in parameters) if name == "charset"}
    return bool(_JSON.fullmatch(media_type)) and charsets <= {"utf-8", "utf8"}


async def _read(request: Request) -> bytearray:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
    except ClientDisconnect as error:
        raise InvalidRequest("The caller went away before the body was complete.", "Send it again.") from error
    return body


def _parsed(body: bytearray) -> dict[str, Any]:
    if not body.strip():
        raise InvalidRequest("The body is empty.", _REMEDY)
    check_structure(body)
    try:
        fields = whole_numbers(strict_json(body))
    except ValueError as error:
        raise InvalidRequest(f"The body is no JSON: {error}.", _REMEDY) from error
    if not isinstance(fields, dict):
        raise InvalidRequest("The body is no JSON object.", _REMEDY)
    return fields
