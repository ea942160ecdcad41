"""The root of the command line."""

from __future__ import annotations

import os
import sys

import typer
from pydantic import ValidationError

from mem.cli import accept, context, journal, rebuild, reference, serve, signature, skill, stack, symptoms
from mem.cli.demo import command as demo
from mem.settings import told

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A failure memory on Temporal.")
for noun in (stack, accept, context, symptoms, signature, reference, skill, journal, rebuild, serve, demo):
    noun.register(app)


def main() -> None:
    """Run a command."""
    code = 0
    try:
        app()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        code = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # The Temporal core's threads can abort the interpreter while it shuts down, which would change the exit code.
    os._exit(code)


if __name__ == "__main__":
    main()
