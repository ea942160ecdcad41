"""What the tasks of RebuildProjections share: how they run a step, and how they tell where they stand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from mem.domain.replaying import Phase, Progress
    from workflows import policies
    from workflows.failures import as_application_error
    from workflows.markdown import failed
    from workflows.queues import of_writes

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


class Stages:
    """Where a run stands; what its query and its details show."""

    def __init__(self, phase: Phase) -> None:
        self.progress = Progress(phase=phase)
        self._told = ""

    def show(self, phase: Phase, done: int = 0, total: int | None = None, *, told: str = "") -> None:
        """Tell where the run stands; `told` is Markdown, which stays until there is another one."""
        self.progress = Progress(phase=phase, done=done, total=total)
        self._told = told or self._told
        amount = "" if total is None else f" {done} of {total}"
        workflow.set_current_details(f"**{phase}**{amount}\n\n{self._told}".strip())

    async def run(
        self,
        activity: Callable[[Any, ArgumentT], Awaitable[ResultT]],
        argument: ArgumentT,
        summary: str,
        *,
        limit: timedelta,
    ) -> ResultT:
        """The result of a step, which is done again until it succeeds.

        Raises:
            ApplicationError: it can never succeed.
        """
        try:
            return await workflow.execute_activity_method(
                activity,
                argument,
                task_queue=of_writes(),
                start_to_close_timeout=limit,
                heartbeat_timeout=policies.ALIVE_TIMEOUT,
                schedule_to_close_timeout=policies.STEP_PATIENCE,
                retry_policy=policies.STEP_RETRY,
                summary=summary,
            )
        except FailureError as error:
            failure = as_application_error(error, "")
            workflow.set_current_details(f"{failed(failure.message)}\n\n{self._told}".strip())
            raise failure from error
