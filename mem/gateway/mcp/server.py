"""The MCP server: its tools, its prompt and its resource, whatever it is reached over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from mem.domain.errors import MemError
from mem.domain.rights import UNRESTRICTED, Rights
from mem.gateway.mcp.prompts import Prompts
from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.resources import Resources
from mem.gateway.mcp.results import load_rules
from mem.gateway.mcp.schemas import texts
from mem.gateway.mcp.tools import KINDS, Tools, telling

Context = ServerRequestContext[Any, Any]
Page = PaginatedRequestParams | None
RightsOf = Callable[[Context], Rights]


def unrestricted(_: Context) -> Rights:
    """Over stdio the caller is who started the process, and can do whatever it can."""
    return UNRESTRICTED


def create_server(reaching: Reaching, project: str | None, rights_of: RightsOf) -> Server[Any]:
    """The server over the way to worker and store.

    Args:
        reaching: the way there.
        project: which one is meant where a call names none.
        rights_of: what the caller of a request may do; `unrestricted` where whoever calls is this machine's own user.
    """
    routes = _Routes(reaching, project, rights_of)
    server: Server[Any] = Server(
        "mem",
        version=_version(),
        title="Failure memory",
        description="What earlier incidents taught, found from the failure itself.",
        instructions=texts()["instructions"].strip(),
        on_list_tools=routes.list_tools,
        on_call_tool=routes.call_tool,
        on_list_prompts=routes.list_prompts,
        on_get_prompt=routes.get_prompt,
        on_list_resources=routes.list_resources,
        on_list_resource_templates=routes.list_templates,
        on_read_resource=routes.read_resource,
        on_completion=routes.complete,
    )
    server.add_notification_handler("notifications/initialized", NotificationParams, routes.prepare)
    return server


class _Routes:
    """What each request of the protocol is answered by."""

    def __init__(self, reaching: Reaching, project: str | None, rights_of: RightsOf) -> None:
        self._rights_of = rights_of
        self._reaching = reaching
        self._tools = Tools(reaching, project)
        self._prompts = Prompts(self._tools, project)
        self._resources = Resources(reaching)

    async def list_tools(self, _: Context, __: Page) -> ListToolsResult:
        return ListToolsResult(tools=self._tools.listed())

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in KINDS:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:80]!r}. There are: {', '.join(KINDS)}.")

        async def tell(seconds: float) -> None:
            await context.session.report_progress(seconds, message="waiting for the memory")

        return await telling(self._tools.call(params.name, params.arguments, self._rights_of(context)), tell)

    async def list_prompts(self, _: Context, __: Page) -> ListPromptsResult:
        return ListPromptsResult(prompts=self._prompts.listed())

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return await self._prompts.filled(params.name, params.arguments, self._rights_of(context))

    async def list_resources(self, _: Context, __: Page) -> ListResourcesResult:
        return ListResourcesResult(resources=[])  # memories are too many to list; tools find them

    async def list_templates(self, _: Context, __: Page) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=self._resources.templates())

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await self._resources.read(params.uri, self._rights_of(context))

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        return await self._resources.complete(params.ref, params.argument, self._rights_of(context))

    async def prepare(self, _: Context, __: NotificationParams) -> None:
        """Connect while the agent still thinks: the first call is then as fast as the others."""
        await asyncio.to_thread(load_rules)
        try:
            await self._reaching.client()
        except MemError:
            return  # whoever calls a tool is told


def _version() -> str:
    try:
        return version("mem-worker")
    except PackageNotFoundError:
        return "unknown"
