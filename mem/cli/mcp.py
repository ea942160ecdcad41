"""`mem mcp`: the memory for agents that speak the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from mem.cli.common import explained
from mem.cli.project import known_project
from mem.domain.errors import InvalidRequest
from mem.domain.ids import checked_project


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(
    project: Annotated[
        str | None,
        typer.Option(metavar="PROJECT", help="The project of calls that name none. Unset: by the current folder."),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP, not over stdio.")] = False,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="With --http. Default: MEM_HTTP_HOST or 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=1, max=65535, help="With --http. Default: 8643.")
    ] = None,
) -> None:
    """Serve agents over the Model Context Protocol, on standard input and output or over HTTP."""
    with explained():
        if not http and (host, port) != (None, None):
            raise InvalidRequest("--host and --port belong to --http.", "Leave them out, or add --http.")
    arguments = ["--http"] if http else []
    if host is not None:
        arguments += [f"--host={host}"]
    if port is not None:
        arguments += ["--port", str(port)]
    with explained():
        chosen = known_project(project)
        if chosen is not None:
            arguments += ["--project", checked_project(chosen.project)]
            chosen.tell()
    # The server takes this process's place, so that it starts light and signals need no passing on. The folder that an
    # agent works in is none to import from (-P).
    os.execv(sys.executable, [sys.executable, "-P", "-m", "mem.gateway.mcp", *arguments])  # noqa: S606 - our own
