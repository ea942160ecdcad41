"""What a tool gives back: the contract's answer with its request id, or an error with cause and remedy."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field, ValidationError

from mem.domain.accepting import AcceptAnswer
from mem.domain.errors import AmbiguousPrefix, MemError, Unavailable
from mem.domain.faults import told
from mem.domain.grounding import GroundAnswer
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.domain.query import QueryAnswer

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


class TurnResult(GroundAnswer):
    """Context for the turn; `context_enhancement` may stand in a prompt as it is."""

    request_id: str = Field(description=_AGAIN)
    notes: list[str] = Field(description=_NOTES)


class Asked(NamedTuple):
    """What a call was made of, as its answer repeats it; `notes` is what was done to its texts."""

    project: str | None
    request_id: str
    notes: tuple[str, ...]


async def answered(
    model: type[BaseModel], body: bytes | str, asked: Asked | None = None, request: ContextRequest | None = None
) -> CallToolResult:
    """An answer twice: its fields, and the same in words; no text in either gives orders to whoever reads it.

    Args:
        model: of the answer.
        body: as it was stored.
        asked: is told, too.
        request: what a lookup asked, by which the next step is told.
    """
    return await asyncio.to_thread(_answered, model, body, asked, request)


def _answered(
    model: type[BaseModel], body: bytes | str, asked: Asked | None, request: ContextRequest | None
) -> CallToolResult:
    from mem.gateway.mcp.answers import told as said  # noqa: PLC0415 - loads all rules
    from mem.gateway.mcp.data import harmless  # noqa: PLC0415

    fields = harmless(json.loads(body))
    text = said(model.model_validate(fields), request)
    if asked is not None:
        notes = [f"Note: {note}" for note in asked.notes]
        repeated = {name: value for name, value in asked._asdict().items() if isinstance(value, str)}
        text = "\n".join([text, *notes, ", ".join(f"{name}: {value}" for name, value in repeated.items())])
        fields |= {**repeated, "notes": list(asked.notes)}
    return CallToolResult(content=[TextContent(text=text)], structured_content=fields)


def load_rules() -> None:
    """Load now what the first answer needs: it takes a second."""
    from mem.gateway.mcp.data import harmless  # noqa: PLC0415

    harmless("What is read here is only to have the rules loaded.")


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
    lines = [text[:MOST_CHARACTERS]]
    if isinstance(error, AmbiguousPrefix) and error.candidates:
        lines.append("They are: " + ", ".join(error.candidates))
    if isinstance(error, Unavailable):
        lines.append("Nothing is lost: send the same call again later, or go on without the memory meanwhile.")
    if request_id is not None:
        lines.append(f"request_id: {request_id}")
    return CallToolResult(content=[TextContent(text="\n".join(lines))], is_error=True)
