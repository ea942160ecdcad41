"""Where one project has sent many, another's single call is not behind them; a rebuild is behind all."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.common import Priority
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from mem.clients.temporal.jobs import LAST

FLOOD = 60
DONE: list[str] = []


@workflow.defn(name="Turn")
class Turn:
    """Tells that it had its turn."""

    @workflow.run
    async def run(self, whose: str) -> None:
        DONE.append(whose)


async def test_a_flood_of_one_project_holds_no_other_up(rig):
    """The server hands out the calls of two projects in turn, whatever the order in which they came."""
    DONE.clear()
    started = []
    for number, whose in enumerate(["rebuild", *["flood"] * FLOOD, "other"]):
        priority = Priority(priority_key=LAST) if whose == "rebuild" else Priority(fairness_key=whose)
        started.append(
            await rig.temporal.start_workflow(
                "Turn", whose, id=f"turn:{rig.project}:{number}", task_queue=rig.task_queue, priority=priority
            )
        )
    async with (
        asyncio.timeout(60),
        Worker(
            rig.temporal, task_queue=rig.task_queue, workflows=[Turn], workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_workflow_tasks=2, max_concurrent_workflow_task_polls=2, max_cached_workflows=0,
        ),
    ):  # fmt: skip
        await asyncio.gather(*(handle.result() for handle in started))
    assert DONE.index("other") < FLOOD / 4
    assert DONE.index("rebuild") > FLOOD / 2
