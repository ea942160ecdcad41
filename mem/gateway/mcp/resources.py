"""The resource: one memory, by its sha or what that begins with."""

from __future__ import annotations

import asyncio
import json
import re

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteResult,
    Completion,
    CompletionArgument,
    ReadResourceResult,
    ResourceTemplate,
    ResourceTemplateReference,
    TextResourceContents,
)

from mem.domain.errors import AmbiguousPrefix, MemError, NotFound
from mem.domain.rights import Rights
from mem.domain.shown import ShownMemory
from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.schemas import told_of

TEMPLATE = "memory://{sha}"
_URI = re.compile(r"memory:/{2,3}([0-9A-Za-z]{1,64})/?")
_NOT_FOUND = -32002
"""What the protocol says for a resource that is not there."""


class Resources:
    """Reads memories as resources."""

    def __init__(self, reaching: Reaching) -> None:
        self._reaching = reaching

    def templates(self) -> list[ResourceTemplate]:
        """How the address of a memory is made."""
        title, description, _ = told_of("memory", None)
        return [
            ResourceTemplate(
                name="memory", title=title, description=description, uri_template=TEMPLATE, mime_type="application/json"
            )
        ]

    async def read(self, uri: str, rights: Rights) -> ReadResourceResult:
        """One memory as JSON.

        Raises:
            MCPError: it is none, or cannot be read; says why.
        """
        found = _URI.fullmatch(uri)
        if found is None:
            raise MCPError(INVALID_PARAMS, f"{uri[:80]!r} is no memory. Write {TEMPLATE}, with 4 to 64 hex digits.")
        try:
            memory = await self._shown(found[1], rights)
        except MemError as error:
            code = (
                _NOT_FOUND if isinstance(error, NotFound) and not isinstance(error, AmbiguousPrefix) else INVALID_PARAMS
            )
            raise MCPError(code, str(error), {"uri": uri[:200]}) from error
        text = await asyncio.to_thread(_document, memory)
        return ReadResourceResult(
            contents=[TextResourceContents(uri=f"memory://{memory.sha}", mime_type="application/json", text=text)]
        )

    async def complete(self, reference: object, argument: CompletionArgument, rights: Rights) -> CompleteResult:
        """The shas that begin with what was typed, from the fourth digit on."""
        values: list[str] = []
        if isinstance(reference, ResourceTemplateReference) and reference.uri == TEMPLATE and argument.name == "sha":
            values = await self._beginning(argument.value, rights)
        return CompleteResult(completion=Completion(values=values, has_more=False))

    async def _beginning(self, prefix: str, rights: Rights) -> list[str]:
        try:
            return [(await self._shown(prefix, rights)).sha]
        except AmbiguousPrefix as error:
            return list(error.candidates)
        except MemError:
            return []  # who then reads the memory is told why it cannot be read

    async def _shown(self, sha: str, rights: Rights) -> ShownMemory:
        rights.require("read")
        return await (await self._reaching.reading()).show(sha, readable=rights.readable)


def _document(memory: ShownMemory) -> str:
    from mem.gateway.mcp.data import harmless  # noqa: PLC0415 - loads all rules

    return json.dumps(harmless(memory.model_dump(mode="json")), ensure_ascii=False, indent=1)
