"""A workflow that takes as long as it takes: started, or joined where it runs already, and waited for."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from mem.clients.temporal.calls import failure_of, rpc_failure_of, target_of

ResultT = TypeVar("ResultT", bound=BaseModel)


async def run_to_end(
    client: Client,
    workflow: str,
    message: BaseModel,
    *,
    workflow_id: str,
    task_queue: str,
    result_type: type[ResultT],
    summary: str,
    lifetime: timedelta,
) -> ResultT:
    """The result of the run that is open under `workflow_id`, or of a new one.

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
            result_type=result_type,
        )
        result: ResultT = await handle.result()
        return result  # noqa: TRY300 - the except clauses raise
    except WorkflowFailureError as error:
        raise failure_of(error.cause) from error
    except RPCError as error:
        raise rpc_failure_of(error, target_of(client)) from error
