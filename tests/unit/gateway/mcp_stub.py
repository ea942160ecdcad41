"""An MCP server in memory over a stub client and a stub store, and the official client to it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcp import Client

from mem.client import Reply
from mem.domain.accepting import AcceptAnswer, check_limits
from mem.domain.errors import NotFound
from mem.domain.grounding import GroundAnswer, check_message
from mem.domain.lookup import ContextAnswer, check_inputs
from mem.domain.query import QueryAnswer, check_question
from mem.domain.rights import UNRESTRICTED, Rights
from mem.domain.shown import ShownMemory
from mem.gateway.described import SHOWN_EXAMPLE
from mem.gateway.grounding import ANSWER_EXAMPLE
from mem.gateway.mcp.server import create_server

SHA = "748fa2459ce4b3e0c7f0a1f0f2a77d8f5f4d5f9a1a7f6b0b86e8f4a3b5d1c2e9"
TEXT = "chart-kit 2 wants react 17; pin it & wait for 3, whose <Grid> was rewritten."
LESSON = {
    "tier": 1,
    "level": "L1",
    "sha": SHA,
    "project": "billing",
    "text": TEXT,
    "matched_kind": "signature",
    "seen_count": 2,
    "last_seen": "2026-07-02",
    "first_seen": "2026-06-30",
    "signature": {"sig_sha": "9" * 64, "tool": "npm", "rule": "npm.eresolve"},
    "score": 0.91,
    "scores": {"recall": 0.44, "rerank": 0.91},
    "parents": [{"level": "L0", "sha": "1" * 64, "source": 'ci"><x>', "turn": 4}],
    "supersedes": [],
}
CONTEXT: dict[str, Any] = {
    "tier": 1,
    "lessons": [LESSON],
    "skills": [{"name": "ci-triage", "score": 0.77}],
    "signatures": [
        {
            "sig_sha": "9" * 64,
            "tool": "npm",
            "envelope": None,
            "rule": "npm.eresolve",
            "known": True,
            "seen_count": 2,
        }
    ],
    "budget": {"limit": 6000, "used": 100, "unit": "tokens", "tokenizer": "cl100k_base", "dropped": []},
    "degraded": [{"leg": "skills", "reason": "timeout after 2.0 s"}],
    "abstained_reason": None,
    "nearest_misses": 0,
}
NOTHING: dict[str, Any] = {
    **CONTEXT,
    "tier": None,
    "lessons": [],
    "skills": [],
    "signatures": [],
    "degraded": [],
    "abstained_reason": "Nothing is near.",
}
ACCEPTED: dict[str, Any] = {
    "status": "rejected",
    "sha": None,
    "duplicate_of": None,
    "verdict": {"accept": False, "rule": "trivial", "reason": "It says nothing.", "model_id": None, "prompt_sha": None},
    "projection": None,
    "signatures": [],
    "vectors": [],
    "pending": [],
}


class StubClient:
    """Takes what a tool hands on, and gives a fixed answer or an error, as soon as it may."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.readable: list[Any] = []
        self.error: Exception | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.cancelled = 0
        self.context: dict[str, Any] = CONTEXT
        self.turn: dict[str, Any] = ANSWER_EXAMPLE
        self.notes: tuple[str, ...] = ()

    async def look_up(self, request, *, readable, deadline):
        check_inputs(request)
        self.readable.append(readable)
        return await self._reply(request, ContextAnswer, self.context)

    async def accept(self, request, *, readable, deadline):
        check_limits(request)
        self.readable.append(readable)
        return await self._reply(request, AcceptAnswer, ACCEPTED)

    async def query(self, request, *, readable, deadline):
        check_question(request)
        self.readable.append(readable)
        body = {"query_id": request.request_id, "project": request.project, "hits": [], "degraded": []}
        return await self._reply(request, QueryAnswer, body)

    async def ground(self, request, *, readable, deadline):
        check_message(request)
        self.readable.append(readable)
        return await self._reply(request, GroundAnswer, self.turn)

    async def _reply(self, request, model, body):
        self.requests.append(request)
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return Reply(model.model_validate(body), json.dumps(body).encode(), self.notes)


class StubReading:
    """Knows one memory, and takes for whom it is read."""

    def __init__(self, memory: dict[str, Any], readable: list[Any]) -> None:
        self._memory = memory
        self._readable = readable

    async def show(self, sha: str, *, readable: object) -> ShownMemory:
        self._readable.append(readable)
        if not SHA.startswith(sha):
            raise NotFound(f"No memory begins with {sha}.", "Check the sha.")
        return ShownMemory.model_validate(self._memory)


class StubReaching:
    """The way to both."""

    def __init__(self) -> None:
        self.stub = StubClient()
        self.memory: dict[str, Any] = SHOWN_EXAMPLE
        self.error: Exception | None = None

    async def client(self) -> StubClient:
        if self.error is not None:
            raise self.error
        return self.stub

    async def reading(self) -> StubReading:
        if self.error is not None:
            raise self.error
        return StubReading(self.memory, self.stub.readable)


def connected(
    reaching: StubReaching, project: str | None = "billing", mode: str = "legacy", rights: Rights = UNRESTRICTED
) -> Client:
    return Client(create_server(reaching, project, lambda _: rights), mode=mode)  # type: ignore[arg-type]


def text_of(result: Any) -> str:
    (block,) = result.content
    return block.text
