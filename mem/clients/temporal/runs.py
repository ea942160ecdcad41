"""The runs that Temporal lists for a filter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from temporalio.client import Client, WorkflowExecution
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError

from mem.clients.temporal.calls import rpc_failure_of, target_of
from mem.clients.temporal.list_filter import ListFilter, list_filter
from mem.domain.errors import AmbiguousPrefix, Unavailable
from mem.domain.run_attributes import DEGRADED, OUTCOME, PROJECT, SIGNATURE, TIER, TOOL
from mem.domain.runs import SIGNATURE_DIGITS, Run, RunsAnswer, RunsRequest, kind_of, request_of

LIST_SECONDS = 20.0
PAGE = 1000
SCANNED = 20_000
"""So many runs are read at most to find those that no filter can select alone."""
TOLD = 5
"""So many signatures are named where a beginning is that of several."""

_PROJECT, _TOOL, _TIER, _OUTCOME = (SearchAttributeKey.for_keyword(name) for name in (PROJECT, TOOL, TIER, OUTCOME))
_SIGNATURES, _DEGRADED = (SearchAttributeKey.for_keyword_list(name) for name in (SIGNATURE, DEGRADED))


async def list_runs(client: Client, request: RunsRequest, now: datetime) -> RunsAnswer:
    """The runs that are asked for; the beginning of a signature is completed from them.

    Raises:
        AmbiguousPrefix: several signatures begin with the digits that were given.
        ConfigurationError: the namespace lacks the search attributes.
        Unavailable: Temporal does not answer.
    """
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return await _answer(client, request, now)
    except TimeoutError as error:
        raise Unavailable(
            f"Temporal at {target_of(client)} did not list the runs within {LIST_SECONDS:.0f} s.",
            "Narrow the list down, as by --since, or check `mem status`.",
        ) from error
    except RPCError as error:
        raise rpc_failure_of(error, target_of(client)) from error


async def _answer(client: Client, request: RunsRequest, now: datetime) -> RunsAnswer:
    if request.signature is not None and len(request.signature) < SIGNATURE_DIGITS:
        whole = await _whole(client, request, now)
        if whole is None:
            return RunsAnswer(filter=list_filter(request, now).text, exact=False, total=None, runs=[])
        request = request.model_copy(update={"signature": whole})
    asked = list_filter(request, now)
    runs = await _first(client, request, asked)
    # Counted a moment later, when some of those that are listed may be gone.
    total = max((await client.count_workflows(asked.text)).count, len(runs)) if asked.exact else None
    return RunsAnswer(filter=asked.text, exact=asked.exact, total=total, runs=runs)


async def _first(client: Client, request: RunsRequest, asked: ListFilter) -> list[Run]:
    # Between two pages a run may close, and come again.
    found: dict[str, Run] = {}
    async for run in _listed(client, asked.text, request.limit if asked.exact else PAGE):
        if request.selects(run):
            found.setdefault(run.run_id, run)
        if len(found) == request.limit:
            break
    return sorted(found.values(), key=_place)


async def _whole(client: Client, request: RunsRequest, now: datetime) -> str | None:
    """The signature of which a request has the beginning, from the runs that it selects; None where none has one."""
    digits = str(request.signature)
    whole = {
        each
        async for run in _listed(client, list_filter(request, now).text, PAGE)
        if request.selects(run)
        for each in run.signatures
        if each.startswith(digits)
    }
    if len(whole) > 1:
        told = ", ".join(sorted(whole)[:TOLD])
        raise AmbiguousPrefix(f"Several signatures begin with {digits}: {told}.", "Write more digits, or all 64.")
    return whole.pop() if whole else None


async def _listed(client: Client, text: str, page: int) -> AsyncIterator[Run]:
    async for execution in client.list_workflows(text, page_size=page, limit=SCANNED):
        yield _run(execution)


def _run(execution: WorkflowExecution) -> Run:
    attributes = execution.typed_search_attributes
    kind = kind_of(execution.workflow_type)
    closed = execution.close_time
    return Run(
        kind=kind,
        workflow_id=execution.id,
        run_id=execution.run_id,
        request_id=request_of(kind, execution.id),
        project=attributes.get(_PROJECT),
        tool=attributes.get(_TOOL),
        tier=attributes.get(_TIER),
        outcome=attributes.get(_OUTCOME),
        signatures=sorted(attributes.get(_SIGNATURES) or ()),
        degraded=sorted(attributes.get(_DEGRADED) or ()),
        status="unknown" if execution.status is None else execution.status.name.lower().replace("_", "-"),
        started=execution.start_time,
        closed=closed,
        seconds=None if closed is None else (closed - execution.start_time).total_seconds(),
    )


def _place(run: Run) -> tuple[float, float, str]:
    """The order of the UI, in which an open run comes before all that are closed."""
    closed = float("-inf") if run.closed is None else -run.closed.astimezone(UTC).timestamp()
    return closed, -run.started.timestamp(), run.run_id
