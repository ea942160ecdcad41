"""`mem log export` and `mem log verify`: the journal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, explained, read_bytes, run, show, show_json, tell
from mem.domain.errors import InvalidRequest
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.journal import Head

HeadOption = Annotated[
    str | None,
    typer.Option(
        "--head", metavar="SHA", help="The sha of a record that must be in the chain, such as an earlier head."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    noun = add_noun(app, "log", "The journal, the only authority on memory.")
    noun.command()(export)
    noun.command()(verify)


def export() -> None:
    """Print the journal as JSON Lines, ended by its head."""
    with explained():
        run(_export())


def verify(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="An export (- for standard input); unset: the database's journal."),
    ] = None,
    head: HeadOption = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Check the hash chain; exit 1 where a record was changed, is missing, out of order or cut off."""
    with explained():
        if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
            raise InvalidRequest("--head is no sha of a record.", "Give all its 64 digits, in lower case.")
        found = _verify_file(file, head) if file is not None else run(_verify_stored(head))
        if output is OutputFormat.JSON:
            show_json({"head": {"count": found.length, "sha": found.sha}})
        else:
            tell(f"{found.length} records, head {found.sha}")


async def _export() -> None:
    from mem.store.export import export_stored  # noqa: PLC0415 - with what follows, half a second to import
    from mem.wiring import open_store  # noqa: PLC0415

    async with open_store(find_addresses(Settings())) as store:
        async for line in export_stored(store.pool):
            show(line)


async def _verify_stored(head: str | None) -> Head:
    from mem.store.export import verify_stored  # noqa: PLC0415 - with what follows, half a second to import
    from mem.wiring import open_store  # noqa: PLC0415

    async with open_store(find_addresses(Settings())) as store:
        return await verify_stored(store.pool, head)


def _verify_file(path: str, head: str | None) -> Head:
    from mem.store.export import verify_lines  # noqa: PLC0415 - psycopg

    try:
        lines = read_bytes(path).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no export: not UTF-8.", "Make one with `mem log export`.") from error
    return verify_lines([line for line in lines if line], head)
