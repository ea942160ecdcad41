"""What the statements themselves hold to, should a caller not look first, and how writers wait for each other."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from mem.domain.canonical import sha256_hex
from mem.ports import LedgerKey, Reach, Seen
from mem.store import embeddings, failures, vectors
from mem.store.ledger import PostgresLedger
from mem.store.pool import Pool
from mem.testing import FakeClock
from tests.contract.parts import postgres_parts, signature

NOW = datetime(2026, 7, 2, tzinfo=UTC)


async def _until_one_waits(pool: Pool) -> None:
    async with asyncio.timeout(10), pool.connection() as connection:
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        while (await (await connection.execute(waiting)).fetchone()) == (0,):
            await asyncio.sleep(0)


async def test_an_occurrence_counts_once(pool):
    """A sighting that is there is not counted again, though nothing in the journal tells of it."""
    async with pool.connection() as connection:
        await failures.add(connection, [signature("a"), signature("b")])
        for names in "a", "ab":
            sightings = [signature(name) for name in names]
            await failures.count(connection, "p", "context", "1", sightings, NOW)
        seen = await failures.seen(connection, ["a", "b"], Reach("p", federated=False))
    assert seen == {"a": Seen(1, "2026-07-02"), "b": Seen(1, "2026-07-02")}


async def test_a_corrected_signature_keeps_its_first_sighting(pool):
    """Deriving a signature anew puts right what identifies it, and leaves the excerpt that came first."""
    parts = postgres_parts(pool)
    sha = await parts.accept("lesson")
    first = signature("a", coarse="wrong", envelope="travis", excerpt="first")
    await parts.failures.link(project="p", request_id="1", sha=sha, signatures=[first])
    await parts.failures.relink(sha, [signature("a", coarse="right", excerpt="second")])
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT sig_coarse, envelope, excerpt FROM failure_signature")
        assert await cursor.fetchall() == [("right", "travis", "first")]


async def test_a_stored_response_is_not_overwritten(pool):
    """A response gives way to another one only once it has expired."""
    clock = FakeClock(NOW)
    ledger, key = PostgresLedger(pool, clock, days=1), LedgerKey("context", "p", "1")
    async with pool.connection() as connection:
        await ledger._insert(connection, key, "f", b"first", NOW)
        await ledger._insert(connection, key, "f", b"second", NOW + timedelta(hours=23))
        assert await ledger.find(key, "f") == b"first"
        clock.advance(timedelta(days=1))
        await ledger._insert(connection, key, "f", b"third", NOW + timedelta(days=1))
    assert await ledger.find(key, "f") == b"third"


async def test_a_supersession_waits_for_a_vector(pool):
    """A supersession waits for a vector that is just being added, and takes it out too."""
    parts = postgres_parts(pool)
    old = await parts.accept("old")
    fresh = {sha256_hex("text"): embeddings.float32(parts.embedder.vector("text"))}
    async with pool.connection() as connection:
        async with connection.transaction():
            await vectors.put(connection, "text", {(old, 0): "text"}, parts.embedder, fresh, NOW)
            superseding = asyncio.create_task(parts.accept("new", supersedes=(old,)))
            await _until_one_waits(pool)
        await superseding
        cursor = await connection.execute("SELECT live FROM memory_vector")
        assert await cursor.fetchall() == [(False,)]


async def test_expiry_passes_over_rows_in_use(pool):
    """Deleting expired rows does not wait for those that another transaction holds."""
    ledger = PostgresLedger(pool, FakeClock(NOW), days=0)
    for number in range(3):
        await ledger.store(LedgerKey("context", "p", str(number)), "f", b"")
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM request_ledger WHERE request_id = '1' FOR UPDATE")
        assert await asyncio.wait_for(ledger.expire(), 5) == 2
    assert await ledger.expire() == 1
