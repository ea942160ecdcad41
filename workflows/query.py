"""QueryMemory: one question, answered once."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.query_memory import QueryActivity
    from activities.settle_answer import SettleAnswer
    from mem.domain.answers import Answer
    from mem.domain.ids import fingerprint_of
    from mem.domain.query import QueryInput
    from mem.recall.query_outcome import QueryOutcome, QueryTrace
    from workflows import policies
    from workflows.answering import Answering
    from workflows.one_message import OfOneMessage
    from workflows.search_attributes import MEM_DEGRADED, MEM_OUTCOME, begin
    from workflows.trace_markdown import query_markdown


SEARCH = "Run the legs, rank and store"
SETTLE = "Store the answer that already went out"


@workflow.defn(name="QueryMemory", failure_exception_types=[ValidationError])
class QueryMemory(OfOneMessage):
    """One question. `run` does the work; the update `query` waits for it, and a plain start does the same."""

    @workflow.init
    def __init__(self, request: QueryInput) -> None:
        mark = fingerprint_of(request)
        # What follows gets the request with its defaults filled in, from which another fingerprint would come.
        self._request = request.model_copy(update={"fingerprint": mark})
        self._answering = Answering[QueryOutcome](mark, self._request)

    @workflow.run
    async def run(self, request: QueryInput) -> Answer:
        """Search, answer, and stay open until exactly that answer is stored.

        Raises:
            ApplicationError: the request is invalid or conflicts with an earlier one; or no worker could run it to its
                end.
        """
        del request  # __init__ has it
        begin(self._request.project)
        outcome = await self._answering.find(self._searched())
        self._answering.tell(query_markdown(outcome.trace))
        _show(outcome.trace)
        if outcome.unsettled is not None:
            await self._answering.settle(SettleAnswer.settle_query, outcome.unsettled, SETTLE)
        return await self._answering.closed(outcome)

    async def _searched(self) -> QueryOutcome:
        work = workflow.execute_local_activity_method(
            QueryActivity.query_memory,
            self._request,
            start_to_close_timeout=policies.LOOK_UP_TIMEOUT,
            schedule_to_close_timeout=policies.LOOK_UP_PATIENCE,
            retry_policy=policies.LOOK_UP_RETRY,
            summary=SEARCH,
        )
        return await self._answering.step("query_memory", SEARCH, work)

    @workflow.update(name="query", unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def query(self, request: QueryInput) -> Answer:
        """The answer, as soon as there is one."""
        del request  # the validator held it to the run's own
        return await self._answering.told()

    @query.validator
    def _check_query(self, request: QueryInput) -> None:
        self._answering.check(request)

    @workflow.query(name="answer")
    def answer(self) -> str:
        """The answer's body, or an empty text while there is none."""
        return self._answering.body

    @workflow.query(name="trace")
    def trace(self) -> QueryTrace | None:
        """Legs, times, scores and ranks; null while there is no answer."""
        return None if self._answering.outcome is None else self._answering.outcome.trace


def _show(trace: QueryTrace) -> None:
    workflow.upsert_search_attributes(
        [
            MEM_OUTCOME.value_set("answered" if trace.hits else "abstained"),
            MEM_DEGRADED.value_set([each.split(":", 1)[0] for each in trace.degraded]),
        ]
    )
