"""The task `derive`: the signatures of all memories, derived anew from their evidence, batch by batch."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.derive_signatures import DeriveSignatures
    from mem.domain.markdown import code, table
    from mem.domain.rebuild import DeriveStep, RebuildInput, RebuildReport
    from workflows import policies
    from workflows.stages import Stages, outcome_of


async def derive(request: RebuildInput, stages: Stages) -> RebuildReport:
    """Go through all memories; a step that is lost is done again, and finds what it had written."""
    algo, report = request.algo, request.report.model_copy(update={"check": request.check})
    after: str | None = request.after
    for _ in range(request.batches):
        step = DeriveStep(check=request.check, algo=algo, page=request.page, after=after or "")
        summary = f"{'Compare' if step.check else 'Derive'} signatures behind {step.after[:12] or 'the beginning'}"
        batch = await stages.run(DeriveSignatures.derive_signatures, step, summary, limit=policies.DERIVE_TIMEOUT)
        # A caller that named no version gets one for all batches, whichever workers take them.
        algo, report, after = batch.report.algo, report.plus(batch.report), batch.after
        stages.show("derive" if after is not None else "done", report.memories, told=_told(report, done=after is None))
        if after is None:
            break
    else:
        going_on = {"algo": algo, "after": after, "report": report}
        workflow.continue_as_new(request.model_copy(update=going_on))
    return report


def _told(report: RebuildReport, *, done: bool) -> str:
    """The report as the Temporal UI shows it."""
    missing, other = ("missing", "different") if report.check else ("derived", "corrected")
    what = outcome_of(report) if done else "so far"
    head = f"**{what}**: {report.memories:,} memories under version {report.algo} of the algorithm"
    counts = f"Signatures: {report.new:,} {missing}, {report.changed:,} {other}, {report.unchanged:,} unchanged"
    differing = table("The first that differed", ["memory"], [[code(sha[:12])] for sha in report.differing])
    return "\n".join([head, "", counts, *differing])
