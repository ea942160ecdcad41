"""The route of a user's next turn, and what /openapi.json says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from mem.client import MemoryClient, Reply
from mem.domain.grounding import GroundAnswer, GroundRequest
from mem.gateway.bodies import read_fields, understood
from mem.gateway.openapi import kept, posted, replies
from mem.gateway.rights import readable_by

PATH = "/v1/context"

REQUEST_EXAMPLE: dict[str, Any] = {
    "request_id": "turn-7-of-thread-abc",
    "user_id": "user-123",
    "message": "Can you help me set up tests for this repo?",
    "containers": [{"id": "thread-abc", "type": "thread"}],
    "scope_level": "user_global_container",
    "read_mode": "balanced",
    "budgets": {"max_output_tokens": 400, "max_candidate_memories": 30},
    "metadata": {"app": "example-host", "trace_id": "trace-002"},
}

ANSWER_EXAMPLE: dict[str, Any] = {
    "status": "ok",
    "has_usable_context": True,
    "context_enhancement": "<contextenhancement>\n"
    "  <scope>user_global_container</scope>\n"
    "  <summary>Tests of this repo run with pytest, in a virtual environment of their own.</summary>\n"
    "  <active_context>The fixtures need a database: `make test` starts one.</active_context>\n"
    "  <confidence_note>Use as supportive context, not unquestionable fact.</confidence_note>\n"
    "</contextenhancement>",
    "abstained_reason": None,
    "diagnostics": {
        "scope_applied": "user_global_container",
        "read_mode": "balanced",
        "user_found": True,
        "candidate_count": 9,
        "used_memory_count": 3,
        "missing_containers": [],
        "source_breakdown": {"snapshot": 2, "vector": 4, "metadata": 3, "graph": 1},
        "evidence_strength": 0.78,
        "warnings": [],
    },
}

UNKNOWN_EXAMPLE: dict[str, Any] = {
    "status": "not_found",
    "has_usable_context": False,
    "context_enhancement": "",
    "abstained_reason": "No memory of this user is known.",
    "diagnostics": {
        "scope_applied": "user_global_container",
        "read_mode": "balanced",
        "user_found": False,
        "candidate_count": 0,
        "used_memory_count": 0,
        "missing_containers": ["thread-abc"],
        "source_breakdown": {"snapshot": 0, "vector": 0, "metadata": 0, "graph": 0},
        "evidence_strength": 0.0,
        "warnings": ["The user is not known: nothing was searched for."],
    },
}

ANSWERS = replies(
    GroundAnswer,
    "The context, or why there is none: an unknown user is `not_found` here, and no error.",
    ANSWER_EXAMPLE,
)
ANSWERS[200]["content"]["application/json"] = {
    "examples": {
        "usable": {"summary": "Context to put into the prompt", "value": kept(ANSWER_EXAMPLE)},
        "not_found": {"summary": "A user of whom nothing is known", "value": kept(UNKNOWN_EXAMPLE)},
    }
}


def add_grounding(app: FastAPI, client: MemoryClient, replied: Callable[[Reply[Any]], Response]) -> None:
    """Add the route; `replied` makes the response of a reply."""

    @app.post(
        PATH,
        summary="Prompt-safe context for a user's next turn",
        tags=["memory"],
        openapi_extra=posted(GroundRequest, REQUEST_EXAMPLE),
        responses=ANSWERS,
    )
    async def ground(request: Request) -> Response:
        turn = understood(request, GroundRequest, await read_fields(request))
        return replied(await client.ground(turn, readable=readable_by(request)))
