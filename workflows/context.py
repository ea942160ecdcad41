"""LookUpContext: one lookup, answered once."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.look_up_context import LookUpActivity
    from activities.settle_answer import SettleAnswer
    from mem.domain.answers import Answer
    from mem.domain.ids import fingerprint_of
    from mem.domain.lookup import LookUpInput
    from mem.recall.outcome import LookUpOutcome, Trace
    from workflows import policies
    from workflows.answering import Answering
    from workflows.one_message import OfOneMessage
    from workflows.search_attributes import (
        MAX_SIGNATURES,
        MEM_DEGRADED,
        MEM_OUTCOME,
        MEM_SIGNATURE,
        MEM_TIER,
        MEM_TOOL,
        begin,
        safe,
    )
    from workflows.trace_markdown import trace_markdown


LOOK_UP = "Run the legs, rank, count and store"
SETTLE = "Store and count the answer that already went out"


@workflow.defn(name="LookUpContext", failure_exception_types=[ValidationError])
class LookUpContext(OfOneMessage):
    """One lookup. `run` does the work; the update `lookup` waits for it, and a plain start does the same."""

    @workflow.init
    def __init__(self, request: LookUpInput) -> None:
        mark = fingerprint_of(request)
        self._tool = None if request.tool is None else safe(request.tool)
        # What follows gets the request with its defaults filled in, from which another fingerprint would come.
        self._request = request.model_copy(update={"fingerprint": mark})
        self._answering = Answering[LookUpOutcome](mark, self._request)

    @workflow.run
    async def run(self, request: LookUpInput) -> Answer:
        """Look up, answer, and stay open until exactly that answer is stored and counted.

        Raises:
            ApplicationError: the request is invalid or conflicts with an earlier one, and nothing was counted; or no
                worker could run it to its end.
        """
        del request  # __init__ has it
        begin(self._request.project, self._tool)
        outcome = await self._answering.find(self._looked_up())
        self._answering.tell(trace_markdown(outcome.trace))
        _show(outcome.trace, self._tool)
        if outcome.unsettled is not None:
            await self._answering.settle(SettleAnswer.settle_lookup, outcome.unsettled, SETTLE)
        return await self._answering.closed(outcome)

    async def _looked_up(self) -> LookUpOutcome:
        work = workflow.execute_local_activity_method(
            LookUpActivity.look_up,
            self._request,
            start_to_close_timeout=policies.LOOK_UP_TIMEOUT,
            schedule_to_close_timeout=policies.LOOK_UP_PATIENCE,
            retry_policy=policies.LOOK_UP_RETRY,
            summary=LOOK_UP,
        )
        return await self._answering.step("look_up", LOOK_UP, work)

    @workflow.update(name="lookup", unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def lookup(self, request: LookUpInput) -> Answer:
        """The answer, as soon as there is one."""
        del request  # the validator held it to the run's own
        return await self._answering.told()

    @lookup.validator
    def _check_lookup(self, request: LookUpInput) -> None:
        self._answering.check(request)

    @workflow.query(name="context")
    def context(self) -> str:
        """The answer's body, or an empty text while there is none."""
        return self._answering.body

    @workflow.query(name="trace")
    def trace(self) -> Trace | None:
        """Legs, times, scores and drops; null while there is no answer."""
        return None if self._answering.outcome is None else self._answering.outcome.trace


def _show(trace: Trace, tool: str | None) -> None:
    found = [MEM_TOOL.value_set(name)] if (name := tool or trace.tool) is not None else []
    workflow.upsert_search_attributes(
        [
            *found,
            MEM_TIER.value_set("none" if trace.tier is None else str(trace.tier)),
            MEM_OUTCOME.value_set("abstained" if trace.tier is None else "answered"),
            MEM_SIGNATURE.value_set(trace.signatures[:MAX_SIGNATURES]),
            MEM_DEGRADED.value_set([each.split(":", 1)[0] for each in trace.degraded]),
        ]
    )
