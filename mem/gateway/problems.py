"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from mem.domain.errors import (
    AmbiguousPrefix,
    Forbidden,
    InvalidRequest,
    MemError,
    NotFound,
    RequestConflict,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from mem.domain.faults import told

REQUEST_ID_HEADER = "Mem-Request-Id"
RETRY_AFTER_SECONDS = "5"
FIELDS_REMEDY = "Send the fields as /openapi.json shows them."
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="mem"'},
    403: {"WWW-Authenticate": 'Bearer realm="mem", error="insufficient_scope"'},
    503: {"Retry-After": RETRY_AFTER_SECONDS},
}
_STATUS: Sequence[tuple[type[MemError], int]] = (
    (TooLarge, 413),
    (InvalidRequest, 422),
    (AmbiguousPrefix, 422),
    (Unauthorized, 401),
    (Forbidden, 403),
    (RequestConflict, 409),
    (NotFound, 404),
    (Unavailable, 503),
)
"""The first that fits counts: what is special stands before what it is a kind of."""
MAX_ERRORS_SHOWN = 5
MAX_SHOWN = 2000


def problem(
    status: int, detail: str, *, remedy: str = "", title: str | None = None, candidates: Sequence[str] = ()
) -> Response:
    """A problem document; `remedy` says what to do about it, `candidates` what the caller may have meant."""
    document = {
        "type": "about:blank",
        "title": title or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **({"remedy": remedy} if remedy else {}),
        **({"candidates": list(candidates)} if candidates else {}),
    }
    return JSONResponse(
        {name: _showable(value) for name, value in document.items()},
        status_code=status,
        media_type="application/problem+json",
        headers=_HEADERS.get(status),
    )


def problem_of(error: MemError) -> Response:
    """The problem document of an error of the domain."""
    return problem(
        status_of(error),
        error.cause,
        remedy=error.remedy,
        title=type(error).__name__,
        candidates=error.candidates if isinstance(error, AmbiguousPrefix) else (),
    )


def _showable(value: object) -> object:
    """A text may quote the caller, who can send what no encoding carries, and more than anyone reads."""
    if not isinstance(value, str):
        return value
    shown = value if len(value) <= MAX_SHOWN else f"{value[:MAX_SHOWN]}…"
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def status_of(error: MemError) -> int:
    """The HTTP status of an error of the domain."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def name_request(request: Request, request_id: str) -> None:
    """Have errors from here on carry the request id too, so that a caller who brought none can send it again."""
    request.state.request_id = request_id


def request_id_header(request_id: str) -> dict[str, str]:
    """The header that repeats the request id; a header cannot begin or end with a space, so such an id has none."""
    return {REQUEST_ID_HEADER: request_id} if request_id == request_id.strip() else {}


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document."""

    @app.exception_handler(MemError)
    async def on_mem_error(request: Request, error: MemError) -> Response:
        response = problem_of(error)
        if (request_id := getattr(request.state, "request_id", None)) is not None:
            response.headers.update(request_id_header(request_id))
        return response

    @app.exception_handler(ValidationError)
    async def on_validation_error(_: Request, error: ValidationError) -> Response:
        detail = told(error, whole="body", most=MAX_ERRORS_SHOWN)
        return problem(422, detail, remedy=FIELDS_REMEDY, title="InvalidRequest")

    @app.exception_handler(Exception)
    async def on_fault(_: Request, __: Exception) -> Response:
        # The server raises it again once this is sent, and so logs it with its stack.
        return problem(500, "The gateway failed at this request.", remedy="Look at its log, and send it again.")

    @app.exception_handler(HTTPException)
    async def on_http_error(_: Request, error: HTTPException) -> Response:
        response = problem(error.status_code, str(error.detail))
        response.headers.update(error.headers or {})
        return response
