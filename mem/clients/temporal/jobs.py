"""A workflow that takes as long as it takes: started, or joined where it runs already, and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.common import Priority, TypedSearchAttributes, WorkflowIDConflictPolicy
from temporalio.service import RPCError

from mem.clients.temporal.calls import PENDING, failure_of, rpc_failure_of, target_of
from mem.domain.asked import asked
from mem.domain.rebuild import RebuildInput
from mem.domain.replaying import Progress

WATCH_SECONDS = 0.5
"""How often a run is asked where it stands."""

LAST = 5
"""The lowest priority that a server has unless it is told otherwise: a candidate goes before a rebuild."""

Watch = Callable[[Progress], None]

ResultT = TypeVar("ResultT", bound=BaseModel)


async def run_to_end(
    client: Client,
    workflow: str,
    message: RebuildInput,
    *,
    workflow_id: str,
    task_queue: str,
    result_type: type[ResultT],
    summary: str,
    lifetime: timedelta,
    watch: Watch | None = None,
) -> ResultT:
    """The result of the run that is open under `workflow_id`, or of a new one.

    Args:
        watch: is told now and then where the run stands.

    Raises:
        Unavailable: Temporal does not answer; the run goes on, and the same call waits for it again.
        MemError: what the run itself failed with.
    """
    try:
        handle = await client.start_workflow(
            workflow,
            message,
            id=workflow_id,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            execution_timeout=lifetime,
            static_summary=summary,
            priority=Priority(priority_key=LAST),
            static_details=asked(message),
            search_attributes=TypedSearchAttributes([PENDING]),
            result_type=result_type,
        )
        async with _watched(handle, watch):
            result: ResultT = await handle.result()
        return result  # noqa: TRY300 - the except clauses raise
    except WorkflowFailureError as error:
        raise failure_of(error.cause) from error
    except RPCError as error:
        raise rpc_failure_of(error, target_of(client)) from error


@asynccontextmanager
async def _watched(handle: WorkflowHandle[Any, Any], watch: Watch | None) -> AsyncIterator[None]:
    watching = None if watch is None else asyncio.create_task(_watch(handle, watch))
    try:
        yield
    finally:
        if watching is not None:
            watching.cancel()


async def _watch(handle: WorkflowHandle[Any, Any], watch: Watch) -> None:
    while True:
        # Whoever watches may miss a look: the result comes by another way.
        with suppress(RPCError, WorkflowQueryFailedError, WorkflowQueryRejectedError):
            found: Progress = await handle.query(
                "progress", result_type=Progress, rpc_timeout=timedelta(seconds=WATCH_SECONDS * 4)
            )
            watch(found)
        await asyncio.sleep(WATCH_SECONDS)
