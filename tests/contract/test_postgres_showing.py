"""How Postgres finds one memory among many, and what a reader of the store is told of it."""

from __future__ import annotations

from typing import Any

import httpx2
import psycopg
import pytest

from mem.domain.errors import ConfigurationError, NotFound
from mem.gateway.app import create_app
from mem.gateway.reading import Reading
from mem.ports import ShowQuery
from mem.reading import open_reader
from mem.store.pool import Pool
from mem.store.queries import sql
from mem.store.showing import PostgresShowing
from tests.contract.parts import postgres_parts

SHA = "0" * 59 + "12345"
ASKED: dict[str, Any] = {"sha": SHA, "behind": SHA + "g", "readable": None, "limit": 21, "characters": 500, "most": 9}


async def _fill(pool: Pool) -> None:
    """20,000 memories in chains of four, each with an edge and its record, straight into the tables."""
    script = """
    INSERT INTO memory_node (sha, level, project, text, visibility, plain_sha)
    SELECT lpad(i::text, 64, '0'), 'L1', 'p' || i % 7, 'lesson ' || i, 'global', i::text
    FROM generate_series(0, 19999) i;
    UPDATE memory_node SET superseded_by = lpad((sha::numeric + 1)::text, 64, '0') WHERE sha::numeric % 4 < 3;
    INSERT INTO memory_edge
    SELECT lpad((i + 1)::text, 64, '0'), lpad(i::text, 64, '0') FROM generate_series(0, 19998) i;
    INSERT INTO journal (seq, sha, previous, key, kind, body)
    SELECT i + 1, i::text, '', 'appended:accept:p:' || i, 'appended',
           json_build_object('data', json_build_object('sha', lpad(i::text, 64, '0')), 'time', 'T')
    FROM generate_series(0, 19999) i;
    INSERT INTO failure_signature (sig_sha, sig_coarse, algo, tool, rule, message, excerpt)
    SELECT 's' || i, 'c', 1, 't', 'r', 'm', 'e' FROM generate_series(0, 19999) i;
    INSERT INTO signature_link SELECT 's' || i, lpad(i::text, 64, '0') FROM generate_series(0, 19999) i;
    INSERT INTO occurrence_count (sig_sha, project, times, last_seen, first_seen)
    SELECT 's' || i, 'p' || j, 1, '2026-07-02', '2026-07-02' FROM generate_series(0, 19999) i, generate_series(0, 1) j;
    ANALYZE memory_node, memory_edge, journal, failure_signature, signature_link, occurrence_count
    """
    async with pool.connection() as connection:
        await connection.execute(script)


async def test_nothing_is_read_from_end_to_end(pool):
    """Every table is reached by an index, that of the journal and those of successors included."""
    await _fill(pool)
    async with pool.connection() as connection:
        for name in ("named", "node", "kin", "line", "signatures"):
            cursor = await connection.execute("EXPLAIN (COSTS OFF) " + sql(f"showing.{name}"), ASKED)
            plan = "\n".join(line for (line,) in await cursor.fetchall())
            assert "Seq Scan" not in plan, plan
            assert "Filter: ((kind" not in plan, plan
            assert ("journal_appended" in plan) is (name == "node")
            assert ("memory_node_superseded" in plan) is (name == "line")


async def test_a_memory_takes_five_statements_however_much_belongs_to_it(pool, monkeypatch):
    """Edges, signatures and successors come together, not one by one."""
    parts = postgres_parts(pool)
    one, two = await parts.accept("one", evidence_texts=tuple("abcdefgh")), await parts.accept("two")
    sha = await parts.accept("top", level="L2", parents=(one, two), supersedes=(two,))
    ran: list[str] = []
    execute = psycopg.AsyncCursor.execute

    async def counted(self, query, *args, **fields):
        ran.append(query)
        return await execute(self, query, *args, **fields)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)
    showing = PostgresShowing(pool)
    await showing.named(ShowQuery(sha, None), 2)
    for each in (sha, one):
        assert (await showing.shown(ShowQuery(each, None))).sha == each
    assert len(ran) == 1 + 2 * 4


async def test_a_reader_shows_what_is_stored(pool, database_url):
    """What other programs open gives the memory, by prefix."""
    sha = await postgres_parts(pool).accept("lesson", request_id="r")
    async with open_reader(database_url) as reader:
        shown = await reader.show(sha[:12])
        assert (shown.sha, shown.accepted.request_id) == (sha, "r")
        with pytest.raises(NotFound):
            await reader.show("0" * 64)


async def test_the_gateway_shows_what_is_stored(pool, database_url):
    """The answer is what the reader gives; a private memory and one that is not there differ in nothing but the sha."""
    parts = postgres_parts(pool)
    sha = await parts.accept("lesson")
    mine = await parts.accept("mine", visibility="user", owner="u")
    async with Reading(database_url) as reading, open_reader(database_url) as reader:
        transport = httpx2.ASGITransport(create_app(None, reading))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            response = await client.get(f"/memory/{sha[:12]}")
            assert (response.status_code, response.text) == (200, (await reader.show(sha)).model_dump_json())
            told = [await client.get(f"/memory/{one}") for one in (mine, "0" * 64)]
    assert [one.status_code for one in told] == [404, 404]
    assert told[0].text.replace(mine, "0" * 64) == told[1].text


async def test_a_database_that_was_not_migrated_is_told(empty_database_url):
    """The remedy is the command."""
    async with Reading(empty_database_url) as reading:
        with pytest.raises(ConfigurationError, match="mem migrate"):
            await reading.show("abcd")
