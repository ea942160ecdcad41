"""`mem symptoms show`: what failure a memory is found by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, explained, run, show, show_json
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.accepting import Projection


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "symptoms", "Symptom projections.").command(name="show")(show_symptoms)


def show_symptoms(
    sha: Annotated[str, typer.Argument(help="The memory's sha, or an unambiguous prefix of it.")],
    output: Format = OutputFormat.TEXT,
) -> None:
    """Show the symptom projection of a memory."""
    with explained():
        full, projection = run(_projection(sha))
        text = projection.text if projection is not None and projection.text else None
        lines = text.splitlines() if text is not None else []
        if output is OutputFormat.JSON:
            show_json(
                {
                    "sha": full,
                    "text": text,
                    "model_id": projection.model_id if projection is not None else None,
                    "prompt_sha": projection.prompt_sha if projection is not None else None,
                    "lines": lines,
                }
            )
        elif projection is None:
            show(f"{full}\nno projection was made: only lessons (L1, L2) get one")
        else:
            show(f"{full}\nby {projection.model_id}, prompt {projection.prompt_sha[:12]}")
            show("\n".join(f"  {line}" for line in lines) or "  empty: the memory explains no failure")


async def _projection(prefix: str) -> tuple[str, Projection | None]:
    from mem.wiring import open_store  # noqa: PLC0415 - with what follows, half a second to import

    async with open_store(find_addresses(Settings())) as store:
        sha = await store.memories.resolve(prefix)
        return sha, await store.memories.projection(sha)
