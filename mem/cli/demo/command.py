"""`mem demo`: the main job on real input, on a stack of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from mem.cli.common import explained, run


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the stack up, to look around.")] = False,
) -> None:
    """Hand in eighteen incidents, four of them to be refused, then find the others again from real logs."""
    with explained():
        from mem.cli.demo.tour import tour  # noqa: PLC0415 - temporalio takes half a second to import

        run(tour(keep=keep))
