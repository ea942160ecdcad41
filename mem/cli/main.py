"""The root of the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import typer
from pydantic import ValidationError

from mem.clients.temporal.ending import end
from mem.domain.faults import told

_MODULES = {
    "up": "stack",
    "down": "stack",
    "status": "stack",
    "accept": "accept",
    "lookup": "context",
    "query": "query",
    "gaps": "gaps",
    "show": "show",
    "symptoms": "symptoms",
    "signature": "signature",
    "reference": "reference",
    "skill": "skill",
    "log": "journal",
    "rebuild": "rebuild",
    "supersede": "supersede",
    "worker": "serve",
    "serve": "serve",
    "migrate": "serve",
    "mcp": "mcp",
    "token": "token",
    "key": "key",
    "demo": "demo.command",
}
"""The module of each command; only what a call needs is loaded, which is most of the time that a short one takes."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The command line with the command that `arguments` begin with, or else with all."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, help="A failure memory on Temporal.")
    app.callback()(lambda: None)  # keeps a command's name where it is the only one
    wanted = _MODULES.get(arguments[0]) if arguments else None
    for module in [wanted] if wanted else dict.fromkeys(_MODULES.values()):
        import_module(f"mem.cli.{module}").register(app)
    return app


def main() -> None:
    """Run a command."""
    code = 0
    try:
        app_for(sys.argv[1:])()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        code = 2
    end(code)


if __name__ == "__main__":
    main()
