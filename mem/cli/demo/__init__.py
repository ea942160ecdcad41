"""`mem demo`: the main job on real input, on a stack of its own."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo() -> None:
    """Show the main job."""
