"""RebuildProjections: what follows from the journal and from the evidence in it, made again."""

from __future__ import annotations

from typing import assert_never

from pydantic import ValidationError
from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from mem.domain.rebuild import RebuildInput, RebuildReport
    from mem.domain.regenerating import RegenerateReport
    from mem.domain.replaying import Phase, Progress, ReplayReport
    from workflows.deriving import derive
    from workflows.regenerating import regenerate
    from workflows.replaying import replay
    from workflows.stages import Stages

FIRST: dict[str, Phase] = {"derive": "derive", "replay": "begin", "regenerate": "propose"}


@workflow.defn(name="RebuildProjections", failure_exception_types=[ValidationError])
class RebuildProjections:
    """One rebuild, check or regeneration, in steps that a crash repeats without harm."""

    @workflow.init
    def __init__(self, request: RebuildInput) -> None:
        self._stages = Stages(FIRST[request.task])

    @workflow.run
    async def run(self, request: RebuildInput) -> RebuildReport | ReplayReport | RegenerateReport:
        """Do the task.

        Raises:
            ApplicationError: a step can never succeed.
        """
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
