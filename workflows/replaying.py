"""The task `replay`: every projection made anew from the journal, then compared with the live one or exchanged."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.replay_journal import ReplayJournal
    from mem.domain.markdown import code, table
    from mem.domain.rebuild import RebuildInput
    from mem.domain.replaying import ReplayReport, ReplayStep, Shadow
    from workflows import policies
    from workflows.stages import Stages, outcome_of


async def replay(request: RebuildInput, stages: Stages) -> ReplayReport:
    """Fill tables beside the live ones, and end with both compared or exchanged.

    Where the replay stands is kept with the tables, so that a run that goes on as a new one finds it there.
    """
    shadow = Shadow(run=request.run or str(workflow.uuid4()), check=request.check, nightly=request.nightly)
    await _fill(request, shadow, stages)
    if shadow.check:
        stages.show("compare")
        report = await stages.run(
            ReplayJournal.compare_replayed, shadow, "Compare every table", limit=policies.COMPARE_TIMEOUT
        )
    else:
        await _index(shadow, stages)
        stages.show("swap")
        report = await stages.run(
            ReplayJournal.swap_replayed, shadow, "Exchange the tables", limit=policies.COMPARE_TIMEOUT
        )
    await stages.run(ReplayJournal.discard_replayed, shadow, "Remove what is left over", limit=policies.REPLAY_TIMEOUT)
    stages.show("done", told=_told(report))
    return report


async def _fill(request: RebuildInput, shadow: Shadow, stages: Stages) -> None:
    at = await stages.run(ReplayJournal.begin_replay, shadow, "Make empty tables", limit=policies.REPLAY_TIMEOUT)
    step = ReplayStep(**shadow.model_dump(), page=request.page)
    for _ in range(request.batches):
        stages.show("replay", at.seq, at.length)
        if at.seq >= at.length:
            return
        summary = f"Replay the records behind {at.seq}"
        at = await stages.run(ReplayJournal.replay_records, step, summary, limit=policies.REPLAY_TIMEOUT)
    if at.seq < at.length:
        workflow.continue_as_new(request.model_copy(update={"run": shadow.run}))


async def _index(shadow: Shadow, stages: Stages) -> None:
    """One index after the other, since one alone can take minutes; the last step only lets the planner know."""
    built, missing = 0, 1
    while missing:
        stages.show("index", built, None if not built else built + missing)
        missing = await stages.run(ReplayJournal.index_replayed, shadow, "Build an index", limit=policies.INDEX_TIMEOUT)
        built += 1
    await stages.run(ReplayJournal.index_replayed, shadow, "Count for the planner", limit=policies.INDEX_TIMEOUT)


def _told(report: ReplayReport) -> str:
    """The report as the Temporal UI shows it."""
    rows = [
        [
            code(one.table),
            f"{one.rows:,}",
            "the same" if one.digest == one.replayed_digest else f"{one.differing:,} rows differ",
        ]
        for one in report.tables
    ]
    head = f"**{outcome_of(report)}**: {report.records:,} records, head {code(report.head[:12])}"
    return "\n".join([head, *table("Tables", ["table", "rows", "made anew"], rows)])
