"""The prompt: what to do about a failure, with what the memory knows of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from mem.domain.rights import Rights
from mem.gateway.mcp.schemas import texts, told_of
from mem.gateway.mcp.tools import Tools

TRIAGE = "failure_triage"
MOST_LOG_BYTES = 16 * 1024
"""Of the log that stands in the prompt; of a longer one its failing parts do."""


class Prompts:
    """Fills prompts in.

    Args:
        tools: what asks the memory.
        project: which one is meant where none is named.
    """

    def __init__(self, tools: Tools, project: str | None) -> None:
        self._tools = tools
        self._project = project

    def listed(self) -> list[Prompt]:
        """All prompts."""
        title, description, fields = told_of(TRIAGE, self._project)
        needed = {"log"} if self._project is not None else {"log", "project"}
        arguments = [
            PromptArgument(name=name, description=text, required=name in needed) for name, text in fields.items()
        ]
        return [Prompt(name=TRIAGE, title=title, description=description, arguments=arguments)]

    async def filled(self, name: str, arguments: Mapping[str, str] | None, rights: Rights) -> GetPromptResult:
        """A prompt with its arguments in it; where the memory does not answer it says so, and helps all the same.

        Raises:
            MCPError: there is no such prompt, or an argument is missing or unknown: a prompt has no other way to tell.
        """
        given = dict(arguments or {})
        log = given.pop("log", "")
        project = given.pop("project", "") or self._project
        if name != TRIAGE:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:80]!r}. There is: {TRIAGE}.")
        if given:
            raise MCPError(INVALID_PARAMS, f"{TRIAGE} takes no {', '.join(sorted(given))[:200]}.")
        if not log.strip() or project is None:
            missing = "`log`: what failed, as it was printed" if not log.strip() else "`project`"
            raise MCPError(INVALID_PARAMS, f"{TRIAGE} needs {missing}.")
        known = await self._tools.call("memory_context", {"signature_source": log, "project": project}, rights)
        answer = "\n".join(block.text for block in known.content if isinstance(block, TextContent))
        parts = [
            texts()[TRIAGE]["steps"].strip(),
            f"What the memory says:\n{answer}",
            await asyncio.to_thread(_data, log),
        ]
        message = PromptMessage(role="user", content=TextContent(text="\n\n".join(parts)))
        return GetPromptResult(description="What is known of the failure, and how to go on.", messages=[message])


def _data(log: str) -> str:
    """The log as data, without secrets, and reduced to its failing parts where it is long."""
    from mem.gateway.mcp.data import tagged  # noqa: PLC0415 - loads all rules
    from mem.parsing import distill  # noqa: PLC0415
    from mem.parsing.redact import redact  # noqa: PLC0415

    short = distill(log).text if len(log.encode("utf-8", "replace")) > MOST_LOG_BYTES else log
    return tagged("log", redact(short).text)
