"""Requests that the workflow tests send."""

from __future__ import annotations

from typing import Any

from mem.domain.accepting import AcceptRequest
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from tests.temporal_server import Rig

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
RAW_LINE = "mem-test-raw-line-that-no-rule-keeps"
LOG = (
    "npm ERR! code ERESOLVE\n"
    "npm ERR! ERESOLVE unable to resolve dependency tree\n"
    "npm ERR! Could not resolve dependency:\n"
    'npm ERR! peer react@"^18" from @types/react@18.0.1\n'
    f"{RAW_LINE}\n"
)
TRACEBACK = "Traceback (most recent call last):\n  File \"app.py\", line 3, in f\n    g()\nKeyError: 'colour'\n"
LESSON = "The peer range of @types/react excludes react 19: pin it through `overrides` instead of forcing the install."

QUESTION = "Why does the peer range of react exclude the install?"

MESSAGE = "The peer range of @types/react excludes react 19, what do we do about it?"


def lookup_fields(rig: Rig, request_id: str = "1", **fields: Any) -> dict[str, Any]:
    return {"request_id": request_id, "project": rig.project, "signature_source": LOG, **fields}


def lookup(rig: Rig, request_id: str = "1", **fields: Any) -> ContextRequest:
    return ContextRequest.model_validate(lookup_fields(rig, request_id, **fields))


def question_fields(rig: Rig, request_id: str = "1", **fields: Any) -> dict[str, Any]:
    return {"request_id": request_id, "project": rig.project, "question": QUESTION, **fields}


def question(rig: Rig, request_id: str = "1", **fields: Any) -> QueryRequest:
    return QueryRequest.model_validate(question_fields(rig, request_id, **fields))


def candidate_fields(rig: Rig, request_id: str = "1", **fields: Any) -> dict[str, Any]:
    evidence = [{"source": "ci:1", "turn": 1, "text": LOG}, {"source": "ci:2", "text": TRACEBACK}]
    return {
        "request_id": request_id, "project": rig.project, "level": "L1", "text": LESSON, "evidence": evidence, **fields
    }  # fmt: skip


def candidate(rig: Rig, request_id: str = "1", **fields: Any) -> AcceptRequest:
    return AcceptRequest.model_validate(candidate_fields(rig, request_id, **fields))


def turn_fields(rig: Rig, request_id: str = "1", **fields: Any) -> dict[str, Any]:
    return {"request_id": request_id, "user_id": rig.user(), "message": MESSAGE, **fields}


def turn(rig: Rig, request_id: str = "1", **fields: Any) -> GroundRequest:
    return GroundRequest.model_validate(turn_fields(rig, request_id, **fields))


def own(rig: Rig, request_id: str = "1", **fields: Any) -> AcceptRequest:
    """A candidate of the user's."""
    return candidate(rig, request_id, user_id=rig.user(), **fields)
