"""The task `regenerate`: what the projector says of every live memory today, and, where asked for, its recording."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.regenerate_projections import RegenerateProjections
    from mem.domain.markdown import code
    from mem.domain.rebuild import RebuildInput
    from mem.domain.regenerating import RegenerateReport, RegenerateStep
    from workflows import policies
    from workflows.stages import Stages, outcome_of


async def regenerate(request: RebuildInput, stages: Stages) -> RegenerateReport:
    """Ask for all projections first, then count or record what came; so what is recorded can be seen as a whole."""
    run = request.run or str(workflow.uuid4())
    step = RegenerateStep(
        run=run,
        apply=request.apply,
        page=request.page,
        after=request.after,
        report=request.regenerated or RegenerateReport(),
    )
    left = request.batches
    if request.regenerated is None:
        begun = await stages.run(
            RegenerateProjections.begin_regeneration, step, "Make room", limit=policies.STEP_TIMEOUT
        )
        step = step.model_copy(update={"report": begun})
        step, left = await _propose(request, step, left, stages)
    return await _settle(request, step, left, stages)


async def _propose(
    request: RebuildInput, step: RegenerateStep, left: int, stages: Stages
) -> tuple[RegenerateStep, int]:
    while left:
        stages.show("propose")
        batch = await stages.run(
            RegenerateProjections.propose_projections,
            step,
            f"Ask for the projections behind {step.after[:12] or 'the beginning'}",
            limit=policies.EMBED_TIMEOUT,
        )
        left -= 1
        step = step.model_copy(update={"after": batch.after or ""})
        if batch.after is None:
            break
    else:
        going_on = {"run": step.run, "after": step.after}
        workflow.continue_as_new(request.model_copy(update=going_on))
    return step, left


async def _settle(request: RebuildInput, step: RegenerateStep, left: int, stages: Stages) -> RegenerateReport:
    while left:
        stages.show("apply" if step.apply else "compare", step.report.memories)
        batch = await stages.run(
            RegenerateProjections.settle_proposals,
            step,
            f"{'Record' if step.apply else 'Count'} what was proposed behind {step.after[:12] or 'the beginning'}",
            limit=policies.EMBED_TIMEOUT,
        )
        left -= 1
        step = step.model_copy(update={"after": batch.after or "", "report": batch.report})
        if batch.after is None:
            break
    else:
        going_on = {"run": step.run, "after": step.after, "regenerated": step.report}
        workflow.continue_as_new(request.model_copy(update=going_on))
    stages.show("done", step.report.memories, told=_told(step.report))
    return step.report


def _told(report: RegenerateReport) -> str:
    """The report as the Temporal UI shows it."""
    counts = f"{report.same} as recorded, {report.different} otherwise, {report.refused} refused"
    head = f"**{outcome_of(report)}**: {report.memories} memories by {code(report.model_id)}"
    return f"{head}: {counts}; {report.applied} recorded"
