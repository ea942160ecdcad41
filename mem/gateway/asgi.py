"""What the middlewares have in common: the request's own record, and what of it is told from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from starlette.types import Receive, Scope

Outcome = Literal["answered", "refused", "shed", "late", "gone", "ended", "failed"]
"""`late`: not answered in time. `gone`: the caller left before. `ended`: the process was told to end before."""

KEY = "mem.exchange"


@dataclass
class Exchange:
    """One request and what became of it, as far as that is known."""

    status: int | None = None
    received: int = 0
    sent: int = 0
    request_id: str | None = None
    outcome: Outcome | None = None
    read: bool = False
    """Whether anything was asked for of the body."""


def exchange_of(scope: Scope) -> Exchange:
    """The record of a request, which the outermost middleware begins."""
    state: dict[str, Any] = scope.setdefault("state", {})
    found: Exchange = state.setdefault(KEY, Exchange())
    return found


def name_request(scope: Scope, request_id: str) -> None:
    """Have the answer carry the request id, an error too, so that a caller who brought none can send it again."""
    exchange_of(scope).request_id = request_id


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """Every value that a header was given."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def brings_body(scope: Scope) -> bool:
    """Whether a body follows the head."""
    length = headers_of(scope, b"content-length")
    return bool(headers_of(scope, b"transfer-encoding")) or any(value != "0" for value in length)


async def skip_to_disconnect(receive: Receive) -> None:
    """Return once the caller has left, or has its answer."""
    while (await receive())["type"] != "http.disconnect":
        pass
