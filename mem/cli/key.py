"""`mem key new`: a key that encrypts what Temporal stores."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from mem.cli.common import Format, OutputFormat, add_noun, explained, say, show, show_json
from mem.domain.errors import InvalidRequest
from mem.domain.payload_keys import KEY_BYTES, PayloadKey, is_key_id


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "key", "Keys that encrypt what Temporal stores.").command(name="new")(new)


def new(
    name: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="What it is called; 1 to 64 characters. One is made.")
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Make a key, and print it as MEM_PAYLOAD_KEY takes it."""
    with explained():
        made = f"k{secrets.token_hex(4)}" if name is None else name
        if not is_key_id(made):
            raise InvalidRequest("That is no id of a key.", "Use 1 to 64 letters, digits, '.', '_' and '-'.")
        key = PayloadKey(made, secrets.token_bytes(KEY_BYTES))
        if output is OutputFormat.JSON:
            show_json({"id": key.id, "key": str(key)})
            return
        # On stderr, so that what is sent into a file or a variable is the key alone.
        say("Give it to every process as MEM_PAYLOAD_KEY, and keep it: without it those runs cannot be read.")
        show(str(key))
