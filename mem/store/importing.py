"""An export brought into the journal of a database that is empty or at an earlier point of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from mem.domain.errors import ConfigurationError, JournalCorrupt, ModelMismatch
from mem.domain.journal import GENESIS, Head
from mem.store import journal
from mem.store.export import Exported, parse_lines
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.vector_index import active_index

BATCH = 500
"""Records to a transaction: what was imported stays, however often the import is interrupted."""

Lines = Callable[[], Iterable[str]]
"""Opens the export anew: it is read once to be checked and once to be imported."""


class Imported(NamedTuple):
    """How far an import is, and how many records the export has."""

    done: int
    total: int


class _Checked(NamedTuple):
    head: Head
    models: frozenset[str]


def check(lines: Iterable[str]) -> _Checked:
    """Read an export to its end.

    Raises:
        JournalCorrupt: a line was changed, the chain does not hold, or the end is missing.
    """
    head, models = Head(0, GENESIS), set[str]()
    for record, _ in parse_lines(lines):
        head = Head(record.seq, record.sha)
        if record.kind == "embedding":
            models.add(str(record.data["model_id"]))
    return _Checked(head, frozenset(models))


async def import_lines(pool: Pool, lines: Lines, checked: _Checked) -> AsyncIterator[Imported]:
    """Import what the database lacks of an export that was checked before, batch by batch.

    Raises:
        ConfigurationError: the journal of the database is not the beginning of the export; the first record that
            differs is named, and nothing was written.
        ModelMismatch: no embedding of the export is of the model whose vectors the database holds.
        JournalCorrupt: the file changed since it was checked.
    """
    total = checked.head.length
    length = (await on_connection(pool, journal.head)).length
    await _check_model(pool, checked.models)
    await _check_prefix(pool, lines, length, total)
    yield Imported(min(length, total), total)
    missing = (one for one in parse_lines(lines()) if one.record.seq > length)
    while batch := list(islice(missing, BATCH)):
        await in_transaction(pool, lambda connection, batch=batch: _add(connection, batch))  # type: ignore[misc]
        yield Imported(batch[-1].record.seq, total)
    if await on_connection(pool, journal.head) != checked.head:
        raise JournalCorrupt("The file is another one than when it was checked.", "Import it again.")


async def _check_model(pool: Pool, models: frozenset[str]) -> None:
    active = await on_connection(pool, active_index)
    if active is not None and models and active.model_id not in models:
        raise ModelMismatch(
            f"The embeddings of the export are of {', '.join(sorted(models))}, the vector index is of "
            f"{active.model_id}.",
            "Import it into a database that was migrated with the versions which the export was made with.",
        )


async def _check_prefix(pool: Pool, lines: Lines, length: int, total: int) -> None:
    """Hold what is in the database against the same records of the export, of which each names all before it."""
    there = iter(parse_lines(lines()))
    for first in range(1, min(length, total) + 1, BATCH):
        batch = list(islice(there, min(BATCH, min(length, total) + 1 - first)))
        stored = await on_connection(pool, lambda connection, batch=batch: _stored(connection, batch))  # type: ignore[misc]
        for record, _ in batch:
            if stored.get(record.seq) != record.sha:
                raise _differs(record.seq, f"is {record.kind} {record.key!r} in the file and another one there")
    if length > total:
        raise _differs(total + 1, f"is not in the file, which ends with record {total}")


def _differs(seq: int, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"The journal of the database is not the beginning of the export: record {seq} {what}.",
        "Import into an empty database, or one that was exported earlier and not written to since.",
    )


async def _stored(connection: Connection, batch: Sequence[Exported]) -> dict[int, str]:
    parameters = {"seqs": [one.record.seq for one in batch]}
    return dict(await (await connection.execute(sql("importing.shas"), parameters)).fetchall())


async def _add(connection: Connection, batch: Sequence[Exported]) -> None:
    """Add a batch behind the head, unless an attempt whose answer was lost did."""
    await journal.lock(connection, ["import"])
    head = await journal.lock_head(connection)
    first, last = batch[0].record, batch[-1].record
    if head == Head(last.seq, last.sha):
        return
    if head != Head(first.seq - 1, first.previous):
        raise _differs(first.seq, "was written there meanwhile")
    rows = [journal.row_of(record) for record, _ in batch]
    async with connection.cursor() as cursor:
        await cursor.executemany(sql("importing.insert_embedding"), list(_embeddings(batch)))
        await cursor.executemany(sql("importing.insert"), rows)
    await connection.execute(sql("importing.move_head"), {"seq": last.seq, "sha": last.sha})


def _embeddings(batch: Sequence[Exported]) -> Iterator[dict[str, str | bytes]]:
    for record, embedding in batch:
        if embedding is not None:
            named = {"model_id": record.data["model_id"], "text_sha": record.data["text_sha"]}
            yield {**named, "embedding": embedding}
