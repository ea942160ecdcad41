"""An exported journal, read from a file as often as it takes, and brought into the database."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mem.addresses import find_addresses
from mem.domain.errors import InvalidRequest
from mem.domain.replaying import Progress
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.journal import Head

LineSource = Callable[[], Iterator[str]]


@contextmanager
def opened(path: str) -> Iterator[LineSource]:
    """The lines of a file, or of standard input for "-", which is kept in a file meanwhile.

    Raises:
        InvalidRequest: it cannot be read.
    """
    if path != "-":
        yield lambda: _lines(Path(path))
        return
    with tempfile.NamedTemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        yield lambda: _lines(Path(kept.name), shown=path)


async def import_export(path: str, watch: Callable[[Progress], None] | None) -> Head:
    """Check an export from its first line to its head, then import what the database lacks of it.

    Raises:
        JournalCorrupt: the export does not hold; nothing was imported.
        ConfigurationError: the database has another journal, or vectors of another model.
    """
    from mem.store.importing import check, import_lines  # noqa: PLC0415 - with what follows, half a second to import
    from mem.wiring import open_store  # noqa: PLC0415

    tell = watch or (lambda _: None)
    with opened(path) as lines:
        tell(Progress(phase="read"))
        checked = check(lines())
        async with open_store(find_addresses(Settings())) as store:
            async for done, total in import_lines(store.pool, lines, checked):
                tell(Progress(phase="import", done=done, total=total))
    return checked.head


def _lines(path: Path, *, shown: str | None = None) -> Iterator[str]:
    name = shown or str(path)
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                if line != "\n":
                    yield line
    except OSError as error:
        cause = f"{name} cannot be read: {error.strerror}."
        raise InvalidRequest(cause, "Name a file, or - for standard input.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{name} is no export: not UTF-8.", "Make one with `mem log export`.") from error
