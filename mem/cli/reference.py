"""`mem reference add`: documentation for what nobody here has hit yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, explained, run, say, show_json, tell
from mem.domain.errors import InvalidRequest
from mem.settings import Settings

SUFFIXES = (".md", ".markdown")


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "reference", "The reference corpus.").command()(add)


def add(
    path: Annotated[Path, typer.Argument(help="A Markdown file, or a folder of them.")],
    project: Annotated[str | None, typer.Option("--project", help="Unset: every project sees it.")] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Add documents, cut into chunks by heading; adding them again changes nothing."""
    with explained():
        added = run(_add(_documents(path), project))
        if output is OutputFormat.JSON:
            show_json({"documents": len(added), "chunks": sum(added.values()), "added": added})
        else:
            tell(f"{sum(added.values())} new chunks of {len(added)} documents")


async def _add(documents: dict[str, str], project: str | None) -> dict[str, int]:
    from mem.wiring import open_ports  # noqa: PLC0415 - with what follows, a second to import
    from mem.writing.reference import reference_nodes  # noqa: PLC0415

    added: dict[str, int] = {}
    settings = Settings()
    async with open_ports(find_addresses(settings), settings) as ports:
        for source, text in documents.items():
            nodes = reference_nodes(text, source=source, project=project)
            if not nodes:
                say(f"{source}: holds no text")
                continue
            texts = {node.sha: node.text for node in nodes}
            # Adding again repeats the first answer; what is new to this call is what was not there before.
            added[source] = len(texts) - len(await ports.memories.nodes(list(texts)))
            await ports.memories.add_reference(nodes, source)
            await ports.memories.embed_reference(list(texts), ports.embedder)
            say(f"{source}: {added[source]} new of {len(texts)} chunks")
    return added


def _documents(path: Path) -> dict[str, str]:
    """Source and text of each document.

    Raises:
        InvalidRequest: there is none, or one cannot be read.
    """
    if not path.exists():
        raise InvalidRequest(f"{path} does not exist.", "Name a Markdown file or a folder of them.")
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    if not files:
        raise InvalidRequest(f"{path} holds no Markdown file.", f"Files end in {' or '.join(SUFFIXES)}.")
    try:
        return {str(file): file.read_text(encoding="utf-8") for file in files}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"A document cannot be read: {error}.", "Documents are UTF-8 text.") from error
