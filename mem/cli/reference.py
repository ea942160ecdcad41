"""`mem reference`: documentation for what nobody here has hit yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, complain, explained, run, say, show_json, tell
from mem.cli.progress import progress_bar
from mem.domain.errors import InvalidRequest
from mem.domain.ids import SHARED, checked_project
from mem.domain.replaying import Progress
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.cli.documents import Collection, Parsed, Skipped
    from mem.ports import DocumentChange, HeldDocument
    from mem.writing.corpus import CorpusPlan, Step

_FEW = 10
"""Up to so many documents are told one by one, also where a bar shows how far it is."""

Owner = Annotated[
    str | None,
    typer.Option("--project", metavar="PROJECT", help="Whose documents; unset: those that every project sees."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    noun = add_noun(app, "reference", "The reference corpus.")
    noun.command()(add)
    noun.command("list")(list_)
    noun.command()(remove)


def add(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A document, a folder of them, or - for standard input.")],
    project: Owner = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the collection is called; unset: as the folder or file.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="markdown, rst, html or text; unset: as the name tells."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would change, and change nothing.")] = False,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Add documents, cut into chunks by heading: Markdown, reStructuredText, HTML and plain text.

    Added again, unchanged documents cost nothing, changed ones are replaced, and of a folder those that are gone are
    removed. Exit 1 where a file could not be added; the others are.
    """
    with explained():
        done = run(_add(path, project, name, form, dry_run=dry_run))
        show_json(done.document()) if output is OutputFormat.JSON else tell(done.told())
    if done.skipped:
        raise typer.Exit(1)


def list_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A collection whose documents are listed; unset: all collections."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="PROJECT", help="What one project has; unset: all projects, and the shared ones."
        ),
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """List the collections, or the documents of one; exit 1 where there is none."""
    from mem.cli.reference_list import as_json, as_text  # noqa: PLC0415 - of no use to the other commands

    with explained():
        found = run(_documents(name, None if project is None else checked_project(project)))
        by_document = name is not None
        show_json(as_json(found, by_document)) if output is OutputFormat.JSON else tell(as_text(found, by_document))
    if not found:
        raise typer.Exit(1)


def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A collection, a folder in it, or the source of one document.")
    ],
    project: Owner = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Remove documents: nothing finds them any more. Exit 1 where there is none of that name."""
    with explained():
        gone = run(_remove(name.split("#")[0].rstrip("/"), project))
        chunks = sum(one.removed for one in gone)
        if output is OutputFormat.JSON:
            show_json({"documents": len(gone), "chunks": chunks, "removed": [one.source for one in gone]})
        else:
            tell(f"removed {_counted(len(gone), 'document')} with {_counted(chunks, 'chunk')}")


class _Added(NamedTuple):
    """What an addition did, or would do."""

    name: str
    project: str | None
    dry_run: bool
    changes: Sequence[DocumentChange]
    new: frozenset[str]
    gone: frozenset[str]
    unchanged: int
    total: int
    embedded: int
    skipped: Sequence[Skipped]

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "project": self.project,
            "dry_run": self.dry_run,
            "documents": {**self._counts(), "unchanged": self.unchanged, "skipped": len(self.skipped)},
            "chunks": {
                "added": sum(one.added for one in self.changes),
                "removed": sum(one.removed for one in self.changes),
                "total": self.total,
            },
            "embedded": self.embedded,
            "changes": [{"change": self._what(one), **one._asdict()} for one in self.changes],
            "skipped": [one._asdict() for one in self.skipped],
        }

    def told(self) -> str:
        counts = self._counts() | {"unchanged": self.unchanged, "skipped": len(self.skipped)}
        documents = ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "nothing to do"
        added, removed = sum(one.added for one in self.changes), sum(one.removed for one in self.changes)
        would = "nothing was written; it would be: " if self.dry_run else ""
        return f"{self.name}: {would}{documents}; chunks: {added} new, {removed} removed, {self.total} in all"

    def _counts(self) -> dict[str, int]:
        changes = [self._what(one) for one in self.changes]
        return {what: changes.count(what) for what in ("added", "changed", "removed")}

    def _what(self, change: DocumentChange) -> str:
        return "removed" if change.source in self.gone else "added" if change.source in self.new else "changed"


async def _add(path: str, project: str | None, name: str | None, form: str | None, *, dry_run: bool) -> _Added:
    from mem.cli.documents import find_documents  # noqa: PLC0415 - with what follows, more than a second to import
    from mem.wiring import open_ports, open_store  # noqa: PLC0415
    from mem.writing.corpus import carry_out  # noqa: PLC0415

    owner = SHARED if project is None else checked_project(project)
    collection = find_documents(path, name)
    parsed = _parse(collection, form, project)
    settings = Settings()
    addresses = find_addresses(settings)
    if dry_run:
        async with open_store(addresses) as store:
            held = await store.reference.documents(owner, collection.name)
            plan = _plan(collection, parsed, held)
        changes, embedded = [one.change for one in plan.changing], 0
        total = sum(len(one.shas) for one in held) + sum(one.added - one.removed for one in changes)
    else:
        async with open_ports(addresses, settings) as ports:
            held = await ports.reference.documents(owner, collection.name)
            plan = _plan(collection, parsed, held)
            with progress_bar() as bar:
                shown = _Shown(bar, each=bar is None or len(plan.changing) <= _FEW)
                changes = await carry_out(plan, ports.reference, ports.embedder, shown.step)
            # What was added without its vectors, or by another writer, gets those that are missing.
            wanted = [node.sha for one in parsed if one.document for node in one.document.nodes]
            await ports.reference.complete(wanted, ports.embedder)
            total = sum(len(one.shas) for one in await ports.reference.documents(owner, collection.name))
        embedded = shown.embedded
    unchanged = plan.unchanged + len(plan.changing) - len(changes)
    skipped = [*collection.unlisted, *(one.skipped for one in parsed if one.skipped)]
    gone = frozenset(one.document.source for one in plan.changing if not one.document.nodes)
    return _Added(collection.name, project, dry_run, changes, plan.new, gone, unchanged, total, embedded, skipped)


def _parse(collection: Collection, form: str | None, project: str | None) -> list[Parsed]:
    """Each document; those that cannot be added, or hold nothing, are told at once."""
    from mem.cli.documents import parse_all  # noqa: PLC0415
    from mem.parsing.documents import FORMATS  # noqa: PLC0415

    chosen = next((known for known in FORMATS if known == form), None)
    if form is not None and chosen is None:
        raise InvalidRequest(f"{form[:40]!r} is no type of document.", f"Use {', '.join(FORMATS)}.")
    parsed = []
    with progress_bar() as bar:
        for one in parse_all(collection, chosen, project):
            parsed.append(one)
            if bar is not None:
                bar(Progress(phase="read", done=len(parsed), total=len(collection.files)))
            if one.skipped is not None:
                complain(f"{one.skipped.path}: skipped, {one.skipped.reason}")
            elif one.document is not None and not one.document.nodes:
                say(f"{one.source}: holds no text")
    for skipped in collection.unlisted:
        complain(f"{skipped.path}: skipped, {skipped.reason}")
    return parsed


def _plan(collection: Collection, parsed: Sequence[Parsed], held: Sequence[HeldDocument]) -> CorpusPlan:
    from mem.writing.corpus import corpus_plan  # noqa: PLC0415

    _check_origin(collection, held)
    wanted = [one.document for one in parsed if one.document is not None]
    seen = {one.source for one in parsed}
    # Of a folder that could not be listed nobody knows what is gone.
    whole = collection.whole and not collection.unlisted
    below = f"{collection.name}/"
    vanished = [one.source for one in held if whole and one.source.startswith(below) and one.source not in seen]
    return corpus_plan(held, wanted, vanished)


def _check_origin(collection: Collection, held: Sequence[HeldDocument]) -> None:
    """Keep a folder from replacing another one of the same name.

    Raises:
        InvalidRequest: the collection is of another place, and the caller did not name it.
    """
    others = {one.origin for one in held} - {"", collection.origin}
    if others and not collection.named:
        raise InvalidRequest(
            f"A collection {collection.name} is there, from another place.",
            f"To replace it, give --name {collection.name}; to keep both, give another --name.",
        )


class _Shown:
    """Shows how far the writing is: by a bar, a line for each document, or both."""

    def __init__(self, bar: Callable[[Progress], None] | None, *, each: bool) -> None:
        self._bar = bar
        self._each = each
        self.embedded = 0

    def step(self, step: Step) -> None:
        self.embedded = step.embedded
        if self._bar is not None:
            self._bar(Progress(phase="embed", done=step.texts, total=step.of))
        for one in step.written if self._each else ():
            say(f"{one.source}: {_counted(one.added, 'new chunk')}, {one.removed} removed")


async def _documents(within: str | None, project: str | None) -> list[HeldDocument]:
    from mem.wiring import open_store  # noqa: PLC0415 - half a second to import

    async with open_store(find_addresses(Settings())) as store:
        return await store.reference.documents(project, within)


async def _remove(within: str, project: str | None) -> list[DocumentChange]:
    from mem.domain.errors import NotFound  # noqa: PLC0415
    from mem.wiring import open_store  # noqa: PLC0415 - half a second to import
    from mem.writing.corpus import remove_documents  # noqa: PLC0415

    owner = SHARED if project is None else checked_project(project)
    async with open_store(find_addresses(Settings())) as store:
        gone = await remove_documents(store.reference, owner, within)
        if not gone:
            elsewhere = sorted({one.project for one in await store.reference.documents(None, within)})
            projects = [f"--project {other}" for other in elsewhere if other != SHARED]
            remedy = f"It is there with {' and with '.join(projects)}." if projects else "See `mem reference list`."
            raise NotFound(f"No {'shared ' if project is None else ''}document is called {within}.", remedy)
    return gone


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
