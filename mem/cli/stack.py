"""`mem up`, `mem down` and `mem status`: the embedded stack."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from mem.cli.common import Format, OutputFormat, explained, say, show, tell
from mem.domain.acceptance_rate import MEANT_BELOW
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.acceptance_rate import AcceptanceRate
    from mem.local import PartStatus, StackFile

PORT = {"min": 1, "max": 65535, "metavar": "PORT"}


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(up)
    app.command()(down)
    app.command()(status)


def up(
    detach: Annotated[bool, typer.Option("--detach", help="Return once every part answers.")] = False,
    http_port: Annotated[int | None, typer.Option(help="Port of the gateway; default: a free one.", **PORT)] = None,
    ui_port: Annotated[int | None, typer.Option(help="Port of Temporal's UI; default: a free one.", **PORT)] = None,
    temporal_port: Annotated[int | None, typer.Option(help="Port of Temporal; default: a free one.", **PORT)] = None,
    postgres_port: Annotated[int | None, typer.Option(help="Port of Postgres; default: a free one.", **PORT)] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Start Postgres, Temporal, the worker and the gateway, and stop them again on Ctrl-C."""
    settings = Settings()
    with explained():
        from mem.local import StackHome, StackOptions, start_detached, supervise  # noqa: PLC0415

        options = StackOptions(
            http_port=http_port or settings.http_port,
            ui_port=ui_port,
            temporal_port=temporal_port,
            postgres_port=postgres_port,
            **_given(settings),
        )

        def ready(stack: StackFile) -> None:
            _print_stack(stack, output, hint="`mem down` stops it." if detach else "Ctrl-C stops it.")

        if detach:
            ready(asyncio.run(start_detached(settings.home, options)))
        else:
            logs = StackHome.at(settings.home).logs
            say(f"logs: {logs}")
            asyncio.run(supervise(settings.home, options, ready, say))


def down(
    delete_data: Annotated[bool, typer.Option("--delete-data", help="Delete what it keeps, too: for good.")] = False,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Stop the stack and everything that it started."""
    settings = Settings()
    with explained():
        from mem.local import remove_data, stop_stack  # noqa: PLC0415

        stopped = asyncio.run(stop_stack(settings.home))
        if delete_data:
            remove_data(settings.home)
        if output is OutputFormat.JSON:
            show(json.dumps({"stopped": stopped}))
        elif stopped:
            tell(f"stopped: {', '.join(stopped)}")
        else:
            tell(f"The stack of {settings.home.resolve()} is not running.")


def status(output: Format = OutputFormat.TEXT) -> None:
    """Show what runs and what answers; exit 1 unless every part answers."""
    settings = Settings()
    with explained():
        from mem.local import stack_status  # noqa: PLC0415

        found = asyncio.run(stack_status(settings.home, database_url=settings.database_url))
        if output is OutputFormat.JSON:
            show(found.model_dump_json(indent=2))
        elif not found.parts:
            tell(f"The stack of {found.home} is not running. `mem up` starts it.")
            if found.acceptance is not None:
                tell(_acceptance(found.acceptance))
        else:
            _print_parts(found.parts)
            if found.ui is not None:
                tell(f"Temporal UI: {found.ui}")
            tell(_acceptance(found.acceptance))
        if not found.running:
            raise typer.Exit(1)


def _given(settings: Settings) -> dict[str, object]:
    """What the environment gives: a server that is set there is used, not started."""
    return {
        "database_url": settings.database_url or None,
        "temporal_address": settings.temporal_address or None,
        "temporal_namespace": settings.temporal_namespace or "default",
        "task_queue": settings.task_queue,
        "app_dir": settings.app_dir,
    }


def _print_stack(stack: StackFile, output: OutputFormat, hint: str) -> None:
    if output is OutputFormat.JSON:
        show(stack.model_dump_json(indent=2))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("gateway", stack.http)
    table.add_row("Temporal UI", stack.ui or "that of the given server")
    table.add_row("Temporal", f"{stack.temporal.address}, namespace {stack.temporal.namespace}")
    table.add_row("home", stack.home)
    if stack.postgres_dir is not None:
        table.add_row("Postgres data", stack.postgres_dir)
    Console(soft_wrap=True).print(table)
    tell(f"\nEvery part answers. {hint}")


def _print_parts(parts: tuple[PartStatus, ...]) -> None:
    table = Table("part", "state", "pid", "address", "uptime")
    for part in parts:
        uptime = "" if part.uptime_seconds is None else str(timedelta(seconds=part.uptime_seconds))
        pid = "given" if part.running is None else str(part.pid or "")
        table.add_row(part.name, _state(part), pid, part.address, uptime)
    Console().print(table)


def _acceptance(rate: AcceptanceRate | None) -> str:
    if rate is None:
        return "acceptance: unknown, the database does not tell"
    if rate.share is None:
        return "acceptance: nothing was handed in yet"
    told = f"acceptance: {rate.share:.0%} of {rate.accepted + rate.rejected + rate.duplicate}"
    counts = f"{rate.accepted} accepted, {rate.rejected} rejected, {rate.duplicate} duplicate"
    pending = f", {rate.pending} pending" if rate.pending else ""
    return f"{told} ({counts}{pending}); the gate is meant to keep it under {MEANT_BELOW:.0%}"


def _state(part: PartStatus) -> str:
    if part.answering:
        return "[green]answers[/green]"
    return "[red]not running[/red]" if part.running is False else "[red]does not answer[/red]"
