"""`mem rebuild`: what follows from the journal and from the evidence in it, made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mem.addresses import find_addresses
from mem.cli import rebuild_report as told
from mem.cli.common import Format, OutputFormat, explained, run, say, show_json, tell
from mem.cli.connect import connected
from mem.cli.export_file import import_export
from mem.cli.progress import progress_bar
from mem.domain.errors import InvalidRequest
from mem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mem.domain.rebuild import RebuildReport
    from mem.domain.regenerating import Proposal, RegenerateReport
    from mem.domain.replaying import ReplayReport

PAGE = 100


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rebuild)


def rebuild(
    file: Annotated[
        str | None,
        typer.Argument(
            help="With --from-log: an export (- for standard input) that is imported first.", metavar="FILE"
        ),
    ] = None,
    from_log: Annotated[
        bool, typer.Option("--from-log", help="Rebuild every projection from the journal, and exchange the tables.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 where anything is missing or differs.")
    ] = False,
    regenerate: Annotated[
        bool, typer.Option("--regenerate", help="Ask the projector again about every memory, and show what differs.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="With --regenerate: record what it says in place of what was recorded.")
    ] = False,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Make again what follows from the journal.

    Without options: derive the failure signatures of the current algorithm from the evidence of all memories. Those of
    earlier versions stay, and answer until a memory has current ones. What is new is journaled, so that --from-log has
    it too.

    --from-log: every table of memories, projections, vectors, signatures, counts and skills, from the journal alone and
    without asking a model; lookups go on. --regenerate is the only one that asks a model.

    Each may be run at any time and as often as you like, beside other work; interrupted, it goes on by itself, and the
    same command waits for it again.
    """
    with explained():
        _check_options(file, from_log=from_log, check=check, regenerate=regenerate, apply=apply)
        if regenerate:
            _print_regenerated(run(_regenerate(apply=apply)), output)
        elif from_log:
            replayed = run(_replay(file, check=check))
            _print(replayed, told.replayed(replayed), output)
            _exit(fails=check and not replayed.same)
        else:
            derived = run(_derive(check=check))
            _print(derived, told.derived(derived), output)
            _exit(fails=check and not derived.same)


def _check_options(file: str | None, *, from_log: bool, check: bool, regenerate: bool, apply: bool) -> None:
    if apply and not regenerate:
        raise InvalidRequest("--apply belongs to --regenerate.", "Leave it out, or ask for --regenerate first.")
    if regenerate and check:
        raise InvalidRequest("--regenerate changes nothing by itself.", "Leave --check out.")
    if file is not None and (not from_log or regenerate):
        raise InvalidRequest("A file is read only by --from-log.", "Write `mem rebuild --from-log FILE`.")
    if file is not None and check:
        raise InvalidRequest(
            "--check changes nothing, and a file would be imported.", "Check a file with `mem log verify FILE`."
        )


async def _derive(*, check: bool) -> RebuildReport:
    client = await connected()
    say("The worker does it; if you leave, it goes on.")
    with progress_bar() as watch:
        return await client.rebuild(check=check, watch=watch)


async def _replay(file: str | None, *, check: bool) -> ReplayReport:
    client = await connected()
    with progress_bar() as watch:
        if file is not None:
            await client.check("writes")  # before anything is written
            await import_export(file, watch)
        say("The worker does it; if you leave, it goes on.")
        return await client.replay(check=check, watch=watch)


async def _regenerate(*, apply: bool) -> tuple[RegenerateReport, list[Proposal]]:
    client = await connected()
    say("The worker does it; if you leave, it goes on.")
    with progress_bar() as watch:
        report = await client.regenerate(apply=apply, watch=watch)
    return report, [one async for one in _proposals() if one.replaces or one.proposed is None]


async def _proposals() -> AsyncIterator[Proposal]:
    from mem.wiring import open_store  # noqa: PLC0415 - half a second to import

    async with open_store(find_addresses(Settings())) as store:
        after = ""
        while page := await store.proposals.page(after, PAGE):
            for one in page:
                yield one
            after = page[-1].sha


def _print_regenerated(found: tuple[RegenerateReport, list[Proposal]], output: OutputFormat) -> None:
    report, proposals = found
    if output is OutputFormat.JSON:
        shown = [one.model_dump(mode="json") for one in proposals]
        show_json({**report.model_dump(mode="json"), "proposals": shown})
        return
    for one in proposals:
        tell(told.proposal(one))
    tell(told.regenerated(report))


def _print(report: Any, text: str, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        show_json(report.model_dump(mode="json"))
    else:
        tell(text)


def _exit(*, fails: bool) -> None:
    if fails:
        raise typer.Exit(1)
