"""What the workflows share that give a caller one answer: the update waits for it, a closed run repeats it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Generic, Protocol, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from mem.domain.answers import Answer
    from mem.domain.asked import Message, asked
    from mem.domain.ids import Marked, fingerprint_of
    from mem.domain.markdown import bounded, failed
    from workflows.failures import as_application_error, cause_of, conflict, is_callers_fault
    from workflows.patience import start_step
    from workflows.search_attributes import MEM_OUTCOME, is_plain, safe_names
    from workflows.steps import Steps


class Outcome(Protocol):
    """What a use case leaves behind: the answer's exact bytes, as text, and the fingerprint that it answers."""

    @property
    def body(self) -> str:
        """The answer."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of the request."""
        ...


class Request(Marked, Protocol):
    """A message of a caller."""

    @property
    def request_id(self) -> str:
        """What it is known by."""
        ...


ArgumentT = TypeVar("ArgumentT")
OutcomeT = TypeVar("OutcomeT", bound=Outcome)
ResultT = TypeVar("ResultT")


class Answering(Generic[OutcomeT]):
    """The answer of one run, or the caller's fault that stands for it; and how the run is told in the Temporal UI."""

    def __init__(self, mark: str, request: Message) -> None:
        """`request` is told in the details of a run that no client of ours started, which would have told it."""
        self._mark = mark
        self._asked = asked(safe_names(request)) if is_plain() else ""
        self._story = ""
        self.steps = Steps()
        self.outcome: OutcomeT | None = None
        self._fault: ApplicationError | None = None

    @property
    def body(self) -> str:
        """The answer's body, or an empty text while there is none."""
        return "" if self.outcome is None else self.outcome.body

    async def find(self, work: Awaitable[OutcomeT]) -> OutcomeT:
        """What the use case leaves behind.

        Raises:
            ApplicationError: it failed; after a fault of the caller every update has been told so.
        """
        try:
            self.outcome = await work
        except FailureError as error:
            failure = as_application_error(error, self._mark)
            self.tell(failed(failure.message))
            workflow.upsert_search_attributes([MEM_OUTCOME.value_set("failed")])
            if is_callers_fault(failure):
                self._fault = failure
                await workflow.wait_condition(workflow.all_handlers_finished)
            raise failure from error
        return self.outcome

    def tell(self, story: str | None = None) -> None:
        """Show how the run stands: `story`, which stays until there is another one, the steps, and what was asked."""
        self._story = self._story if story is None else story
        parts = [*self._story.splitlines(), *([""] if self._story else []), *self.steps.markdown()]
        if self.steps.at_work:
            parts = [*self.steps.markdown(), "", *self._story.splitlines()]
        workflow.set_current_details(bounded([*parts, "", *self._asked.splitlines()]).strip())

    async def step(self, name: str, summary: str, work: Awaitable[ResultT], *, patient: bool = False) -> ResultT:
        """The result of a step, which is shown while it is at work and after; see `Steps.begin`."""
        self.steps.begin(name, summary, patient=patient)
        self.tell()
        try:
            result = await work
        except ActivityError as error:
            self.steps.end(name, cause_of(error))
            self.tell()
            raise
        self.steps.end(name)
        self.tell()
        return result

    async def settle(
        self, activity: Callable[[Any, ArgumentT], Awaitable[None]], unsettled: ArgumentT, summary: str
    ) -> None:
        """Return once what is owed to the ledger is paid; the answer is out already, so a cancelled run pays it too."""
        paying = start_step(activity, unsettled, summary)
        await self.step(activity.__name__, summary, _despite_cancelling(paying), patient=True)

    async def told(self) -> Answer:
        """The answer, as soon as there is one: what an update returns."""
        await workflow.wait_condition(lambda: self.outcome is not None or self._fault is not None)
        if self.outcome is None:
            raise self._fault or ApplicationError("No answer.", type="Unavailable")
        return _answer(self.outcome)

    async def closed(self, outcome: OutcomeT) -> Answer:
        """The answer, once every update has it: what a run returns."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        return _answer(outcome)

    def check(self, request: Request) -> None:
        """Hold an update to the request that the run is of.

        Raises:
            ApplicationError: it is of another body.
        """
        if fingerprint_of(request) != self._mark:
            raise conflict(request.request_id)


async def _despite_cancelling(work: workflow.ActivityHandle[Any]) -> None:
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await work


def _answer(outcome: Outcome) -> Answer:
    return Answer(body=outcome.body, fingerprint=outcome.fingerprint)
