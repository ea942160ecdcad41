"""The FastAPI application."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from mem.client import MemoryClient, Reply
from mem.domain.accepting import AcceptRequest
from mem.domain.errors import MemError
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from mem.gateway.bodies import Identified, read_fields
from mem.gateway.problems import install, name_request, problem, request_id_header


def create_app(client: MemoryClient) -> FastAPI:
    """The gateway over a client."""
    app = FastAPI(title="mem", summary="A failure memory on Temporal.")
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
        "/memory/context", summary="What is known about a failure, task or tool", openapi_extra=_body(ContextRequest)
    )
    async def context(request: Request) -> Response:
        identified = await read_fields(request)
        asked = ContextRequest.model_validate(identified.fields)
        name_request(request, asked.request_id)
        return _replied(await client.look_up(asked), identified)

    @app.post("/memory/accept", summary="Hand in a candidate memory", openapi_extra=_body(AcceptRequest))
    async def accept(request: Request) -> Response:
        identified = await read_fields(request)
        candidate = AcceptRequest.model_validate(identified.fields)
        name_request(request, candidate.request_id)
        return _replied(await client.accept(candidate), identified)

    @app.post("/memory/query", summary="Ask a project's memories a question", openapi_extra=_body(QueryRequest))
    async def query(request: Request) -> Response:
        identified = await read_fields(request)
        question = QueryRequest.model_validate(identified.fields)
        name_request(request, question.request_id)
        return _replied(await client.query(question), identified)

    return app


def _replied(reply: Reply[Any], identified: Identified) -> Response:
    """The stored bytes as they are; what differs between two sends of a request stands in headers."""
    headers = request_id_header(identified.request_id)
    if reply.notes:
        headers["Mem-Note"] = " ".join(reply.notes)
    return Response(reply.body, media_type="application/json", headers=headers)


def _body(model: type[ContextRequest | AcceptRequest | QueryRequest]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="{model}")
    # FastAPI takes this as it is and names no components: what the fields refer to has to stand in them.
    parts = schema.pop("$defs", {})
    for field in schema["properties"].values():
        if "$ref" in field.get("items", {}):
            field["items"] = parts[field["items"]["$ref"]]
    schema["required"] = [name for name in schema.get("required", []) if name != "request_id"]
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
