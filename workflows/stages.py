"""What the tasks of RebuildProjections share: how they run a step, and how they tell where they stand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from mem.domain.asked import asked
    from mem.domain.markdown import bounded, failed
    from mem.domain.rebuild import RebuildInput, RebuildReport
    from mem.domain.regenerating import RegenerateReport
    from mem.domain.replaying import Phase, Progress, ReplayReport
    from workflows.failures import as_application_error
    from workflows.patience import start_step
    from workflows.queues import of_writes
    from workflows.search_attributes import is_plain
    from workflows.steps import Steps

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


PHASES: Mapping[Phase, str] = {
    "begin": "Tables are made beside the live ones",
    "replay": "The journal is replayed into them",
    "index": "Their indexes are built",
    "swap": "They take the place of the live ones",
    "compare": "What came out is compared with what is there",
    "propose": "The projector is asked for each live memory",
    "apply": "What it says is recorded",
    "derive": "Signatures are derived from the evidence",
}
"""What a run does in each phase, in words."""


def outcome_of(report: RebuildReport | ReplayReport | RegenerateReport) -> str:
    """`done` where something was to be written, else how what came out compares with what is there."""
    match report:
        case RegenerateReport():
            wrote, same = report.apply, not report.different
        case _:
            wrote, same = not report.check, report.same
    if wrote:
        return "done"
    return "same" if same else "differs"


class Stages:
    """Where a run stands; what its query and its details show."""

    def __init__(self, phase: Phase, request: RebuildInput) -> None:
        self.progress = Progress(phase=phase)
        self.steps = Steps()
        # A client shows it for good with the start; a run that goes on as a new one has no such start.
        self._asked = asked(request) if is_plain() or request.run or request.after else ""
        self._told = ""
        self._failure = ""

    def show(self, phase: Phase, done: int = 0, total: int | None = None, *, told: str = "") -> None:
        """Tell where the run stands; `told` is Markdown, which stays until there is another one."""
        self.progress = Progress(phase=phase, done=done, total=total)
        self._told = told or self._told
        self._tell()

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
        name = activity.__name__
        self.steps.begin(name, summary)
        self._tell()
        try:
            result = await start_step(activity, argument, summary, limit=limit, task_queue=of_writes())
        except FailureError as error:
            failure = as_application_error(error, "")
            self._failure = failed(failure.message)
            self.steps.end(name, failure.message)
            self._tell()
            raise failure from error
        self.steps.end(name)
        self._tell()
        return result

    def _tell(self) -> None:
        at = self.progress
        amount = f", {at.done:,}" if at.done else ""
        if at.total is not None:
            amount = f", {at.done:,} of {at.total:,}"
        head = "" if at.phase == "done" else f"**{at.phase}**{amount}: {PHASES.get(at.phase, at.phase)}."
        parts = [*([self._failure, ""] if self._failure else []), head, "", *self._told.splitlines()]
        workflow.set_current_details(bounded([*parts, *self.steps.markdown(), "", *self._asked.splitlines()]).strip())
