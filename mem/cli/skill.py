"""`mem skill add`: what an agent can do about a kind of work."""

from __future__ import annotations

from typing import Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, explained, read_bytes, run, show_json, tell
from mem.domain.errors import InvalidRequest
from mem.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "skill", "Skills of agents.").command()(add)


def add(
    file: Annotated[str, typer.Argument(help="A SKILL.md with front matter `name` and `description`.")],
    project: Annotated[str | None, typer.Option("--project", help="Unset: every project sees it.")] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Add a skill, or replace the one of its name."""
    with explained():
        name, changed = run(_add(file, project))
        if output is OutputFormat.JSON:
            show_json({"name": name, "changed": changed})
        else:
            tell(f"{name}: {'stored' if changed else 'unchanged'}")


async def _add(file: str, project: str | None) -> tuple[str, bool]:
    from mem.wiring import open_ports  # noqa: PLC0415 - with what follows, a second to import
    from mem.writing.skills import parse_skill  # noqa: PLC0415

    try:
        text = read_bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file} is not UTF-8 text.", "A skill is a Markdown file.") from error
    skill = parse_skill(text, name=file, project=project)
    settings = Settings()
    async with open_ports(find_addresses(settings), settings) as ports:
        return skill.name, await ports.skills.put(skill, ports.embedder)
