"""Bringing a database to the schema, and the index of the active model."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from mem.domain.errors import ConfigurationError, ModelMismatch
from mem.ports import Audience
from mem.store.migrate import check_pgvector, migrate, migrations
from mem.store.pool import open_pool
from mem.store.snapshots import fill_snapshots
from mem.store.vector_index import ensure_vector_index
from mem.testing import FakeEmbedder
from tests.contract.parts import postgres_parts
from tests.contract.rebuilding import check, different

_SCHEMA = """
SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'mem'
UNION ALL SELECT tablename, indexname, indexdef, '' FROM pg_indexes WHERE schemaname = 'mem' ORDER BY 1, 2, 3
"""

_HNSW = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mem' AND indexdef LIKE '%hnsw%'"

_COUNTED_BEFORE = """
SET search_path = mem, public;
INSERT INTO failure_signature SELECT sig, sig, 1, 'npm', NULL, 'r', NULL, '', '' FROM unnest('{a,b}'::text[]) AS sig;
INSERT INTO occurrence VALUES ('p', 'context', '1', 'a', '2026-07-01'), ('p', 'accept', '2', 'a', '2026-07-05'),
    ('p', 'context', '3', 'a', '2026-07-09'), ('p', 'context', '3', 'b', '2026-07-09');
INSERT INTO occurrence_count (sig_sha, project, times, last_seen)
VALUES ('a', 'p', 3, '2026-07-09'), ('b', 'p', 1, '2026-07-09')
"""


def _rows(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


async def test_migrate_twice(empty_database_url):
    """Migrating applies everything once; again it applies nothing and changes nothing."""
    assert await migrate(empty_database_url) == [migration.name for migration in migrations()]
    before = _rows(empty_database_url, _SCHEMA)
    assert await migrate(empty_database_url) == []
    assert _rows(empty_database_url, _SCHEMA) == before


async def test_migrate_at_once(empty_database_url):
    """Of several programs that migrate at once one applies everything."""
    applied = await asyncio.gather(*(migrate(empty_database_url) for _ in range(5)))
    assert sorted(len(names) for names in applied) == [0, 0, 0, 0, len(migrations())]


async def test_failed_migration_leaves_nothing(empty_database_url, monkeypatch):
    """A migration that fails leaves nothing of itself behind, and is tried again the next time."""
    broken = migrations()
    broken[1] = broken[1]._replace(script=broken[1].script + "; SELECT 1 / 0")
    with monkeypatch.context() as patch:
        patch.setattr("mem.store.migrate.migrations", lambda: broken)
        with pytest.raises(psycopg.errors.DivisionByZero):
            await migrate(empty_database_url)
    assert _rows(empty_database_url, "SELECT to_regclass('mem.memory_node')") == [(None,)]
    assert await migrate(empty_database_url) == [migration.name for migration in migrations()[1:]]


async def test_what_was_counted_before_learns_of_its_acceptances(empty_database_url, monkeypatch):
    """Counts of an earlier release learn whether an acceptance was among their sightings."""
    earlier = [one for one in migrations() if one.version < 9]
    with monkeypatch.context() as patch:
        patch.setattr("mem.store.migrate.migrations", lambda: earlier)
        await migrate(empty_database_url)
    _rows(empty_database_url, _COUNTED_BEFORE)
    await migrate(empty_database_url)
    assert _rows(
        empty_database_url,
        "SELECT sig_sha, times, accepted FROM mem.occurrence_count ORDER BY sig_sha",
    ) == [("a", 3, True), ("b", 1, False)]


async def test_changed_migration(database_url):
    """A migration that was changed after it was applied is refused by name."""
    _rows(database_url, "UPDATE mem.migration SET sha = 'other' WHERE version = 2")
    with pytest.raises(ConfigurationError, match=r"0002_memory\.sql"):
        await migrate(database_url)


async def test_newer_database(database_url):
    """A database that a newer version migrated is refused."""
    _rows(database_url, "INSERT INTO mem.migration (version, name, sha) VALUES (9999, 'x', 'x')")
    with pytest.raises(ConfigurationError, match="9999"):
        await migrate(database_url)


@pytest.mark.parametrize("version", ["0.8.3", "0.7.4", "0"])
def test_old_pgvector(version):
    """A pgvector that can corrupt an index is refused."""
    with pytest.raises(ConfigurationError, match=version):
        check_pgvector(version)


@pytest.mark.parametrize("version", ["0.8.4", "0.10", "1.0.0"])
def test_new_pgvector(version):
    """A pgvector without that fault is taken."""
    check_pgvector(version)


async def test_not_migrated(empty_database_url):
    """A pool on a database that was not migrated is refused, with what to run."""
    with pytest.raises(ConfigurationError, match="mem migrate"):
        await open_pool(empty_database_url)


async def test_schema_without_tables(empty_database_url):
    """Calls on a database with the extension but without the tables say what to run."""
    _rows(empty_database_url, "CREATE EXTENSION vector")
    pool = await open_pool(empty_database_url, size=1)
    with pytest.raises(ConfigurationError, match="mem migrate"):
        await postgres_parts(pool).journal.find("k")
    await pool.close()


async def test_session_settings(pool):
    """The settings that the searches rely on hold in each session, once pgvector is loaded too."""
    expected = {
        "search_path": "mem, public",
        "jit": "off",
        "random_page_cost": "1.1",
        "plan_cache_mode": "force_custom_plan",
        "hnsw.ef_search": "200",
        "hnsw.iterative_scan": "relaxed_order",
    }
    async with pool.connection() as connection:
        await connection.execute("SELECT '[1]'::halfvec <=> '[1]'::halfvec")
        for name, value in expected.items():
            assert await (await connection.execute(f"SHOW {name}")).fetchone() == (value,)


async def test_index_is_made_once(empty_database_url):
    """Activating a model makes its indexes; again, and by several at once, it changes nothing."""
    await migrate(empty_database_url)
    pool = await open_pool(empty_database_url, size=5)
    await asyncio.gather(*(ensure_vector_index(pool, "model", 384) for _ in range(5)))
    hnsw = _rows(empty_database_url, "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")
    assert len(hnsw) == 4
    assert _rows(empty_database_url, "SELECT * FROM mem.embedding_index") == [("model", 384, True)]
    await pool.close()


@pytest.mark.parametrize(("model", "dimensions"), [("other", 64), ("fake-embedder-1", 32)])
async def test_another_model(pool, model, dimensions):
    """Another model or dimension than the active one is refused, and both are named."""
    with pytest.raises(ModelMismatch) as caught:
        await ensure_vector_index(pool, model, dimensions)
    assert "fake-embedder-1 (64 dimensions)" in str(caught.value)
    assert f"{model} ({dimensions} dimensions)" in str(caught.value)


async def test_too_many_dimensions(pool):
    """Vectors that no index can hold are refused."""
    with pytest.raises(ConfigurationError, match="4000"):
        await ensure_vector_index(pool, "big", 4001)


async def test_no_active_model(empty_database_url):
    """Without an active model nothing is stored, and an empty search finds nothing."""
    await migrate(empty_database_url)
    pool = await open_pool(empty_database_url, size=2)
    parts = postgres_parts(pool)
    sha = await parts.accept("lesson")
    with pytest.raises(ConfigurationError, match="No embedding model is active"):
        await parts.memories.put_vectors("text", {sha: "text"}, FakeEmbedder())
    assert await parts.memories.vector_kinds(sha) == []
    await pool.close()


async def test_the_first_day_of_what_was_counted_before_is_found(empty_database_url, monkeypatch):
    """Counts of an earlier version get the first day of their sightings, and a worker of it goes on counting."""
    with monkeypatch.context() as patch:
        patch.setattr("mem.store.migrate.migrations", lambda: migrations()[:7])
        await migrate(empty_database_url)
    counted = "INSERT INTO mem.occurrence_count (sig_sha, project, times, last_seen) VALUES "
    _rows(
        empty_database_url,
        "INSERT INTO mem.failure_signature (sig_sha, sig_coarse, algo, tool, rule, message, excerpt)"
        " VALUES ('a', 'c', 1, 't', 'r', 'm', 'e'), ('b', 'c', 1, 't', 'r', 'm', 'e');"
        "INSERT INTO mem.occurrence (project, operation, request_id, sig_sha, seen_on) VALUES"
        " ('p', 'context', '1', 'a', '2026-07-02'), ('p', 'accept', '1', 'a', '2026-06-30'),"
        " ('q', 'context', '1', 'a', '2026-07-01');"
        + counted
        + "('a', 'p', 2, '2026-07-02'), ('a', 'q', 1, '2026-07-01')",
    )
    assert (await migrate(empty_database_url))[0] == "0008_gaps.sql"
    _rows(empty_database_url, counted + "('b', 'p', 1, '2026-07-03')")
    first_seen = "SELECT project, first_seen::text FROM mem.occurrence_count WHERE sig_sha = 'a' ORDER BY project"
    assert _rows(empty_database_url, first_seen) == [("p", "2026-06-30"), ("q", "2026-07-01")]


async def test_private_memories_of_an_earlier_release_leave_the_common_indexes_and_enter_the_summaries(
    empty_database_url, monkeypatch
):
    """What was stored before is counted and indexed as far as all may read it; owned lessons get their lines."""
    with monkeypatch.context() as patch:
        patch.setattr("mem.store.migrate.migrations", lambda: migrations()[:13])
        await migrate(empty_database_url)
    pool = await open_pool(empty_database_url, size=2)
    parts = postgres_parts(pool)
    await ensure_vector_index(pool, parts.embedder.model_id, parts.embedder.dimensions)
    for name, definition in _rows(empty_database_url, _HNSW):
        _rows(empty_database_url, f"DROP INDEX mem.{name}")
        _rows(empty_database_url, str(definition).replace(" AND (visibility = 'global'::text)", ""))
    for text, fields in {"Mine.": {"visibility": "user"}, "Mine for all.": {}}.items():
        sha = await parts.accept(text, owner="ann", **fields)
        await parts.memories.put_vectors("text", {sha: text}, parts.embedder)
    await migrate(empty_database_url)
    found = [str(definition) for _, definition in _rows(empty_database_url, _HNSW)]
    assert [definition.count("visibility = 'global'") for definition in found] == [1] * 4
    assert _rows(empty_database_url, "SELECT project, live FROM mem.vector_count") == [("p", 1)]
    assert [await fill_snapshots(pool), await fill_snapshots(pool)] == [2, 0]
    entries = await parts.users.snapshot(Audience("ann", "user"))
    assert [entry.line for entry in entries] == ["Mine for all.", "Mine."]
    assert different(await check(pool)) == {}
    await pool.close()
