"""What a run that gives no answer is waiting for, in words."""

from __future__ import annotations

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client
from temporalio.exceptions import FailureError
from temporalio.service import RPCError, RPCStatusCode

from mem.domain.errors import MemError

LAST_EVENTS = 5
NOT_READY = b"temporal.api.errordetails.v1.WorkflowNotReadyFailure"


def is_stuck(error: RPCError) -> bool:
    """Whether a call was refused since no worker got on with its run so far; another one may."""
    return error.status == RPCStatusCode.FAILED_PRECONDITION and NOT_READY in error.raw_grpc_status


async def awaited(client: Client, workflow_id: str) -> str:
    """What the steps of a run failed with last, or its workflow task; empty where neither did.

    Raises:
        RPCError: Temporal does not tell.
    """
    described = (await client.get_workflow_handle(workflow_id).describe()).raw_description
    failures = {
        step.activity_type.name: await _message_of(client, step.last_failure)
        for step in described.pending_activities
        if step.HasField("last_failure")
    }
    if described.pending_workflow_task.attempt > 1:
        message = await _last_task_failure(client, workflow_id)
        return f" No worker gets on with the run: {message}" if message else ""
    return "".join(f" It is pending: {name} failed with: {message}" for name, message in sorted(failures.items()))


async def _last_task_failure(client: Client, workflow_id: str) -> str:
    history = await client.workflow_service.get_workflow_execution_history_reverse(
        GetWorkflowExecutionHistoryReverseRequest(
            namespace=client.namespace,
            execution=WorkflowExecution(workflow_id=workflow_id),
            maximum_page_size=LAST_EVENTS,
        )
    )
    for event in history.history.events:
        if event.HasField("workflow_task_failed_event_attributes"):
            return await _message_of(client, event.workflow_task_failed_event_attributes.failure)
    return ""


async def _message_of(client: Client, failure: Failure) -> str:
    """The text of a failure; where it is encrypted and cannot be read, why not."""
    try:
        error = await client.data_converter.decode_failure(failure)
    except MemError as unreadable:
        return unreadable.cause
    return error.message if isinstance(error, FailureError) else str(error)
