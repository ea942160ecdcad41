"""The FastAPI application."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from mem.client import MemoryClient, Reply
from mem.domain.accepting import AcceptRequest
from mem.domain.errors import MemError
from mem.domain.gaps import GapsRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from mem.gateway.bodies import Identified, read_fields, read_parameters, refuse_parameters
from mem.gateway.described import GAPS_ANSWERS, SHA_PARAMETER, SHOWN_ANSWERS, body, parameters
from mem.gateway.problems import install, name_request, problem, request_id_header
from mem.gateway.reading import Reading
from mem.gateway.rights import Guard, readable_by, readable_by_writer
from mem.gateway.tokens import Tokens

POSTED = ("context", "accept", "query")
"""What stands below /memory and is no sha."""


def create_app(client: MemoryClient, reading: Reading | None = None, tokens: Tokens | None = None) -> FastAPI:
    """The gateway over a client of the worker and what reads from the store, without which such reads are a 503.

    Args:
        tokens: who may do what; None: everybody everything.
    """
    reading = reading or Reading(None)
    app = FastAPI(title="mem", summary="A failure memory on Temporal.")
    app.add_middleware(Guard, tokens=tokens)
    install(app)

    @app.get("/healthz", summary="Whether this process answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether Temporal and a worker answer")
    async def readyz() -> Response:
        try:
            await client.check()
        except MemError as error:
            return problem(503, error.cause, remedy=error.remedy, title=type(error).__name__)
        return JSONResponse({"status": "ready"})

    @app.post(
        "/memory/context", summary="What is known about a failure, task or tool", openapi_extra=body(ContextRequest)
    )
    async def context(request: Request) -> Response:
        identified = await read_fields(request)
        asked = ContextRequest.model_validate(identified.fields)
        name_request(request, asked.request_id)
        return _replied(await client.look_up(asked, readable=readable_by(request, asked.project)), identified)

    @app.post("/memory/accept", summary="Hand in a candidate memory", openapi_extra=body(AcceptRequest))
    async def accept(request: Request) -> Response:
        identified = await read_fields(request)
        candidate = AcceptRequest.model_validate(identified.fields)
        name_request(request, candidate.request_id)
        readable = readable_by_writer(request, candidate.project)
        return _replied(await client.accept(candidate, readable=readable), identified)

    @app.post("/memory/query", summary="Ask a project's memories a question", openapi_extra=body(QueryRequest))
    async def query(request: Request) -> Response:
        identified = await read_fields(request)
        question = QueryRequest.model_validate(identified.fields)
        name_request(request, question.request_id)
        readable = readable_by(request, question.project)
        return _replied(await client.query(question, readable=readable), identified)

    @app.get(
        "/memory/gaps",
        summary="Which failures keep happening that no memory explains",
        openapi_extra=parameters(GapsRequest),
        responses=GAPS_ANSWERS,
    )
    async def gaps(request: Request) -> Response:
        asked = GapsRequest.model_validate(read_parameters(request))
        answer = await reading.gaps(asked, readable=readable_by(request, asked.project))
        return Response(answer.model_dump_json(), media_type="application/json")

    # Behind all others below /memory, since it matches any of their names.
    @app.get(
        "/memory/{sha}",
        summary="One memory: its edges, projection, signatures, sightings and successors",
        responses=SHOWN_ANSWERS,
    )
    async def show(request: Request, sha: Annotated[str, SHA_PARAMETER]) -> Response:
        if sha in POSTED:
            raise HTTPException(405, headers={"Allow": "POST"})
        refuse_parameters(request)
        shown = await reading.show(sha, readable=readable_by(request))
        return Response(shown.model_dump_json(), media_type="application/json")

    return app


def _replied(reply: Reply[Any], identified: Identified) -> Response:
    """The stored bytes as they are; what differs between two sends of a request stands in headers."""
    headers = request_id_header(identified.request_id)
    if reply.notes:
        headers["Mem-Note"] = " ".join(reply.notes)
    return Response(reply.body, media_type="application/json", headers=headers)
