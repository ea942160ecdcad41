"""AcceptMemory: candidate, gate, append, and what makes the memory findable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.append_memory import AppendMemory
    from activities.embed_text import EmbedText
    from activities.gate_memory import GateMemory
    from activities.link_signatures import LinkSignatures
    from activities.project_symptoms import ProjectSymptoms
    from activities.record_candidate import RecordCandidate
    from activities.refresh_snapshot import RefreshSnapshot
    from activities.settle_answer import SettleAnswer
    from mem.domain.accepting import (
        AcceptedBody,
        AcceptInput,
        AcceptResult,
        AcceptStep,
        MemoryStep,
        Wait,
    )
    from mem.domain.answers import Answer
    from mem.domain.asked import asked
    from mem.domain.ids import fingerprint_of
    from mem.domain.markdown import bounded
    from workflows import policies
    from workflows.acceptance import Acceptance
    from workflows.failures import as_application_error, cause_of, conflict, is_callers_fault, is_refusal
    from workflows.one_message import OfOneMessage
    from workflows.patience import start_step
    from workflows.queues import of_writes
    from workflows.search_attributes import (
        MAX_SIGNATURES,
        MEM_DEGRADED,
        MEM_OUTCOME,
        MEM_SIGNATURE,
        MEM_TOOL,
        begin,
        is_plain,
        safe,
        safe_names,
    )

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")
StepT = TypeVar("StepT", bound=AcceptStep)

WAITS: tuple[Wait, ...] = ("all", "durable")

CONTROLLER = "controller"
"""What `MemDegraded` says of a run whose controller refused till the last time of asking, at which rules stand in."""

SUMMARISED = "refresh-snapshot"
"""The patch that put the memories of users into their summaries; runs of before go on without that step."""


@workflow.defn(name="AcceptMemory", failure_exception_types=[ValidationError])
class AcceptMemory(OfOneMessage):
    """One acceptance. `run` does the work; the update `accepted` waits for it, and a plain start does the same."""

    @workflow.init
    def __init__(self, request: AcceptInput) -> None:
        self._mark = fingerprint_of(request)
        # What follows gets the request with its defaults filled in, from which another fingerprint would come.
        self._request = request.model_copy(update={"fingerprint": self._mark})
        self._tool = None if request.tool is None else safe(request.tool)
        self._step = AcceptStep(project=request.project, request_id=request.request_id, readable=request.readable)
        self._state = Acceptance(private=request.user_id is not None)
        # A client shows it for good, with the start.
        self._asked = asked(safe_names(self._request)) if is_plain() else ""
        self._degraded: list[str] = []
        self._bodies: dict[Wait, str] = {}
        self._settling = asyncio.Lock()
        self._fault: ApplicationError | None = None
        self._unsettled: ApplicationError | None = None

    @workflow.run
    async def run(self, request: AcceptInput) -> AcceptResult:
        """Bring the candidate to its end: accepted, rejected or duplicate.

        Raises:
            ApplicationError: the request is invalid or conflicts with an earlier one, and nothing was written; or a
                step can never succeed.
        """
        del request  # __init__ has it
        begin(self._step.project, self._tool)
        try:
            await self._accept()
            # An update that waits for an answer settles it; only what nobody waited for is left to do here.
            await workflow.wait_condition(lambda: workflow.all_handlers_finished() or self._unsettled is not None)
            if self._unsettled is not None:
                raise self._unsettled
            bodies = {wait: await self._settled(wait) for wait in WAITS}
            await workflow.wait_condition(workflow.all_handlers_finished)
        except FailureError as error:
            raise await self._failed(error) from error
        return AcceptResult(body=bodies["all"], durable_body=bodies["durable"], fingerprint=self._mark)

    @workflow.update(name="accepted", unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def accepted(self, request: AcceptInput) -> Answer:
        """The answer, once all steps are done (`wait: all`, within a minute) or the memory is durable."""
        if request.wait == "all":
            await self._wait_for_all()
        await workflow.wait_condition(lambda: self._state.durable or self._fault is not None)
        if self._fault is not None:
            raise self._fault
        try:
            return Answer(body=await self._settled(request.wait), fingerprint=self._mark)
        except FailureError as error:
            failure = as_application_error(error, self._mark)
            if not is_callers_fault(failure):
                self._unsettled = failure
                await workflow.wait_condition(lambda: False)  # ends with the run, and leaves no outcome to repeat
            raise failure from error

    @accepted.validator
    def _check_accepted(self, request: AcceptInput) -> None:
        if fingerprint_of(request) != self._mark:
            raise conflict(request.request_id)

    @workflow.query(name="status")
    def status(self) -> str:
        """Where the acceptance stands: the answer as it would be given now, or the step it is at."""
        return self._state.describe()

    async def _accept(self) -> None:
        await self._run(RecordCandidate.record_candidate, self._request, "Put the candidate into the journal")
        verdict = await self._ask(GateMemory.gate_memory, self._step, "Judge the candidate")
        self._state.judged(verdict)
        if verdict.accept or verdict.duplicate_of is not None:
            what = "Append the memory" if verdict.accept else "Add the evidence to the memory that says the same"
            appended = await self._run(AppendMemory.append_memory, self._step, f"{what}: the durable point")
            # Before anybody is told what is pending.
            summarised = self._request.user_id is not None and workflow.patched(SUMMARISED)
            self._state.appended(appended, summarised=summarised)
        self._show()
        if self._state.standing is not None:
            await self._make_findable(self._state.standing)
        self._state.done = True
        self._show()

    async def _make_findable(self, sha: str) -> None:
        step = MemoryStep(project=self._step.project, request_id=self._step.request_id, sha=sha)
        steps = [self._embed(step), self._link(step)]
        if self._state.sha is not None:
            steps.insert(0, self._project(step))
        if self._state.summarised:
            steps.append(self._summarise(step))
        await asyncio.gather(*steps)

    async def _project(self, step: MemoryStep) -> None:
        self._state.projected(await self._ask(ProjectSymptoms.project_symptoms, step, "Find the symptom lines"))
        self._tell()
        embedded = await self._run(ProjectSymptoms.embed_symptoms, step, "Embed the symptoms")
        self._state.embedded_symptoms(embedded)

    async def _embed(self, step: MemoryStep) -> None:
        await self._run(EmbedText.embed_text, step, "Embed the memory and its evidence", attempt=policies.EMBED_TIMEOUT)
        self._state.embedded_text()

    async def _link(self, step: MemoryStep) -> None:
        linked = await self._run(LinkSignatures.link_signatures, step, "Make the failures in the evidence exact keys")
        self._state.linked(linked.signatures)

    async def _summarise(self, step: MemoryStep) -> None:
        await self._run(RefreshSnapshot.refresh_snapshot, step, "Put the memory into the summary of its user")
        self._state.refreshed()

    async def _settled(self, wait: Wait) -> str:
        """The stored body: of two that were made for one (request id, wait), the first."""
        async with self._settling:
            open_waits = [each for each in (WAITS if self._state.done else (wait,)) if each not in self._bodies]
            if open_waits:
                accepted = AcceptedBody(
                    project=self._step.project,
                    request_id=self._step.request_id,
                    fingerprint=self._mark,
                    waits=open_waits,
                    body=self._state.answer().model_dump_json(),
                )
                summary = f"Store the answer (wait: {', '.join(open_waits)})"
                settled = await self._run(SettleAnswer.settle_acceptance, accepted, summary)
                self._bodies |= settled.bodies
        return self._bodies[wait]

    async def _failed(self, error: FailureError) -> ApplicationError:
        """The run's failure, once the updates that it concerns have theirs; the others are left open."""
        failure = as_application_error(error, self._mark)
        self._state.failure = failure.message
        self._show()
        if is_callers_fault(failure):
            self._fault = failure
            await workflow.wait_condition(workflow.all_handlers_finished)
        await workflow.wait_condition(lambda: not self._settling.locked())
        return failure

    async def _ask(self, activity: Callable[[Any, StepT], Awaitable[ResultT]], step: StepT, summary: str) -> ResultT:
        """A step that may ask a controller: one that refuses is asked a few times, and done without in the end.

        Counted here and not by attempts, of which an outage takes any number.
        """
        for asked_before in range(policies.ASKS - 1):
            again = f"{summary}; time {asked_before + 1} of {policies.ASKS} of asking" if asked_before else summary
            try:
                return await self._run(activity, step, again, attempt=policies.ASK_TIMEOUT)
            except ActivityError as error:
                if not is_refusal(error):
                    raise
            await workflow.sleep(policies.ASK_PAUSE, summary="Pause before the controller is asked again")
        if CONTROLLER not in self._degraded:
            self._degraded.append(CONTROLLER)
        last = step.model_copy(update={"last_ask": True})
        return await self._run(activity, last, f"{summary}; the last time of asking", attempt=policies.ASK_TIMEOUT)

    async def _run(
        self,
        activity: Callable[[Any, ArgumentT], Awaitable[ResultT]],
        argument: ArgumentT,
        summary: str,
        *,
        attempt: timedelta = policies.STEP_TIMEOUT,
    ) -> ResultT:
        steps, name = self._state.steps, activity.__name__
        steps.begin(name, summary)
        self._tell()
        try:
            result = await start_step(activity, argument, summary, limit=attempt, task_queue=of_writes())
        except ActivityError as error:
            steps.end(name, cause_of(error))
            self._tell()
            raise
        steps.end(name)
        self._tell()
        return result

    async def _wait_for_all(self) -> None:
        try:
            await workflow.wait_condition(
                lambda: self._state.done or self._fault is not None,
                timeout=policies.WAIT_FOR_ALL,
                timeout_summary="The longest that an answer waits for all steps",
            )
        except TimeoutError:
            workflow.logger.info("answering durable: %s still pending", self._state.pending)

    def _tell(self) -> None:
        workflow.set_current_details(bounded([self._state.markdown(), *(["", self._asked] if self._asked else [])]))

    def _show(self) -> None:
        self._tell()
        linked = self._state.signatures
        tool = self._tool or (linked[0].tool if linked else None)
        workflow.upsert_search_attributes(
            [
                *([MEM_TOOL.value_set(tool)] if tool is not None else []),
                MEM_OUTCOME.value_set("failed" if self._state.failure else self._state.status or "pending"),
                MEM_SIGNATURE.value_set([signature.sig_sha for signature in linked][:MAX_SIGNATURES]),
                *([MEM_DEGRADED.value_set(self._degraded)] if self._degraded else []),
            ]
        )
