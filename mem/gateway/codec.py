"""The routes by which Temporal's UI and command line read encrypted payloads, and the pages that may call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from mem.clients.temporal.remote_codec import Converted, RemoteCodec
from mem.domain.errors import ConfigurationError, Forbidden
from mem.gateway.asgi import headers_of
from mem.gateway.bodies import read_object
from mem.gateway.openapi import NOTE, answers, kept
from mem.gateway.problems import problem_of
from mem.gateway.rights import require_admin_everywhere

BASE = "/codec"
HEADERS = ("authorization", "authorization-extras", "content-type", "x-namespace")
"""What the UI sends beside what every page may."""
PREFLIGHT_SECONDS = 600
MAX_NOTES = 10
"""Beyond some kilobytes browsers and proxies take no header."""

_EXAMPLE = {
    "payloads": [{"metadata": {"encoding": "anNvbi9wbGFpbg=="}, "data": "ImhlbGxvIg=="}],
}


class CodecPayload(BaseModel):
    """A payload as JSON: every value in base64."""

    metadata: dict[str, str] = Field(default_factory=dict)
    data: str = ""


class CodecPayloads(BaseModel):
    """Payloads, in their order."""

    payloads: list[CodecPayload]


def add_codec(app: FastAPI, codec: RemoteCodec) -> None:
    """Add the routes, which need the right `admin` in every project: payloads are of all of them."""

    @app.post(f"{BASE}/decode", **_described("Payloads of Temporal in clear"))
    async def decode(request: Request) -> Response:
        require_admin_everywhere(request)
        return _answered(await codec.decode(await read_object(request)))

    @app.post(f"{BASE}/encode", **_described("Payloads for Temporal, encrypted"))
    async def encode(request: Request) -> Response:
        require_admin_everywhere(request)
        return _answered(await codec.encode(await read_object(request)))


def parse_origins(text: str) -> tuple[str, ...]:
    """The origins of a setting, separated by commas.

    Raises:
        ConfigurationError: one is none.
    """
    return tuple(_origin(part.strip()) for part in text.split(",") if part.strip())


class CodecDoor:
    """Middleware that lets pages of the given origins call the codec's routes, and no other page.

    A page is refused by its origin even where no token is needed: a browser on this machine calls what its page says.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._shared = CORSMiddleware(
            app,
            allow_origins=list(origins),
            allow_methods=["POST"],
            allow_headers=list(HEADERS),
            allow_credentials=True,
            expose_headers=["Mem-Note"],
            max_age=PREFLIGHT_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or refuse a page."""
        if scope["type"] != "http" or not scope["path"].startswith(f"{BASE}/"):
            await self._app(scope, receive, send)
        elif self._origins.issuperset(headers_of(scope, b"origin")):
            await self._shared(scope, receive, send)
        else:
            refusal = Forbidden(
                "Pages of this origin may not use the codec.", "Add the origin of Temporal's UI to MEM_UI_ORIGINS."
            )
            await problem_of(refusal)(scope, receive, send)


def _origin(text: str) -> str:
    """An origin as browsers send it."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path not in {"", "/"} or parts.query:
        raise ConfigurationError(
            f"MEM_UI_ORIGINS: {text[:200]!r} is no origin.", "Give scheme, host and port, as http://127.0.0.1:8233."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _described(summary: str) -> dict[str, Any]:
    """What /openapi.json says of one of the two."""
    told = "The payloads in the same order; one that cannot be read comes back as it is, and a note names its key."
    found = answers(CodecPayloads, told, _EXAMPLE, 413, 415, 422, 503)
    found[200]["headers"] = {"Mem-Note": NOTE}
    body = {"schema": CodecPayloads.model_json_schema(), "example": kept(_EXAMPLE)}
    return {
        "summary": summary,
        "tags": ["process"],
        "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": body}}},
        "responses": found,
    }


def _answered(converted: Converted) -> Response:
    more = len(converted.notes) - MAX_NOTES
    told = [*converted.notes[:MAX_NOTES], *([f"{more} more notes."] if more > 0 else [])]
    headers = {"Mem-Note": " ".join(told)} if told else {}
    return JSONResponse(converted.payloads, headers=headers)
