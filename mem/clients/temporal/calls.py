"""Update-with-start, sent until it is answered: the same ids in every attempt."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import timedelta
from typing import Any, NamedTuple

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    Priority,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, FailureError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.serving import check_served
from mem.clients.temporal.waiting import awaited, is_stuck
from mem.domain import errors, run_attributes
from mem.domain.accepting import AcceptInput, AcceptResult
from mem.domain.answers import Answer
from mem.domain.asked import asked
from mem.domain.errors import MemError, RequestConflict, Unavailable
from mem.domain.grounding import GroundInput
from mem.domain.lookup import LookUpInput
from mem.domain.query import QueryInput

log = logging.getLogger(__name__)

ATTEMPT_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0
SHORTEST_ATTEMPT_SECONDS = 0.1
LOOK_SECONDS = 0.01
"""A start that failed has done so by now: a turn of the event loop shows it."""
DESCRIBE_SECONDS = 2.0
DESCRIBE_SHARE = 0.1
"""So much of a short deadline is kept to ask what the run is waiting for."""
IMPOSTOR_SECONDS = 1.0
"""So long a conflict with an open run is held back, to see whether that run is itself refused."""

PENDING = SearchAttributePair(SearchAttributeKey.for_keyword(run_attributes.OUTCOME), "pending")
"""Every run begins with it, and sets what became of it when it knows."""

# Another attempt may be answered: nothing here says that the request itself is at fault.
_PASSING = {
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.ABORTED,
    RPCStatusCode.INTERNAL,
    RPCStatusCode.UNKNOWN,
}


class Call(NamedTuple):
    """One request on its way: the same ids in every attempt."""

    workflow: str
    update: str
    workflow_id: str
    update_id: str
    result: type[Answer]
    message: AcceptInput | LookUpInput | QueryInput | GroundInput
    fingerprint: str
    summary: str
    lifetime: timedelta
    attributes: TypedSearchAttributes
    task_queue: str
    fair: str
    """Whose call it is: where one has sent many, those of others are not behind them."""


async def send(client: Client, call: Call, *, deadline: float) -> bytes:
    """The answer's body; an attempt that is lost is sent again with the same ids.

    Raises:
        RequestConflict: the request id was used before with another body.
        Unavailable: no answer within `deadline` seconds.
        MemError: what the run itself failed with.
    """
    end = time.monotonic() + deadline
    last = end - min(DESCRIBE_SECONDS, DESCRIBE_SHARE * deadline)
    pause = FIRST_PAUSE_SECONDS
    reason: MemError
    while True:
        left = max(SHORTEST_ATTEMPT_SECONDS, last - time.monotonic())
        seconds = min(ATTEMPT_SECONDS, left)
        try:
            # The server was seen to take twice the rpc timeout while no worker answers.
            async with asyncio.timeout(min(seconds + 1, left)):
                return (await _attempt(client, call, timedelta(seconds=seconds))).body.encode("utf-8")
        except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError) as error:
            reason = _no_answer(client, call, error)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                # The SDK reports a cancelled caller as a timeout.
                raise asyncio.CancelledError from error
        except RPCError as error:
            if error.status not in _PASSING and not is_stuck(error):
                raise rpc_failure_of(error, target_of(client)) from error
            reason = _no_answer(client, call, error)
        except _ImpostorError as error:
            reason = error.conflict
        log.info("attempt lost, sent again with the same ids: %s", reason)
        if time.monotonic() + pause >= last:
            raise await _with_pending(client, call, reason, end)
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


class _ImpostorError(Exception):
    """The run that refused this request was itself refused: it had come under the id of an earlier one."""

    def __init__(self, conflict: RequestConflict) -> None:
        super().__init__(conflict)
        self.conflict = conflict


async def _attempt(client: Client, call: Call, rpc_timeout: timedelta) -> Answer:
    start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
        call.workflow,
        call.message,
        id=call.workflow_id,
        task_queue=call.task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        execution_timeout=call.lifetime,
        memo={"fingerprint": call.fingerprint},
        static_summary=call.summary,
        static_details=asked(call.message),
        search_attributes=call.attributes.updated(PENDING),
        priority=Priority(fairness_key=call.fair),
        result_type=call.result,
    )
    try:
        answer: Answer = await client.execute_update_with_start_workflow(
            call.update,
            call.message,
            start_workflow_operation=start,
            id=call.update_id,
            result_type=Answer,
            rpc_timeout=rpc_timeout,
        )
        return answer  # noqa: TRY300 - the except clauses below answer too
    except WorkflowAlreadyStartedError:
        return await _answer_of_closed_run(client, call)
    except WorkflowUpdateFailedError as error:
        if _ended_with_run(error.cause):
            return await _answer_of_closed_run(client, call)
        failure = failure_of(error.cause)
        if isinstance(failure, RequestConflict):
            await _look_for_impostor(client, call, failure)
        raise failure from error
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND and "closing workflow" in error.message:
            return await _answer_of_closed_run(client, call)
        raise
    finally:
        await _look_at(start)


async def _answer_of_closed_run(client: Client, call: Call) -> Answer:
    """A closed run that has no outcome for this update: the same body was answered by its result, another conflicts."""
    handle = client.get_workflow_handle(call.workflow_id, result_type=call.result)
    try:
        result = await handle.result()
    except WorkflowFailureError as error:
        failure = failure_of(error.cause)
        if isinstance(failure, RequestConflict) and _is_of_another(error.cause, call):
            raise _ImpostorError(failure) from error
        raise failure from error
    if result.fingerprint != call.fingerprint:
        raise RequestConflict.of(call.message.request_id)
    if isinstance(result, AcceptResult) and call.update_id.endswith(":durable"):
        return Answer(body=result.durable_body, fingerprint=result.fingerprint)
    return Answer(body=result.body, fingerprint=result.fingerprint)


async def _look_for_impostor(client: Client, call: Call, conflict: RequestConflict) -> None:
    """Whether the open run that refused this request is itself in conflict with an answer that Temporal has forgotten.

    Raises:
        _ImpostorError: it is; once it has ended, this request can be sent again.
    """
    handle = client.get_workflow_handle(call.workflow_id, result_type=call.result)
    try:
        async with asyncio.timeout(IMPOSTOR_SECONDS):
            await handle.result()
    except WorkflowFailureError as error:
        if isinstance(failure_of(error.cause), RequestConflict) and _is_of_another(error.cause, call):
            raise _ImpostorError(conflict) from error
    except (TimeoutError, RPCError):
        return


def _is_of_another(cause: BaseException | None, call: Call) -> bool:
    """Whether a run that failed was started with another body than this call's."""
    return isinstance(cause, ApplicationError) and call.fingerprint not in cause.details


def _ended_with_run(cause: BaseException | None) -> bool:
    return isinstance(cause, ApplicationError) and cause.type == "AcceptedUpdateCompletedWorkflow"


def target_of(client: Client) -> str:
    """The address that a client is connected to."""
    return client.service_client.config.target_host


def _no_answer(client: Client, call: Call, error: BaseException) -> Unavailable:
    detail = f": {error.message.rstrip('.')}" if isinstance(error, RPCError) else ""
    return Unavailable(
        f"No answer to {call.workflow_id!r} from Temporal at {target_of(client)}{detail}.",
        "Check that the server and a worker run (`mem status`), then send the same request again.",
    )


async def _with_pending(client: Client, call: Call, reason: MemError, end: float) -> MemError:
    """The reason, with what the step failed with last that the run is waiting for, if that is told before `end`."""
    if not isinstance(reason, Unavailable):
        return reason
    try:
        async with asyncio.timeout(min(DESCRIBE_SECONDS, max(SHORTEST_ATTEMPT_SECONDS, end - time.monotonic()))):
            told = await awaited(client, call.workflow_id)
            if not told:
                await check_served(client, call.task_queue)
    except (RPCError, TimeoutError):
        return reason
    except Unavailable as unserved:
        return Unavailable(f"{reason.cause} {unserved.cause}", f"{unserved.remedy} Then send the same request again.")
    return Unavailable(f"{reason.cause}{told}", reason.remedy)


async def _look_at(start: WithStartWorkflowOperation[Any, Any]) -> None:
    """Retrieve what became of the start: its future holds the same error, and complains if nobody looked at it."""
    looking = asyncio.ensure_future(start.workflow_handle())
    await asyncio.wait([looking], timeout=LOOK_SECONDS)
    if not looking.done():
        looking.cancel()
    elif not looking.cancelled():
        looking.exception()


def failure_of(cause: BaseException | None) -> MemError:
    """The error of the domain that a run or an update failed with."""
    if isinstance(cause, ApplicationError):
        kind: Any = getattr(errors, cause.type or "", None)
        details = [str(detail) for detail in cause.details] or [cause.message]
        if isinstance(kind, type) and issubclass(kind, MemError):
            return kind(details[0], details[1] if len(details) > 1 else "")
    message = cause.message if isinstance(cause, FailureError) else str(cause)
    return Unavailable(f"The run ended without an answer: {message}.", "Send the same request again.")


def rpc_failure_of(error: RPCError, target: str) -> MemError:
    """The error of the domain for a call that Temporal itself refused."""
    if error.status == RPCStatusCode.INVALID_ARGUMENT and "search attribute" in error.message.lower():
        return errors.ConfigurationError(
            f"Temporal at {target} lacks a search attribute: {error.message}.", "Run `mem migrate` once."
        )
    return Unavailable(
        f"Temporal at {target} refused the call: {error.message.rstrip('.')}.", "Check server and namespace."
    )
