"""A step that is repeated until it succeeds, whoever asked for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows import policies

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


def start_step(
    activity: Callable[[Any, ArgumentT], Awaitable[ResultT]],
    argument: ArgumentT,
    summary: str,
    *,
    limit: timedelta = policies.STEP_TIMEOUT,
    task_queue: str | None = None,
) -> workflow.ActivityHandle[ResultT]:
    """Begin it; its handle gives the result.

    Args:
        limit: of one attempt.
        task_queue: where it is done; None: where the run is led.
    """
    return workflow.start_activity_method(
        activity,
        argument,
        task_queue=task_queue,
        start_to_close_timeout=limit,
        heartbeat_timeout=policies.ALIVE_TIMEOUT,
        schedule_to_close_timeout=policies.STEP_PATIENCE,
        retry_policy=policies.STEP_RETRY,
        summary=summary,
    )
