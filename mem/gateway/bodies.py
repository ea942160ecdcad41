"""Reading what a request brings: a body, bounded and strict, with its request id, or the parameters of its URL."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

from fastapi import Request
from starlette.requests import ClientDisconnect

from mem.domain.canonical import strict_json
from mem.domain.errors import InvalidRequest, TooLarge

MAX_BODY_BYTES = 32 * 1024 * 1024
_REMEDY = "Send a flat JSON object as the documentation shows."


class Identified(NamedTuple):
    """The fields of a body with their request id, which the server makes where the caller brings none."""

    fields: dict[str, Any]
    request_id: str


async def read_fields(request: Request) -> Identified:
    """Read a JSON object and settle its request id.

    Raises:
        TooLarge: the body is over 32 MB.
        InvalidRequest: the body is no JSON object, or header and body name different request ids.
    """
    fields = _parsed(await _bounded(request))
    header = request.headers.get("idempotency-key")
    inside = fields.get("request_id")
    if header is not None and inside is not None and header != inside:
        raise InvalidRequest(
            "The header Idempotency-Key and `request_id` in the body differ.", "Send one of them, or equal ones."
        )
    request_id = inside if inside is not None else header
    if request_id is None:
        request_id = f"made-{secrets.token_hex(16)}"
    return Identified({**fields, "request_id": request_id}, str(request_id))


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


async def _bounded(request: Request) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_BODY_BYTES:
        raise _too_large()
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise _too_large()
    except ClientDisconnect as error:
        raise InvalidRequest("The caller went away before the body was complete.", "Send it again.") from error
    return bytes(body)


def _too_large() -> TooLarge:
    return TooLarge(
        f"The body is over {MAX_BODY_BYTES // 1024 // 1024} MB.",
        "Send the failing part of the log, or use `mem lookup --file`, which distils it first.",
    )


def _parsed(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise InvalidRequest("The body is empty.", _REMEDY)
    try:
        fields = strict_json(body)
    except ValueError as error:
        raise InvalidRequest(f"The body is no JSON: {error}.", _REMEDY) from error
    if not isinstance(fields, dict):
        raise InvalidRequest("The body is no JSON object.", _REMEDY)
    return fields
