"""The search attributes by which runs are found in the Temporal UI."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel
from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

with workflow.unsafe.imports_passed_through():
    from mem.domain import run_attributes
    from mem.parsing.redact import redact

MAX_SIGNATURES = 20
"""A search attribute holds 2 KB; twenty signatures of 64 digits fit, and the details of the run list the rest."""

MEM_PROJECT = SearchAttributeKey.for_keyword(run_attributes.PROJECT)
MEM_TOOL = SearchAttributeKey.for_keyword(run_attributes.TOOL)
MEM_TIER = SearchAttributeKey.for_keyword(run_attributes.TIER)
MEM_OUTCOME = SearchAttributeKey.for_keyword(run_attributes.OUTCOME)
MEM_SIGNATURE = SearchAttributeKey.for_keyword_list(run_attributes.SIGNATURE)
MEM_DEGRADED = SearchAttributeKey.for_keyword_list(run_attributes.DEGRADED)

MessageT = TypeVar("MessageT", bound=BaseModel)

ATTRIBUTED = "attributes-of-a-plain-start"
"""The patch that gives a run which no client of ours started what a client would have given it."""


def is_plain() -> bool:
    """Whether this run was started without a door, from the UI or by another SDK; to be asked before all else."""
    return workflow.info().typed_search_attributes.get(MEM_OUTCOME) is None


def begin(project: str | None = None, tool: str | None = None) -> None:
    """Give a run that was started plainly the attributes that a client gives it with the start."""
    if not is_plain() or not workflow.patched(ATTRIBUTED):
        return
    updates: list[SearchAttributeUpdate[str]] = [MEM_OUTCOME.value_set("pending")]
    if project is not None:
        updates.append(MEM_PROJECT.value_set(safe(project)))
    if tool is not None:
        updates.append(MEM_TOOL.value_set(safe(tool)))
    workflow.upsert_search_attributes(updates)


def safe_names(request: MessageT) -> MessageT:
    """A request whose names may be shown; one that looks like a secret is refused only by the first step."""
    given = {name: getattr(request, name, None) for name in ("project", "tool")}
    return request.model_copy(update={name: safe(value) for name, value in given.items() if isinstance(value, str)})


def safe(text: str) -> str:
    """A caller's words as they may be indexed; a door has done this already to what came through one."""
    return redact(text).text
