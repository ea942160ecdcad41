"""What `mem rebuild` prints."""

from __future__ import annotations

from difflib import ndiff

from mem.domain.accepting import Projection
from mem.domain.rebuild import RebuildReport
from mem.domain.regenerating import Proposal, RegenerateReport
from mem.domain.replaying import ReplayReport, TableReport


def derived(report: RebuildReport) -> str:
    """Of the signatures that were derived from evidence."""
    missing, other = ("missing", "different") if report.check else ("derived", "corrected")
    counts = f"{report.new} {missing}, {report.changed} {other}, {report.unchanged} unchanged"
    looked_at = _counted(report.memories, "memory", "memories")
    lines = [f"looked at {looked_at}; signatures of version {report.algo}: {counts}"]
    lines += [f"  {'differs' if report.check else 'rebuilt'}: {sha}" for sha in report.differing]
    return "\n".join(lines)


def replayed(report: ReplayReport) -> str:
    """Of the projections that were rebuilt from the journal or compared with it."""
    done = "compared with" if report.check else "rebuilt from"
    lines = [f"every projection {done} {_counted(report.records, 'record', 'records')}, head {report.head}"]
    for table in report.tables:
        lines += _table(table)
    return "\n".join(lines)


def proposal(found: Proposal) -> str:
    """Of one memory: the old lines and the new ones, under the names of the models and the shas of the prompts."""
    if found.proposed is None:
        return f"{found.sha}\n  refused: {found.refused}"
    old = found.recorded.text.splitlines() if found.recorded is not None else []
    lines = [line.rstrip() for line in ndiff(old, found.proposed.text.splitlines()) if not line.startswith("?")]
    return "\n".join([found.sha, f"--- {_made_by(found.recorded)}", f"+++ {_made_by(found.proposed)}", *lines])


def regenerated(report: RegenerateReport) -> str:
    """The sum of a regeneration."""
    counts = (
        f"{report.same} as recorded, {report.relabelled} the same under another model or prompt, "
        f"{report.different} otherwise, {report.refused} refused"
    )
    asked = f"asked {report.model_id or 'nobody'} about {_counted(report.memories, 'memory', 'memories')}: {counts}"
    if report.apply:
        return f"{asked}\nrecorded {report.applied}"
    waiting = report.different + report.relabelled
    return asked + ("\nnothing was changed; --apply records what is shown" if waiting else "")


def _table(table: TableReport) -> list[str]:
    if table.digest == table.replayed_digest:
        return [f"  {table.table}: same, {_counted(table.rows, 'row', 'rows')}, {table.digest[:12]}"]
    differing = _counted(table.differing, "row differs", "rows differ")
    heading = f"  {table.table}: {differing}, {table.rows} there, {table.replayed_rows} by the journal"
    return [heading, *(f"    {one.what}: {one.key}" for one in table.differences)]


def _made_by(projection: Projection | None) -> str:
    if projection is None:
        return "none was recorded"
    return f"{projection.model_id}, prompt {projection.prompt_sha}"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
