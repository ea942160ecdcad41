"""`mem up`, `mem down` and `mem status`: the embedded stack."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from mem.domain.errors import MemError
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.local import PartStatus, StackFile

PORT = {"min": 1, "max": 65535}


class OutputFormat(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


Format = Annotated[OutputFormat, typer.Option("--format", help="text for people, json for one document.")]


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
    with _explained():
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
            _say(f"logs: {logs}")
            asyncio.run(supervise(settings.home, options, ready, _say))


def down(output: Format = OutputFormat.TEXT) -> None:
    """Stop the stack and everything that it started."""
    settings = Settings()
    with _explained():
        from mem.local import stop_stack  # noqa: PLC0415

        stopped = asyncio.run(stop_stack(settings.home))
        if output is OutputFormat.JSON:
            _print(json.dumps({"stopped": stopped}))
        elif stopped:
            _print(f"stopped: {', '.join(stopped)}")
        else:
            _print(f"The stack of {settings.home.resolve()} is not running.")


def status(output: Format = OutputFormat.TEXT) -> None:
    """Show what runs and what answers; exit 1 unless every part answers."""
    settings = Settings()
    with _explained():
        from mem.local import stack_status  # noqa: PLC0415

        found = asyncio.run(stack_status(settings.home))
        if output is OutputFormat.JSON:
            _print(found.model_dump_json(indent=2))
        elif not found.parts:
            _print(f"The stack of {found.home} is not running. `mem up` starts it.")
        else:
            _print_parts(found.parts)
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


@contextmanager
def _explained() -> Iterator[None]:
    """Turn an error into its one clear message and exit code 1."""
    try:
        yield
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        sys.stderr.write(f"error: {error.name} is not installed. Install mem-worker[local,worker,http].\n")
        raise typer.Exit(1) from None


def _print_stack(stack: StackFile, output: OutputFormat, hint: str) -> None:
    if output is OutputFormat.JSON:
        _print(stack.model_dump_json(indent=2))
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
    _print(f"\nEvery part answers. {hint}")


def _print_parts(parts: tuple[PartStatus, ...]) -> None:
    table = Table("part", "state", "pid", "address", "uptime")
    for part in parts:
        uptime = "" if part.uptime_seconds is None else str(timedelta(seconds=part.uptime_seconds))
        pid = "given" if part.running is None else str(part.pid or "")
        table.add_row(part.name, _state(part), pid, part.address, uptime)
    Console().print(table)


def _state(part: PartStatus) -> str:
    if part.answering:
        return "[green]answers[/green]"
    return "[red]not running[/red]" if part.running is False else "[red]does not answer[/red]"


def _say(text: str) -> None:
    """Progress goes to stderr: stdout is for the result."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
