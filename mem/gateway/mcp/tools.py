"""The tools: which there are, and what each does with a call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from mcp_types import CallToolResult, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mem.domain.accepting import AcceptAnswer, AcceptRequest
from mem.domain.canonical import whole_numbers
from mem.domain.errors import InvalidRequest, MemError, TooLarge
from mem.domain.grounding import GroundAnswer, GroundRequest
from mem.domain.ids import Text, derived_request_id
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.domain.query import QueryAnswer, QueryRequest
from mem.domain.rights import Rights
from mem.domain.shown import ShownMemory
from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.request_ids import OpenCalls
from mem.gateway.mcp.results import AcceptedResult, Asked, ContextResult, QueryResult, TurnResult, answered, failed
from mem.gateway.mcp.schemas import input_schema, output_schema, told_of

READ_SECONDS = 20.0
ACCEPT_SECONDS = 50.0
"""Deadlines, below the minute after which agents give a tool up: so they get an error that says what to do."""

MAX_ARGUMENT_CHARACTERS = 32 * 1024 * 1024

log = logging.getLogger(__name__)


class ShowRequest(BaseModel):
    """Which memory to show."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    sha: Text = Field(min_length=4, max_length=64)


class Kind(NamedTuple):
    """One tool: the contract of what it takes and gives, and what hosts may know of its effects."""

    takes: type[BaseModel]
    gives: type[BaseModel]
    needed: tuple[str, ...]
    writes: bool = False


KINDS = {
    "memory_context": Kind(ContextRequest, ContextResult, ()),
    "memory_query": Kind(QueryRequest, QueryResult, ("question",)),
    "memory_accept": Kind(AcceptRequest, AcceptedResult, ("text",), writes=True),
    "memory_show": Kind(ShowRequest, ShownMemory, ("sha",)),
    "memory_turn_context": Kind(GroundRequest, TurnResult, ("message", "user_id")),
}


class Tools:
    """Answers the calls of all tools; a fault of the caller is an answer, too.

    Args:
        reaching: the way to the worker and the store.
        project: which one is meant where a call names none; None: each has to name one.
    """

    def __init__(self, reaching: Reaching, project: str | None) -> None:
        self._reaching = reaching
        self._project = project
        self._open = OpenCalls()
        self._run: dict[str, Callable[[dict[str, Any], str, Rights], Awaitable[CallToolResult]]] = {
            "memory_context": self._context,
            "memory_query": self._query,
            "memory_accept": self._accept,
            "memory_turn_context": self._ground,
        }

    def listed(self) -> list[Tool]:
        """All tools as agents are told of them."""
        return [self._described(name, kind) for name, kind in KINDS.items()]

    async def call(self, name: str, arguments: Mapping[str, Any] | None, rights: Rights) -> CallToolResult:
        """The answer to a call, or an error that says what to do about it.

        Args:
            name: one of KINDS.
            arguments: as the agent gave them; null counts as left out.
            rights: what the caller may do.
        """
        request_id: str | None = None
        try:
            given = {field: value for field, value in (arguments or {}).items() if value is not None}
            _check_size(given)
            given = whole_numbers(given)
            if name == "memory_show":
                return await self._show(given, rights)
            fields = {**self._defaults(name), **given}
            _check_project(name, fields)
            request_id = self._request_id(name, fields, rights)
            return await self._run[name]({**fields, "request_id": request_id}, request_id, rights)
        except (MemError, ValidationError) as error:
            return failed(error, request_id)
        except Exception as error:
            log.exception("the tool %s failed", name)
            return failed(error, request_id)

    async def _context(self, fields: dict[str, Any], request_id: str, rights: Rights) -> CallToolResult:
        request = ContextRequest.model_validate(fields)
        rights.require("read", request.project)
        client = await self._reaching.client()
        reply = await client.look_up(request, readable=rights.readable, deadline=READ_SECONDS)
        self._open.answered(request_id)
        asked = Asked(request.project, request_id, reply.notes)
        return await answered(ContextAnswer, reply.body, asked, request)

    async def _query(self, fields: dict[str, Any], request_id: str, rights: Rights) -> CallToolResult:
        request = QueryRequest.model_validate(fields)
        rights.require("read", request.project)
        client = await self._reaching.client()
        reply = await client.query(request, readable=rights.readable, deadline=READ_SECONDS)
        self._open.answered(request_id)
        return await answered(QueryAnswer, reply.body, Asked(request.project, request_id, reply.notes))

    async def _accept(self, fields: dict[str, Any], request_id: str, rights: Rights) -> CallToolResult:
        request = AcceptRequest.model_validate(fields)
        rights.require("write", request.project)
        client = await self._reaching.client()
        reply = await client.accept(request, readable=rights.readable, deadline=ACCEPT_SECONDS)
        asked = Asked(request.project, request_id, reply.notes)
        return await answered(AcceptAnswer, reply.body, asked)

    async def _ground(self, fields: dict[str, Any], request_id: str, rights: Rights) -> CallToolResult:
        request = GroundRequest.model_validate(fields)
        rights.require("read")
        client = await self._reaching.client()
        reply = await client.ground(request, readable=rights.readable, deadline=READ_SECONDS)
        self._open.answered(request_id)
        return await answered(GroundAnswer, reply.body, Asked(None, request_id, reply.notes))

    async def _show(self, fields: dict[str, Any], rights: Rights) -> CallToolResult:
        request = ShowRequest.model_validate(fields)
        rights.require("read")
        memory = await (await self._reaching.reading()).show(request.sha, readable=rights.readable)
        return await answered(ShownMemory, memory.model_dump_json())

    def _request_id(self, name: str, fields: Mapping[str, Any], rights: Rights) -> str:
        given = fields.get("request_id")
        if isinstance(given, str):
            return given
        # The rights are part of a request: under others the same content is another one.
        asked = fields if rights.readable is None else {**fields, "readable": rights.readable}
        try:
            return derived_request_id(asked) if KINDS[name].writes else self._open.id_of(rights.name, name, asked)
        except ValueError:
            return "none"  # of what no JSON can carry; the contract refuses it, and says which field it is

    def _defaults(self, name: str) -> dict[str, Any]:
        level = {"level": "L1"} if name == "memory_accept" else {}
        has_own = self._project is not None and "project" in KINDS[name].takes.model_fields
        return {**level, "project": self._project} if has_own else level

    def _described(self, name: str, kind: Kind) -> Tool:
        title, description, fields = told_of(name, self._project)
        needed = kind.needed if self._project is not None or "project" not in fields else (*kind.needed, "project")
        return Tool(
            name=name,
            title=title,
            description=description,
            input_schema=input_schema(kind.takes, fields, needed=needed),
            output_schema=output_schema(kind.gives),
            annotations=ToolAnnotations(
                title=title,
                read_only_hint=not kind.writes,
                destructive_hint=False,  # the journal loses nothing
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )


def _check_project(name: str, fields: Mapping[str, Any]) -> None:
    if "project" in KINDS[name].takes.model_fields and "project" not in fields:
        raise InvalidRequest(
            "No project is named, and this server has none of its own.",
            "Pass `project`; to have one of its own it is started with --project NAME.",
        )


def _check_size(value: Any) -> None:
    """Refuse arguments that are beyond what any door takes.

    Raises:
        TooLarge: their texts are.
    """
    size = _characters(value)
    if size > MAX_ARGUMENT_CHARACTERS:
        raise TooLarge(
            f"The arguments take {size} characters; the limit is {MAX_ARGUMENT_CHARACTERS}.",
            "Pass the failing part of the log.",
        )


def _characters(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(name) + _characters(each) for name, each in value.items())
        case list():
            return sum(map(_characters, value))
        case _:
            return 0


async def telling(work: Awaitable[CallToolResult], tell: Callable[[float], Awaitable[None]]) -> CallToolResult:
    """Await an answer, and tell every few seconds that it is still waited for."""
    waiting = asyncio.create_task(_tell(tell))
    try:
        return await work
    finally:
        waiting.cancel()


TELL_SECONDS = 2.0


async def _tell(tell: Callable[[float], Awaitable[None]]) -> None:
    seconds = 0.0
    while True:
        await asyncio.sleep(TELL_SECONDS)
        seconds += TELL_SECONDS
        await tell(seconds)
