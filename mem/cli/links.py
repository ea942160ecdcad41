"""Links from the sources of memories to the files that they name."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from mem.cli.repository import there
from mem.cli.terminal import Link, flat

_LINE = re.compile(r":[0-9]+(?:-[0-9]+)?$")
_LOCAL = frozenset({"", "localhost"})


def file_link(source: str, folder: Path) -> Link | None:
    """A link to the file that a source names, where it is there; None where the source is anything else.

    A source is a path, as seen from `folder`, or a `file://` URL, and may have a line or an anchor behind it.
    """
    host = socket.gethostname()
    for path in _paths(source, host):
        file = folder / path
        if there(file.is_file):
            return Link(flat(source), f"file://{quote(host)}{quote(os.fsencode(Path(os.path.normpath(file))))}")
    return None


def _paths(source: str, host: str) -> Iterator[Path]:
    """What the source may mean, the likeliest first: a name may itself hold what looks like a line or an anchor."""
    if source.startswith("file://"):
        named, slash, path = source.removeprefix("file://").partition("/")
        source = slash + unquote(path) if named in {*_LOCAL, host} else ""
    elif source.startswith("~/"):
        source = str(Path.home()) + source[1:]
    for text in (source, source.rpartition("#")[0]):
        line = _LINE.sub("", text)
        # A column may stand behind the line.
        yield from (Path(one) for one in dict.fromkeys((text, line, _LINE.sub("", line))) if one)
