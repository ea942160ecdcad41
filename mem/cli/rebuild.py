"""`mem rebuild`: what follows from the evidence of the memories, derived anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mem.cli.common import Format, OutputFormat, explained, run, say, show, show_json
from mem.cli.connect import connected

if TYPE_CHECKING:
    from mem.domain.rebuild import RebuildReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rebuild)


def rebuild(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where anything is missing or differs.")
    ] = False,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Rebuild the failure signatures: derive those of the current algorithm from the evidence of all memories.

    Rows of earlier versions of the algorithm stay, and answer until a memory has current ones. It may be run at any
    time and as often as you like, beside other work; interrupted, it goes on by itself, and the same command waits
    for it again. Vectors, projections and counts are not touched.
    """
    with explained():
        report = run(_rebuild(check=check))
    if output is OutputFormat.JSON:
        show_json(report.model_dump(mode="json"))
    else:
        show(_told(report))
    if check and not report.same:
        raise typer.Exit(1)


async def _rebuild(*, check: bool) -> RebuildReport:
    client = await connected()
    say("The worker does it; if you leave, it goes on.")
    return await client.rebuild(check=check)


def _told(report: RebuildReport) -> str:
    missing, other = ("missing", "different") if report.check else ("derived", "corrected")
    memories = f"{report.memories} {'memory' if report.memories == 1 else 'memories'}"
    counts = f"{report.new} {missing}, {report.changed} {other}, {report.unchanged} unchanged"
    lines = [f"looked at {memories}; signatures of version {report.algo}: {counts}"]
    lines += [f"  {'differs' if report.check else 'rebuilt'}: {sha}" for sha in report.differing]
    return "\n".join(lines)
