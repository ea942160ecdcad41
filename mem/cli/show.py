"""`mem show`: one memory with all that is known of it."""

from __future__ import annotations

from typing import Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, explained, run, show
from mem.cli.shown import told_memory
from mem.cli.terminal import columns, tell_lines
from mem.domain.shown import ShownMemory
from mem.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="show")(show_memory)


def show_memory(
    sha: Annotated[str, typer.Argument(metavar="SHA", help="The memory's sha, or an unambiguous prefix of it.")],
    output: Format = OutputFormat.TEXT,
) -> None:
    """Show a memory: what it says and rests on, by which failures it is found, and how often those were seen."""
    with explained():
        shown = run(_shown(sha))
        if output is OutputFormat.JSON:
            show(shown.model_dump_json())  # the very bytes of GET /memory/{sha}
        else:
            tell_lines(told_memory(shown, width=columns()))


async def _shown(sha: str) -> ShownMemory:
    from mem.reading import open_reader  # noqa: PLC0415 - half a second to import

    async with open_reader(find_addresses(Settings()).need_database()) as reader:
        return await reader.show(sha)
