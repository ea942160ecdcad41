"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
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

RETRY_AFTER_SECONDS = 5
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="mem"'},
    403: {"WWW-Authenticate": 'Bearer realm="mem", error="insufficient_scope"'},
    503: {"Retry-After": str(RETRY_AFTER_SECONDS)},
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
MAX_SHOWN = 2000
UNFORESEEN = ("The gateway failed at this request.", "Look at its log, and send it again.")
_REMEDIES = {
    404: "See /openapi.json for what there is.",
    405: "Use the method that the header Allow names.",
}


class RefusedError(MemError):
    """The caller's way of asking is at fault, which only HTTP knows of; `headers` go with the problem."""

    def __init__(self, status: int, cause: str, remedy: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(cause, remedy)
        self.status = status
        self.headers = dict(headers or {})


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
    """The problem document of an error of the domain, or of this door."""
    if isinstance(error, RefusedError):
        refusal = problem(error.status, error.cause, remedy=error.remedy)
        refusal.headers.update(error.headers)
        return refusal
    response = problem(
        status_of(error),
        error.cause,
        remedy=error.remedy,
        title=type(error).__name__,
        candidates=error.candidates if isinstance(error, AmbiguousPrefix) else (),
    )
    if isinstance(error, Unavailable) and error.retry_after is not None:
        response.headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    return response


def _showable(value: object) -> object:
    """A text may quote the caller, who can send what no encoding carries, and more than anyone reads."""
    if not isinstance(value, str):
        return value
    shown = value if len(value) <= MAX_SHOWN else f"{value[:MAX_SHOWN]}…"
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def status_of(error: MemError) -> int:
    """The HTTP status of an error of the domain."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document."""

    async def on_mem_error(_: Request, error: Any) -> Response:
        return problem_of(error)

    async def on_http_error(_: Request, error: Any) -> Response:
        response = problem(error.status_code, str(error.detail), remedy=_REMEDIES.get(error.status_code, ""))
        response.headers.update(error.headers or {})
        return response

    async def on_fastapis_own(_: Request, error: Any) -> Response:
        faults = [f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()]
        return problem(422, "; ".join(faults), remedy="Send what /openapi.json shows.", title="InvalidRequest")

    app.add_exception_handler(MemError, on_mem_error)
    app.add_exception_handler(RequestValidationError, on_fastapis_own)
    app.add_exception_handler(HTTPException, on_http_error)
