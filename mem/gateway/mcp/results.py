"""What a tool gives back: the contract's answer with its request id, or an error with cause and remedy."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field, ValidationError

from mem.domain.accepting import AcceptAnswer
from mem.domain.errors import AmbiguousPrefix, MemError, Unavailable
from mem.domain.faults import told
from mem.domain.lookup import ContextAnswer
from mem.domain.query import QueryAnswer
from mem.parsing.sanitize import strip_unsafe

MOST_FAULTS = 5
MOST_CHARACTERS = 2000
"""Of an error: it may quote the caller, who can send more than anyone reads."""

_AGAIN = "The same call with the same arguments gives this very answer when this id is passed as `request_id`."
_NOTES = "What was done to the texts before they left this machine, such as secrets that were taken out."


class ContextResult(ContextAnswer):
    """What is known; `tier` is the best tier that answered, null where nothing is known."""

    project: str
    request_id: str = Field(description=_AGAIN)
    notes: list[str] = Field(description=_NOTES)


class QueryResult(QueryAnswer):
    """The memories nearest to the question, the likeliest first."""

    request_id: str = Field(description=_AGAIN)
    notes: list[str] = Field(description=_NOTES)


class AcceptedResult(AcceptAnswer):
    """What became of the candidate."""

    project: str
    request_id: str = Field(description=_AGAIN)
    notes: list[str] = Field(description=_NOTES)


def answered(body: bytes | str, text: str, **more: Any) -> CallToolResult:
    """An answer: the fields of its body as they were stored, and what is added, and the same for readers of text."""
    return CallToolResult(content=[TextContent(text=text)], structured_content={**json.loads(body), **more})


def failed(error: Exception, request_id: str | None = None) -> CallToolResult:
    """An error as the tool's own: the agent reads what was wrong and what to do about it."""
    match error:
        case ValidationError():
            cause = told(error, whole="arguments", most=MOST_FAULTS)
            text = f"InvalidRequest: {cause}. Send the arguments as the tool's schema has them."
        case MemError():
            text = f"{type(error).__name__}: {error}"
        case _:
            text = "The server failed at this call. Look at its log on stderr; the call may be sent again."
    lines = [strip_unsafe(text).text[:MOST_CHARACTERS]]
    if isinstance(error, AmbiguousPrefix) and error.candidates:
        lines.append("They are: " + ", ".join(error.candidates))
    if isinstance(error, Unavailable):
        lines.append("Nothing is lost: send the same call again later, or go on without the memory meanwhile.")
    if request_id is not None:
        lines.append(f"request_id: {request_id}")
    return CallToolResult(content=[TextContent(text="\n".join(lines))], is_error=True)


def footer(project: str, request_id: str, notes: tuple[str, ...]) -> str:
    """What stands below each answer in words."""
    return "\n".join([*(f"Note: {note}" for note in notes), f"project: {project}, request_id: {request_id}"])
