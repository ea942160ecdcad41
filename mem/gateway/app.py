"""The FastAPI application."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import Response
from prometheus_client import CollectorRegistry
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from mem.client import MemoryClient, Reply
from mem.clients.temporal.remote_codec import RemoteCodec
from mem.domain.accepting import AcceptAnswer, AcceptRequest
from mem.domain.gaps import GapsRequest
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.domain.query import QueryAnswer, QueryRequest
from mem.gateway.bodies import read_fields, read_parameters, refuse_parameters, understood
from mem.gateway.codec import CodecDoor, add_codec
from mem.gateway.described import GAPS_ANSWERS, REQUESTS, SHA_PARAMETER, SHOWN_ANSWERS, parameters
from mem.gateway.grounding import add_grounding
from mem.gateway.hardened import Hardened
from mem.gateway.health import add_health
from mem.gateway.hosts import LocalHosts
from mem.gateway.limits import Limits
from mem.gateway.metrics import Metrics
from mem.gateway.observing import Log
from mem.gateway.openapi import describe, examples, own_version, posted, replies
from mem.gateway.problems import install
from mem.gateway.reading import Reading
from mem.gateway.rights import Guard, readable_by, readable_by_writer
from mem.gateway.tokens import Tokens
from mem.gateway.traced import Serving, Traced

POSTED = ("context", "accept", "query")
"""What stands below /memory and is no sha."""


def create_app(
    client: MemoryClient,
    reading: Reading | None = None,
    tokens: Tokens | None = None,
    *,
    limits: Limits | None = None,
    metrics: Metrics | None = None,
    log: Log | None = None,
    spans: Serving | None = None,
    codec: RemoteCodec | None = None,
    ui_origins: Sequence[str] = (),
    listening: str | None = None,
) -> FastAPI:
    """The gateway over a client of the worker and what reads from the store, without which such reads are a 503.

    Args:
        tokens: who may do what; None: everybody everything.
        spans: makes one of each request; None: nothing is traced.
        codec: what reads encrypted payloads for Temporal's UI, at pages of `ui_origins`; None: nothing is encrypted.
        listening: the name of this machine by which alone it is called without tokens; None: by any.
    """
    reading = reading or Reading(None)
    metrics = metrics or Metrics(CollectorRegistry())
    hardened = Middleware(Hardened, limits=limits or Limits(), metrics=metrics, log=log or structlog.get_logger())
    traced = [] if spans is None else [Middleware(Traced, spans=spans)]
    local = [] if listening is None or tokens is not None else [Middleware(LocalHosts, listening=listening)]
    # Before the guard: a browser asks whether a page may call without the token that the call will carry.
    door = [] if codec is None else [Middleware(CodecDoor, origins=ui_origins)]
    app = FastAPI(
        title="mem",
        summary="A failure memory on Temporal.",
        version=own_version(),
        # These would load their scripts from elsewhere, and a slash too many is an error as any other.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[*traced, hardened, *local, *door, Middleware(Guard, tokens=tokens)],
    )
    install(app)
    add_health(app, client, reading, metrics)
    _add_asking(app, client, metrics)
    _add_reading(app, reading)
    add_grounding(app, client, lambda reply: _replied(reply, metrics))
    if codec is not None:
        add_codec(app, codec)
    describe(app, REQUESTS)
    return app


def _add_asking(app: FastAPI, client: MemoryClient, metrics: Metrics) -> None:
    """Add what the worker answers about a project."""
    example = examples()

    @app.post(
        "/memory/context",
        summary="What is known about a failure, task or tool",
        tags=["memory"],
        openapi_extra=posted(ContextRequest, example["context"]["request"]),
        responses=replies(ContextAnswer, "What is known, or why nothing is.", example["context"]["answer"]),
    )
    async def context(request: Request) -> Response:
        asked = understood(request, ContextRequest, await read_fields(request))
        return _replied(await client.look_up(asked, readable=readable_by(request, asked.project)), metrics)

    @app.post(
        "/memory/accept",
        summary="Hand in a candidate memory",
        tags=["memory"],
        openapi_extra=posted(AcceptRequest, example["accept"]["request"]),
        responses=replies(AcceptAnswer, "The verdict; a refusal is one too.", example["accept"]["answer"]),
    )
    async def accept(request: Request) -> Response:
        candidate = understood(request, AcceptRequest, await read_fields(request))
        readable = readable_by_writer(request, candidate.project)
        return _replied(await client.accept(candidate, readable=readable), metrics)

    @app.post(
        "/memory/query",
        summary="Ask a project's memories a question",
        tags=["memory"],
        openapi_extra=posted(QueryRequest, example["query"]["request"]),
        responses=replies(QueryAnswer, "The memories nearest to it.", example["query"]["answer"]),
    )
    async def query(request: Request) -> Response:
        question = understood(request, QueryRequest, await read_fields(request))
        return _replied(await client.query(question, readable=readable_by(request, question.project)), metrics)


def _add_reading(app: FastAPI, reading: Reading) -> None:
    """Add what is read straight from the store."""

    @app.get(
        "/memory/gaps",
        summary="Which failures keep happening that no memory explains",
        tags=["memory"],
        openapi_extra=parameters(GapsRequest),
        responses=GAPS_ANSWERS,
    )
    async def gaps(request: Request) -> Response:
        asked = understood(request, GapsRequest, read_parameters(request))
        answer = await reading.gaps(asked, readable=readable_by(request, asked.project))
        return Response(answer.model_dump_json(), media_type="application/json")

    # Behind all others below /memory, since it matches any of their names.
    @app.get(
        "/memory/{sha}",
        summary="One memory: its edges, projection, signatures, sightings and successors",
        tags=["memory"],
        responses=SHOWN_ANSWERS,
    )
    async def show(request: Request, sha: Annotated[str, SHA_PARAMETER]) -> Response:
        if sha in POSTED:
            raise HTTPException(405, headers={"Allow": "POST"})
        refuse_parameters(request)
        shown = await reading.show(sha, readable=readable_by(request))
        return Response(shown.model_dump_json(), media_type="application/json")


def _replied(reply: Reply[Any], metrics: Metrics) -> Response:
    """The stored bytes as they are; what differs between two sends of a request stands in headers."""
    metrics.answered(reply.answer)
    headers = {"Mem-Note": " ".join(reply.notes)} if reply.notes else {}
    return Response(reply.body, media_type="application/json", headers=headers)
