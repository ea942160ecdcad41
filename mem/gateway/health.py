"""What is asked of the process itself: whether it lives, whether it can work, and what it counted."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel

from mem.client import MemoryClient
from mem.domain.errors import MemError
from mem.gateway.metrics import CONTENT_TYPE, Metrics
from mem.gateway.openapi import answers, examples, problems
from mem.gateway.reading import Reading
from mem.gateway.rights import require_admin

DATABASE_SECONDS = 2.0
TEXT = {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Temporal answers and a worker polls for lookups, queries and turns.

    `writes`: whether one polls for candidates, which wait where it is `away`. `database`: what the gateway itself
    reads from; `none` where none is known. Neither makes the gateway less ready where it is `away`: lookups are the
    worker's, and gaps and single memories are a 503 then.
    """

    status: Literal["ready"] = "ready"
    writes: Literal["ok", "away"]
    database: Literal["ok", "away", "none"]


def add_health(app: FastAPI, client: MemoryClient, reading: Reading, metrics: Metrics) -> None:
    """Add the routes."""
    example = examples()

    @app.get(
        "/healthz",
        summary="Whether this process answers",
        tags=["process"],
        responses=answers(Health, "It does.", example["health"]),
    )
    async def healthz() -> Health:
        return Health()

    @app.get(
        "/readyz",
        summary="Whether Temporal and a worker answer",
        tags=["process"],
        responses=answers(
            Readiness, "They do.", example["ready"], 503, s503="Temporal or every worker of lookups is away."
        ),
    )
    async def readyz() -> Readiness:
        await client.check("lookups")
        return Readiness(writes=await _writes(client), database=await _database(reading))

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        tags=["process"],
        response_class=Response,
        responses={200: TEXT, **problems()},
    )
    async def text(request: Request) -> Response:
        require_admin(request)
        return Response(metrics.text(), media_type=CONTENT_TYPE)


async def _writes(client: MemoryClient) -> Literal["ok", "away"]:
    try:
        await client.check("writes")
    except MemError:
        return "away"
    return "ok"


async def _database(reading: Reading) -> Literal["ok", "away", "none"]:
    if not reading.configured:
        return "none"
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            await reading.check()
    except (MemError, TimeoutError):
        return "away"
    return "ok"
