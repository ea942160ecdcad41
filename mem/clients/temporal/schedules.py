"""A schedule of Temporal that starts one run a day."""

from __future__ import annotations

from datetime import time, timedelta
from typing import NamedTuple

from pydantic import BaseModel
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleDescription,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.common import Priority
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.calls import rpc_failure_of, target_of
from mem.clients.temporal.jobs import LAST
from mem.domain.replaying import NightlyCheck, NightlyRun, ReplayReport

CATCH_UP = timedelta(hours=6)
"""A server that was away at the hour starts the run late, but not in the next working day."""


class Daily(NamedTuple):
    """What is started once a day, in UTC, unless the run of the day before is still at work."""

    schedule_id: str
    workflow: str
    workflow_id: str
    message: BaseModel
    task_queue: str
    summary: str
    lifetime: timedelta


async def start_daily(client: Client, daily: Daily, at: time) -> None:
    """Make the schedule, or bring the one that there is to this; one that somebody paused stays so.

    Raises:
        Unavailable: Temporal does not answer.
    """
    action = ScheduleActionStartWorkflow(
        daily.workflow,
        daily.message,
        id=daily.workflow_id,
        task_queue=daily.task_queue,
        execution_timeout=daily.lifetime,
        static_summary=daily.summary,
        priority=Priority(priority_key=LAST),
    )
    hour = ScheduleCalendarSpec(hour=[ScheduleRange(at.hour)], minute=[ScheduleRange(at.minute)])
    wanted = Schedule(
        action=action,
        spec=ScheduleSpec(calendars=[hour], time_zone_name="UTC"),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
        state=ScheduleState(note=daily.summary),
    )

    def brought(found: ScheduleUpdateInput) -> ScheduleUpdate:
        wanted.state = found.description.schedule.state
        return ScheduleUpdate(wanted)

    try:
        try:
            await client.create_schedule(daily.schedule_id, wanted)
        except ScheduleAlreadyRunningError:
            await client.get_schedule_handle(daily.schedule_id).update(brought)
    except RPCError as error:
        raise rpc_failure_of(error, target_of(client)) from error


async def stop_daily(client: Client, schedule_id: str) -> bool:
    """Remove the schedule; whether there was one. A run that it has started goes on.

    Raises:
        Unavailable: Temporal does not answer.
    """
    try:
        await client.get_schedule_handle(schedule_id).delete()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return False
        raise rpc_failure_of(error, target_of(client)) from error
    return True


async def find_daily(client: Client, schedule_id: str) -> NightlyCheck | None:
    """The schedule with what came of its last run; None where there is none.

    Raises:
        Unavailable: Temporal does not answer.
    """
    try:
        found = await client.get_schedule_handle(schedule_id).describe()
        return NightlyCheck(
            schedule_id=schedule_id,
            paused=found.schedule.state.paused,
            next=found.info.next_action_times[0] if found.info.next_action_times else None,
            skipped=found.info.num_actions_skipped_overlap,
            missed=found.info.num_actions_missed_catchup_window,
            last=await _last_run(client, found),
        )
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise rpc_failure_of(error, target_of(client)) from error


async def _last_run(client: Client, found: ScheduleDescription) -> NightlyRun | None:
    if not found.info.recent_actions:
        return None
    last = found.info.recent_actions[-1]
    if not isinstance(last.action, ScheduleActionExecutionStartWorkflow):
        return None
    handle: WorkflowHandle[object, ReplayReport] = client.get_workflow_handle(
        last.action.workflow_id, result_type=ReplayReport
    )
    run = NightlyRun(workflow_id=last.action.workflow_id, started=last.started_at, state="forgotten")
    try:
        status = (await handle.describe()).status
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return run
        raise
    if status == WorkflowExecutionStatus.COMPLETED:
        report = await handle.result()
        differing = {table.table: table.differing for table in report.tables if table.differing}
        return run.model_copy(update={"state": "same" if report.same else "differs", "differing": differing})
    running = status == WorkflowExecutionStatus.RUNNING
    return run.model_copy(update={"state": "running" if running else "failed"})
