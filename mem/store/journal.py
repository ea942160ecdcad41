"""The append-only journal in Postgres, and the helpers with which every write takes its place in it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import LiteralString, NamedTuple

from psycopg.rows import class_row

from mem.domain.canonical import sha256_hex
from mem.domain.errors import JournalCorrupt
from mem.domain.journal import Entry, Head, Record, chain_sha, record_body
from mem.ports import Clock
from mem.store.pool import Connection, Pool, execute_each, in_transaction, on_connection
from mem.store.queries import sql

_PAGE = 100


class StoredRecord(NamedTuple):
    """A row of the journal, its body exactly as hashed."""

    seq: int
    sha: str
    previous: str
    key: str
    kind: str
    body: str

    @property
    def record(self) -> Record:
        """The record as the domain knows it."""
        return Record(sha=self.sha, previous=self.previous, **json.loads(self.body))


class PostgresJournal:
    """The journal port."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def record(self, entry: Entry) -> Record:
        """Append `entry`, or return the record that already has its key."""

        async def work(connection: Connection) -> Record:
            await lock(connection, [entry.key])
            found = await find(connection, entry.key)
            return found or (await append(connection, [entry], self._clock.now()))[0]

        return await in_transaction(self._pool, work)

    async def find(self, key: str) -> Record | None:
        """The record with that key."""
        return await on_connection(self._pool, lambda connection: find(connection, key))

    async def read(self, *, after: int = 0) -> AsyncIterator[Record]:
        """All records in order, beginning behind sequence number `after`."""
        async for row in read_stored(self._pool, after=after):
            yield row.record

    async def head(self) -> Head:
        """Length of the journal and sha of its last record."""
        return await on_connection(self._pool, head)


async def read_stored(pool: Pool, *, after: int = 0) -> AsyncIterator[StoredRecord]:
    """The rows in order, page by page, so that a slow reader holds no connection."""

    async def page(connection: Connection) -> list[StoredRecord]:
        cursor = connection.cursor(row_factory=class_row(StoredRecord))
        return await (await cursor.execute(sql("journal.page"), {"after": after, "limit": _PAGE})).fetchall()

    while rows := await on_connection(pool, page):
        for row in rows:
            yield row
        after = rows[-1].seq


async def lock(connection: Connection, names: Sequence[str]) -> None:
    """Make concurrent transactions that take one of these names wait until this one ends.

    Several names are locked in the order of their keys, so that two transactions never wait for each other. Whoever
    writes begins with this, be it without names: tables are never exchanged while such a transaction is open.
    """
    keys = sorted({int.from_bytes(bytes.fromhex(sha256_hex(name))[:8], signed=True) for name in names})
    await connection.execute(sql("journal.lock"), {"keys": keys})


async def find(connection: Connection, key: str) -> Record | None:
    """The record with that key."""
    cursor = connection.cursor(row_factory=class_row(StoredRecord))
    row = await (await cursor.execute(sql("journal.find"), {"key": key})).fetchone()
    return row.record if row else None


async def count(connection: Connection, prefix: str) -> int:
    """How many records have a key that begins with `prefix`, which ends in a colon."""
    parameters = {"prefix": prefix, "behind": f"{prefix[:-1]};"}  # the character behind the colon
    row = await (await connection.execute(sql("journal.count"), parameters)).fetchone()
    return int(row[0]) if row else 0


async def page(connection: Connection, after: int, limit: int, size: int) -> list[StoredRecord]:
    """At most `limit` rows behind `after`, and no more than fit into `size` bytes, but one."""
    cursor = connection.cursor(row_factory=class_row(StoredRecord))
    parameters = {"after": after, "limit": limit, "bytes": size}
    return await (await cursor.execute(sql("journal.page_within"), parameters)).fetchall()


async def append(connection: Connection, entries: Sequence[Entry], now: datetime) -> list[Record]:
    """Append entries whose keys are locked and not yet there.

    This locks the head, for which all writers wait: it comes last in a transaction.
    """
    if not entries:
        return []
    length, sha = await lock_head(connection)
    time = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    records = []
    for seq, entry in enumerate(entries, length + 1):
        previous, sha = sha, chain_sha(sha, record_body(entry, seq=seq, time=time))
        records.append(Record(sha=sha, previous=previous, seq=seq, time=time, **entry.model_dump()))
    await execute_each(connection, sql("journal.append"), [row_of(record) for record in records])
    return records


async def head(connection: Connection) -> Head:
    """Length and sha of the journal."""
    return await _read_head(connection, sql("journal.head"))


async def lock_head(connection: Connection) -> Head:
    """Length and sha of the journal, which no one else moves until the transaction ends."""
    return await _read_head(connection, sql("journal.lock_head"))


async def _read_head(connection: Connection, statement: LiteralString) -> Head:
    row = await (await connection.execute(statement)).fetchone()
    if row is None:
        # Even an empty journal has one, and an export without it would pass for that of an empty journal.
        raise JournalCorrupt("The head row of the journal is gone.", "Restore the journal from a copy.")
    return Head(*row)


def row_of(record: Record) -> dict[str, str | int]:
    """A record as it is inserted."""
    return {**record.model_dump(exclude={"time", "data"}), "body": record.body.decode()}
