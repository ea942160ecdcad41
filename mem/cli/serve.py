"""`mem worker`, `mem serve` and `mem migrate`: the parts of a stack, one by one."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from mem.addresses import find_addresses
from mem.app_dir import find_app_dir
from mem.cli.common import explained, run, say
from mem.domain.errors import ConfigurationError
from mem.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(worker)
    app.command()(serve)
    app.command()(migrate)


def worker() -> None:
    """Run the worker.py of this checkout or image."""
    with explained():
        script = find_app_dir(Settings().app_dir) / "worker.py"
    # The worker takes this process's place, so that signals and exit codes need no passing on.
    os.execv(sys.executable, [sys.executable, str(script)])  # noqa: S606 - a file of the checkout


def serve(
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Where it listens. Default: MEM_HTTP_PORT or 8642."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="Where it listens. Default: MEM_HTTP_HOST or 127.0.0.1; any other address needs MEM_TOKENS_FILE.",
        ),
    ] = None,
) -> None:
    """Serve the HTTP gateway, without tokens on a loopback address alone."""
    chosen = {} if port is None else {"MEM_HTTP_PORT": str(port)}
    if host is not None:
        chosen["MEM_HTTP_HOST"] = host
    # The gateway takes this process's place, so that signals and exit codes need no passing on.
    os.execve(sys.executable, [sys.executable, "-m", "mem.gateway"], {**os.environ, **chosen})  # noqa: S606 - our own


def migrate() -> None:
    """Bring the database to this version's schema, and Temporal's namespace to its search attributes."""
    with explained():
        from mem.wiring import migrate_database, migrate_temporal  # noqa: PLC0415 - psycopg and onnxruntime

        settings = Settings()
        found = find_addresses(settings)
        for line in run(migrate_database(found, settings)):
            say(line)
        try:
            found.need_temporal()
        except ConfigurationError:
            say(
                "No Temporal server is known: run this again with TEMPORAL_ADDRESS to register search attributes there."
            )
            return
        for line in run(migrate_temporal(found)):
            say(line)
