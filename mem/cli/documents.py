"""The documents that `mem reference add` is given: a file, a folder of them, or standard input."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mem.domain.errors import InvalidRequest
from mem.domain.ids import SHARED
from mem.domain.nodes import Node
from mem.parsing.documents import (
    SUFFIXES,
    DocumentFormat,
    UnreadableError,
    document_text,
    format_of,
    guess_format,
)
from mem.parsing.names import refuse_secret_names
from mem.ports import Document
from mem.writing.reference import reference_nodes

MAX_DOCUMENT_BYTES = 8 << 20
MAX_NAME_CHARACTERS = 100
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


class Skipped(NamedTuple):
    """A file that could not be added."""

    path: str
    reason: str


class Collection(NamedTuple):
    """Where documents come from.

    `named` where the caller chose the name. `whole` where the files are all that the collection shall hold, which is
    so of a `folder`. `origin` tells this place from others, without telling what it is.
    """

    name: str
    named: bool
    whole: bool
    origin: str
    files: tuple[tuple[str, Path | None], ...]
    unlisted: tuple[Skipped, ...] = ()
    folder: Path | None = None


class Parsed(NamedTuple):
    """A document, or why there is none."""

    source: str
    document: Document | None
    skipped: Skipped | None = None


def find_documents(path: str, name: str | None) -> Collection:
    """The files at `path`, each with the source by which its document is known.

    The document of a file in a folder is `NAME/PATH`, of a file alone the name of the file, of a file to which a name
    is given `NAME/FILE`, and of standard input `NAME`.

    Raises:
        InvalidRequest: there are none, or the name is missing or none.
    """
    if path == "-":
        if name is None:
            raise InvalidRequest("Standard input has no name.", "Give it one: --name NAME.")
        return Collection(_checked(name), named=True, whole=False, origin="", files=((_checked(name), None),))
    place = Path(path)
    if not place.exists():
        raise InvalidRequest(f"{path} does not exist.", "Name a document, a folder of them, or - for standard input.")
    chosen = _checked(place.resolve().name.replace("#", "%23") if name is None else name)
    if place.is_dir():
        return _folder(place, chosen, named=name is not None)
    source = chosen if name is None else f"{chosen}/{_quoted(place.name)}"
    origin = _origin(place if name is None else place.parent)
    return Collection(chosen, name is not None, whole=False, origin=origin, files=((source, place),))


def parse_all(collection: Collection, form: DocumentFormat | None, project: str | None) -> Iterator[Parsed]:
    """Each document in its order; one that cannot be read says why.

    Args:
        form: None for the one that a file's name or its text tells.
    """
    for source, path in collection.files:
        shown = "standard input" if path is None else str(path)
        try:
            source.encode()
            refuse_secret_names(source=source)
            _check_within(collection.folder, path)
            nodes = _nodes(source, path, form, project)
        except UnicodeEncodeError:
            yield Parsed(source, None, Skipped(ascii(shown), "its name is not UTF-8"))
        except OSError as error:
            yield Parsed(source, None, Skipped(shown, f"it cannot be read: {error.strerror or error}"))
        except UnreadableError as error:
            yield Parsed(source, None, Skipped(shown, str(error)))
        except InvalidRequest as error:
            yield Parsed(source, None, Skipped(shown, str(error)))
        else:
            yield Parsed(source, Document(SHARED if project is None else project, source, nodes, collection.origin))


def _check_within(folder: Path | None, path: Path | None) -> None:
    """A folder that somebody else wrote shall not bring in by links what is not in it."""
    if folder is None or path is None:
        return
    # Unlike `Path.resolve` it stands a link that leads to itself, which cannot be read then.
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UnreadableError("it is a link that leads out of the folder: add what it leads to by its own name")


def _nodes(source: str, path: Path | None, form: DocumentFormat | None, project: str | None) -> tuple[Node, ...]:
    data = _bytes(path)
    form = form or format_of(source if path is None else path.name)
    text = document_text(data, form or ("html" if data.lstrip()[:1] == b"<" else "markdown"))
    return tuple(reference_nodes(text, source=source, project=project, form=form or guess_format(text)))


def _bytes(path: Path | None) -> bytes:
    """The content, unless it is too long; no more of it is read than tells that."""
    if path is None:
        data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
    else:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise UnreadableError(f"it is longer than {MAX_DOCUMENT_BYTES >> 20} MiB: split it")
    return data


def _folder(folder: Path, name: str, *, named: bool) -> Collection:
    unlisted: list[Skipped] = []
    found = []
    # Links to folders are not followed: they may lead in a circle, and what they lead to has a place of its own.
    for at, folders, files in os.walk(folder, onerror=lambda error: unlisted.append(_unlisted(error))):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in _SKIPPED_FOLDERS]
        places = [Path(at, file) for file in files if not file.startswith(".") and format_of(file)]
        found += [place for place in places if place.is_file() or place.is_symlink()]
    if not found and not unlisted:
        raise InvalidRequest(f"{folder} holds no document.", f"Files end in {', '.join(SUFFIXES)}.")
    sources = sorted((f"{name}/{_quoted(place.relative_to(folder).as_posix())}", place) for place in found)
    return Collection(
        name,
        named,
        whole=True,
        origin=_origin(folder),
        files=tuple(sources),
        unlisted=tuple(unlisted),
        folder=folder,
    )


def _unlisted(error: OSError) -> Skipped:
    return Skipped(str(error.filename), f"it cannot be read: {error.strerror}")


def _checked(name: str) -> str:
    """The name of a collection: the first part of its sources.

    Raises:
        InvalidRequest: it cannot be one.
    """
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable() or not {"/", "#"}.isdisjoint(name):
        raise InvalidRequest(
            f"{name[:MAX_NAME_CHARACTERS]!r} is no name of a collection.",
            f"Give one of up to {MAX_NAME_CHARACTERS} printable characters without / and #: --name NAME.",
        )
    return name


def _quoted(path: str) -> str:
    """A path as part of a source, in which # begins the anchor."""
    return "".join(
        "%23" if char == "#" else char if char.isprintable() or "\ud800" <= char <= "\udfff" else "\ufffd"
        for char in path
    )


def _origin(place: Path) -> str:
    return hashlib.sha256(os.fsencode(place.resolve())).hexdigest()[:16]
