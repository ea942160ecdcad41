"""GroundContext: the context of a user's next turn, given once."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.enhance_context import EnhanceContext
    from activities.ground_context import GroundActivity
    from activities.settle_answer import SettleAnswer
    from mem.domain.answers import Answer
    from mem.domain.grounding import GroundInput
    from mem.domain.ids import fingerprint_of
    from mem.recall.ground_outcome import (
        Enhanced,
        EnhancedFound,
        GroundFound,
        GroundOutcome,
        GroundTrace,
    )
    from workflows import policies
    from workflows.answering import Answering
    from workflows.failures import cause_of
    from workflows.ground_markdown import ground_markdown
    from workflows.one_message import OfOneMessage
    from workflows.search_attributes import MEM_DEGRADED, MEM_OUTCOME, begin


ASK = "Ask the sources, gate and store"
FINISH = "Put the block together and store"
SETTLE = "Store the context that already went out"


@workflow.defn(name="GroundContext", failure_exception_types=[ValidationError])
class GroundContext(OfOneMessage):
    """One turn. `run` does the work; the update `ground` waits for it, and a plain start does the same."""

    @workflow.init
    def __init__(self, request: GroundInput) -> None:
        mark = fingerprint_of(request)
        # What follows gets the request with its defaults filled in, from which another fingerprint would come.
        self._request = request.model_copy(update={"fingerprint": mark})
        self._answering = Answering[GroundOutcome](mark, self._request)

    @workflow.run
    async def run(self, request: GroundInput) -> Answer:
        """Search, gate, enhance, answer, and stay open until exactly that answer is stored.

        Raises:
            ApplicationError: the request is invalid or conflicts with an earlier one; or no worker could run it to its
                end.
        """
        del request  # __init__ has it
        begin()
        outcome = await self._answering.find(self._outcome())
        self._answering.tell(ground_markdown(outcome.trace))
        _show(outcome.trace)
        if outcome.unsettled is not None:
            await self._answering.settle(SettleAnswer.settle_ground, outcome.unsettled, SETTLE)
        return await self._answering.closed(outcome)

    async def _outcome(self) -> GroundOutcome:
        work = workflow.execute_local_activity_method(
            GroundActivity.ground_context,
            self._request,
            start_to_close_timeout=policies.LOOK_UP_TIMEOUT,
            schedule_to_close_timeout=policies.LOOK_UP_PATIENCE,
            retry_policy=policies.LOOK_UP_RETRY,
            summary=ASK,
        )
        step = await self._answering.step("ground_context", ASK, work)
        if isinstance(step, GroundOutcome):
            return step
        finishing = workflow.execute_local_activity_method(
            GroundActivity.finish_context,
            EnhancedFound(found=step, made=await self._made(step)),
            start_to_close_timeout=policies.LOOK_UP_TIMEOUT,
            schedule_to_close_timeout=policies.LOOK_UP_PATIENCE,
            retry_policy=policies.LOOK_UP_RETRY,
            summary=FINISH,
        )
        return await self._answering.step("finish_context", FINISH, finishing)

    async def _made(self, found: GroundFound) -> Enhanced:
        """What the controller made of it, or why it made nothing: someone waits, so that it is not asked for long."""
        summary = f"Let the controller put {len(found.relevant)} memories into words"
        work = workflow.execute_activity_method(
            EnhanceContext.enhance_context,
            found,
            start_to_close_timeout=policies.ENHANCE_TIMEOUT,
            heartbeat_timeout=policies.ALIVE_TIMEOUT,
            schedule_to_close_timeout=policies.ENHANCE_PATIENCE,
            retry_policy=policies.ENHANCE_RETRY,
            summary=summary,
        )
        try:
            return await self._answering.step("enhance_context", summary, work)
        except ActivityError as error:
            return Enhanced(failure=cause_of(error))

    @workflow.update(name="ground", unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def ground(self, request: GroundInput) -> Answer:
        """The answer, as soon as there is one."""
        del request  # the validator held it to the run's own
        return await self._answering.told()

    @ground.validator
    def _check_ground(self, request: GroundInput) -> None:
        self._answering.check(request)

    @workflow.query(name="context")
    def context(self) -> str:
        """The answer's body, or an empty text while there is none."""
        return self._answering.body

    @workflow.query(name="trace")
    def trace(self) -> GroundTrace | None:
        """Legs, times, sources and scores; null while there is no answer."""
        return None if self._answering.outcome is None else self._answering.outcome.trace


def _show(trace: GroundTrace) -> None:
    workflow.upsert_search_attributes(
        [
            MEM_OUTCOME.value_set(_outcome_of(trace)),
            MEM_DEGRADED.value_set(sorted({each.split(":", 1)[0] for each in trace.degraded})),
        ]
    )


def _outcome_of(trace: GroundTrace) -> str:
    if trace.status == "not_found":
        return "not_found"
    return "answered" if trace.usable else "abstained"
