"""How Postgres finds gaps among many sightings, and what a reader of the store may do."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from mem.domain.errors import ConfigurationError, Unavailable
from mem.domain.gaps import GapsRequest
from mem.gateway.reading import Reading
from mem.reading import open_reader
from mem.store.pool import Pool
from mem.store.queries import sql
from tests.contract.parts import postgres_parts, signature
from tests.contract.test_gaps import look_up

ASKED: dict[str, Any] = {"counted": None, "readable": None, "tool": None, "since": None, "limit": 20, "algo": 1}


async def _fill(pool: Pool) -> None:
    """30,000 sightings of 3,000 failures in a year, straight into the tables."""
    script = """
    INSERT INTO failure_signature (sig_sha, sig_coarse, algo, tool, rule, message, excerpt)
    SELECT 's' || i, 'c' || i / 3, 1, 't' || i % 40, 'r', 'm' || i, repeat('e', 500) FROM generate_series(0, 2999) AS i;
    INSERT INTO occurrence (project, operation, request_id, sig_sha, seen_on)
    SELECT 'p' || i % 7, 'context', i::text, 's' || i % 3000, date '2025-07-02' + i / 83
    FROM generate_series(0, 29999) AS i;
    INSERT INTO occurrence_count (sig_sha, project, times, last_seen, first_seen)
    SELECT sig_sha, project, count(*), max(seen_on), min(seen_on) FROM occurrence GROUP BY 1, 2;
    ANALYZE occurrence, occurrence_count, failure_signature
    """
    async with pool.connection() as connection:
        await connection.execute(script)


async def _plan(pool: Pool, **asked: Any) -> str:
    async with pool.connection() as connection:
        cursor = await connection.execute("EXPLAIN (ANALYZE, COSTS OFF) " + sql("gaps.find"), {**ASKED, **asked})
        return "\n".join(line for (line,) in await cursor.fetchall() if "never executed" not in line)


async def test_only_what_is_needed_is_read(pool):
    """Without a day the counts are read and no sighting; with one only its days are; signatures row by row, by key."""
    await _fill(pool)
    ever = await _plan(pool)
    assert " on occurrence_count" in ever
    assert not [line for line in ever.splitlines() if line.endswith(" on occurrence") or " on occurrence " in line]
    recent = await _plan(pool, since=date(2026, 6, 25))
    assert "occurrence_seen_on" in recent
    assert "Seq Scan on occurrence" not in recent
    for plan in ever, recent:
        assert "failure_signature_algo" in plan
        assert "Seq Scan on failure_signature" not in plan


async def test_a_reader_answers_from_the_store(pool, database_url):
    """What other programs open gives the gaps of the database."""
    await look_up(postgres_parts(pool), signature("a"), request_id="1")
    async with open_reader(database_url) as reader:
        assert [gap.sig_sha for gap in (await reader.gaps(GapsRequest())).gaps] == ["a"]


async def test_the_gateway_opens_the_store_when_it_is_asked_and_tries_again(pool, database_url, monkeypatch):
    """It starts without a database, says so while none answers, and reads once one does."""
    await look_up(postgres_parts(pool), signature("a"), request_id="1")
    async with Reading("postgresql://mem@127.0.0.1:9/mem") as reading:
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9 does not answer"):
                await reading.gaps(GapsRequest())
        monkeypatch.setattr(reading, "_url", database_url)
        for _ in range(2):
            assert (await reading.gaps(GapsRequest())).total == 1
    async with Reading(database_url):
        pass


async def test_a_database_that_was_not_migrated_is_told(empty_database_url):
    """The remedy is the command."""
    async with Reading(empty_database_url) as reading:
        with pytest.raises(ConfigurationError, match="mem migrate"):
            await reading.gaps(GapsRequest())
