"""The root of the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc

import typer
from pydantic import ValidationError

from mem.clients.temporal.ending import end_with
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
    "runs": "runs",
    "symptoms": "symptoms",
    "signature": "signature",
    "reference": "reference",
    "skill": "skill",
    "log": "journal",
    "rebuild": "rebuild",
    "schedule": "schedule",
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
    _unbreak(app)
    return app


def _unbreak(app: typer.Typer) -> None:
    """Let the paragraphs of a docstring be broken by the terminal's width, not by that of the source."""
    for command in app.registered_commands:
        told = cleandoc((command.callback and command.callback.__doc__) or "")
        command.help = command.help or "\n\n".join(" ".join(each.split()) for each in told.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _unbreak(group.typer_instance)


def main() -> None:
    """Run a command."""
    end_with(_command)


def _command() -> int:
    try:
        app_for(sys.argv[1:])()
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        return 2
    return 0


if __name__ == "__main__":
    main()
