"""RebuildProjections: what follows from the journal and from the evidence in it, made again."""

from __future__ import annotations

from typing import assert_never

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from mem.domain.rebuild import RebuildInput, RebuildReport
    from mem.domain.regenerating import RegenerateReport
    from mem.domain.replaying import Phase, Progress, ReplayReport
    from workflows.deriving import derive
    from workflows.one_message import OfOneMessage
    from workflows.regenerating import regenerate
    from workflows.replaying import replay
    from workflows.search_attributes import MEM_OUTCOME, begin
    from workflows.stages import Stages, outcome_of

FIRST: dict[str, Phase] = {"derive": "derive", "replay": "begin", "regenerate": "propose"}

FOUND_BY_OUTCOME = "outcome-of-a-rebuild"
"""The patch that lets rebuilds be found by what came of them; runs of before end without."""


@workflow.defn(name="RebuildProjections", failure_exception_types=[ValidationError])
class RebuildProjections(OfOneMessage):
    """One rebuild, check or regeneration, in steps that a crash repeats without harm."""

    @workflow.init
    def __init__(self, request: RebuildInput) -> None:
        self._stages = Stages(FIRST[request.task], request)

    @workflow.run
    async def run(self, request: RebuildInput) -> RebuildReport | ReplayReport | RegenerateReport:
        """Do the task, and let the run be found by what came of it.

        Raises:
            ApplicationError: a step can never succeed.
        """
        begin()
        try:
            report = await self._report(request)
        except ApplicationError:
            _became("failed")
            raise
        _became(outcome_of(report))
        return report

    async def _report(self, request: RebuildInput) -> RebuildReport | ReplayReport | RegenerateReport:
        match request.task:
            case "derive":
                return await derive(request, self._stages)
            case "replay":
                return await replay(request, self._stages)
            case "regenerate":
                return await regenerate(request, self._stages)
            case _:
                assert_never(request.task)

    @workflow.query(name="progress")
    def progress(self) -> Progress:
        """Where the run stands."""
        return self._stages.progress


def _became(outcome: str) -> None:
    if workflow.patched(FOUND_BY_OUTCOME):
        workflow.upsert_search_attributes([MEM_OUTCOME.value_set(outcome)])
