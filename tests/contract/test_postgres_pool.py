"""What calls make of a database that blips, hangs or cannot store something."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from mem.domain.errors import InvalidRequest, Unavailable
from mem.domain.journal import Entry
from mem.store.export import verify_stored
from mem.store.pool import in_transaction, on_connection, open_pool
from tests.contract.parts import postgres_parts


def _cut_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as killer:
        killer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_lost_connections_are_replaced(pool, database_url):
    """When all connections are cut, the next calls work."""
    parts = postgres_parts(pool)
    _cut_connections(database_url)
    records = await asyncio.gather(
        *(parts.journal.record(Entry(kind="candidate", key="k", data={"n": n})) for n in range(10))
    )
    assert len({record.sha for record in records}) == 1


async def test_one_lost_connection_gives_the_others_away(pool, database_url):
    """A call does not have to meet each lost connection of the pool, one after the other."""
    attempts = []

    async def work(connection):
        attempts.append(1)
        await connection.execute("SELECT 1")

    _cut_connections(database_url)
    await on_connection(pool, work)
    assert len(attempts) == 2


async def test_connection_cut_inside_a_transaction(pool):
    """A transaction that loses its connection is run again as a whole, and has its effect once."""
    pids = []

    async def work(connection):
        pids.append((await (await connection.execute("SELECT pg_backend_pid()")).fetchone())[0])
        await connection.execute("INSERT INTO returned_lesson SELECT 'p', sha FROM memory_node")
        if len(pids) == 1:
            await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return "done"

    assert await in_transaction(pool, work) == "done"
    assert len(set(pids)) == 2


async def test_blips_without_end(pool):
    """A blip that does not end within about a second makes the database unavailable."""
    calls = []

    async def work(connection):
        calls.append(1)
        raise psycopg.errors.SerializationFailure("again")

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:\d+"):
        await asyncio.wait_for(in_transaction(pool, work), 3)
    assert len(calls) > 3


async def test_statement_timeout(database_url):
    """A statement beyond the timeout of its pool ends as unavailable, without another try."""
    pool = await open_pool(database_url, size=1, statement_timeout_ms=50)
    calls = []

    async def work(connection):
        calls.append(1)
        await connection.execute("SELECT pg_sleep(5)")

    with pytest.raises(Unavailable, match="in time"):
        await on_connection(pool, work)
    assert len(calls) == 1
    await pool.close()


async def test_text_that_cannot_be_stored(pool):
    """A text with a NUL in it is refused as a bad request, with nothing stored."""
    parts = postgres_parts(pool)
    with pytest.raises(InvalidRequest, match="cannot be stored"):
        await parts.accept("nul \x00 inside", request_id="1")
    assert (await parts.journal.head()).length == 0


async def test_deadlock_free_writers(pool):
    """Writers of every kind at once, over the same rows, all end, and leave a chain that verifies."""
    parts = postgres_parts(pool)
    shas = [await parts.accept(f"old {number}") for number in range(6)]
    texts = {sha: f"t {sha[:1]}" for sha in shas}
    await asyncio.gather(
        *(parts.accept(f"new {number}", supersedes=tuple(shas[:: 1 if number % 2 else -1])) for number in range(6)),
        *(parts.memories.put_vectors(kind, texts, parts.embedder) for kind in ("text", "symptom", "text", "symptom")),
    )
    head = await verify_stored(pool)
    assert head.length == 12 + len(set(texts.values()))


async def test_a_pool_that_reads_alone_changes_nothing(database_url):
    """The database itself refuses what writes, and gives what is read."""
    async with await open_pool(database_url, size=1, read_only=True) as reading:
        parts = postgres_parts(reading)
        assert (await parts.journal.head()).length == 0
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await parts.accept("lesson")
        assert (await parts.journal.head()).length == 0
