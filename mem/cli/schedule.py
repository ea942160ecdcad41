"""`mem schedule on | off | show`: the nightly check that every table is what the journal makes it."""

from __future__ import annotations

from datetime import datetime, time
from typing import TYPE_CHECKING, Annotated

import typer

from mem.cli.common import Format, OutputFormat, add_noun, explained, run, show_json, tell
from mem.cli.connect import connected
from mem.domain.errors import InvalidRequest

if TYPE_CHECKING:
    from mem.domain.replaying import NightlyCheck, NightlyRun

DEFAULT_AT = "03:00"


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    noun = add_noun(app, "schedule", "The nightly check that every table is what the journal makes it.")
    noun.command()(on)
    noun.command()(off)
    noun.command()(show)


def on(
    at: Annotated[str, typer.Option(metavar="HH:MM", help="When, in UTC.")] = DEFAULT_AT,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Check every night, as `mem rebuild --from-log --check` does; again, to change the time.

    Temporal starts it and a worker does it. A night is skipped while the check of the night before is still at work.
    What differs stands in the details of the run and in the metric mem_drift_rows, and `mem schedule show` tells it.
    """
    with explained():
        when = _time_of(at)
        _print(run(_schedule(when)), output)


def off(output: Format = OutputFormat.TEXT) -> None:
    """Check no more; a check that is at work goes on."""
    with explained():
        removed = run(_unschedule())
        if output is OutputFormat.JSON:
            show_json({"removed": removed})
        else:
            tell("The nightly check is off." if removed else "There was no nightly check.")


def show(output: Format = OutputFormat.TEXT) -> None:
    """Tell when the next check is, and what came of the last one; exit 1 where there is none, or rows differed."""
    with explained():
        found = run(_find())
        _print(found, output)
        if found is None or (found.last is not None and found.last.state in {"differs", "failed"}):
            raise typer.Exit(1)


def _print(found: NightlyCheck | None, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        show_json(None if found is None else found.model_dump(mode="json"))
    else:
        tell("There is no nightly check: `mem schedule on` makes one." if found is None else _told(found))


def _time_of(at: str) -> time:
    try:
        return datetime.strptime(at, "%H:%M").time()  # noqa: DTZ007 - a time of day alone
    except ValueError:
        raise InvalidRequest(f"{at!r} is no time of day.", "Write hours and minutes in UTC, such as 03:00.") from None


async def _schedule(at: time) -> NightlyCheck | None:
    client = await connected()
    await client.schedule_check(at)
    return await client.scheduled_check()


async def _unschedule() -> bool:
    return await (await connected()).unschedule_check()


async def _find() -> NightlyCheck | None:
    return await (await connected()).scheduled_check()


def _told(found: NightlyCheck) -> str:
    when = "never" if found.next is None else f"{found.next:%Y-%m-%d %H:%M} UTC"
    lines = [f"next check: {when}{', but it is paused' if found.paused else ''}"]
    lines.append("last check: none yet" if found.last is None else f"last check: {_run_told(found.last)}")
    if found.skipped or found.missed:
        lines.append(f"left out: {found.skipped} while another was at work, {found.missed} while Temporal was away")
    return "\n".join(lines)


def _run_told(last: NightlyRun) -> str:
    states = {
        "running": "at work",
        "same": "every table is what the journal makes it",
        "differs": "; ".join(f"{table}: {rows} rows differ" for table, rows in sorted(last.differing.items())),
        "failed": "it failed",
        "forgotten": "Temporal has let go of it",
    }
    return f"{last.started:%Y-%m-%d %H:%M} UTC, {states[last.state]} ({last.workflow_id})"
