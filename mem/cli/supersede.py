"""`mem supersede`: one memory takes the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, explained, run, show_json, tell
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.ports import Superseded


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(supersede)


def supersede(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The sha of the memory that no longer holds, or a prefix.")],
    by: Annotated[
        str, typer.Option("--by", metavar="NEW", help="The sha of the one that takes its place, or a prefix.")
    ],
    output: Format = OutputFormat.TEXT,
) -> None:
    """Let one memory take the place of another of its project: a hit on the old one yields the new one."""
    with explained():
        superseded = run(_supersede(old, by))
        if output is OutputFormat.JSON:
            show_json(superseded._asdict())
        else:
            tell(f"{superseded.sha}\nstands in the place of {superseded.old}")


async def _supersede(old: str, new: str) -> Superseded:
    from mem.wiring import open_store  # noqa: PLC0415 - with what follows, half a second to import

    async with open_store(find_addresses(Settings())) as store:
        return await store.memories.supersede(await store.memories.resolve(old), await store.memories.resolve(new))
