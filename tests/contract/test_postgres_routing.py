"""Which way a vector search takes, and that each way finds what it should."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from pgvector import HalfVector

from mem.ports import Reach
from mem.store import nodes, vectors
from mem.store.pool import Pool
from mem.store.queries import sql
from mem.store.reaching import within
from mem.store.vector_index import INDEXES, build
from tests.contract.parts import Parts, postgres_parts

DIMENSIONS = 64
HERE = Reach("p0", federated=False)
EVERYWHERE = Reach("p0", federated=True)
SOME = Reach("p0", federated=True, readable=("p1", "p2"))


async def _fill(pool: Pool, number: int, *, kind: str = "text", level: str = "L1", projects: int = 4) -> np.ndarray:
    """Add nodes and vectors straight into the tables; node i has sha i in hex and project p(i mod projects)."""
    drawn = np.random.default_rng(7).standard_normal((number, DIMENSIONS)).astype(np.float32)
    (hnsw,) = [index for index in INDEXES if index.kind == kind and level in index.levels]
    async with pool.connection() as connection:
        await connection.execute(f"DROP INDEX {hnsw.name}")
        await connection.execute(
            "INSERT INTO memory_node (sha, level, project, text, visibility, plain_sha)"
            " SELECT lpad(to_hex(i), 64, '0'), %s, 'p' || i %% %s, 'lesson ' || i, 'global', i::text"
            " FROM generate_series(0, %s - 1) AS i ON CONFLICT DO NOTHING",
            [level, projects, number],
        )
        await connection.execute(
            "INSERT INTO memory_vector (node_sha, kind, project, level, visibility, live, embedding)"
            " SELECT n.sha, %s, n.project, n.level, 'global', true, new.embedding"
            " FROM unnest(%s::halfvec[]) WITH ORDINALITY AS new (embedding, i)"
            " JOIN memory_node n ON n.sha = lpad(to_hex(new.i - 1), 64, '0')",
            [kind, [HalfVector(vector) for vector in drawn]],
        )
        await build(connection, hnsw)
        await connection.execute("ANALYZE memory_vector")
    return drawn


async def _plan(
    pool: Pool, kind: str, levels: tuple[str, ...], reach: Reach, *, exact_limit: int = vectors.EXACT_LIMIT
) -> str:
    """The plan of a search as it was executed, but for what never was."""
    statement = nodes.with_literals(
        "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) " + sql("vectors.nearest"),
        levels=levels, kind=kind, level_group="lesson" if "L1" in levels or "L2" in levels else levels[0],
    )  # fmt: skip
    vector = HalfVector([1.0] * DIMENSIONS)
    parameters = {"vector": vector, "limit": 50, "exact_limit": exact_limit, **within(reach)}
    async with pool.connection() as connection:
        lines = [line for (line,) in await (await connection.execute(statement, parameters)).fetchall()]
    return "\n".join(line for line in lines if "never executed" not in line)


async def _counts(pool: Pool) -> list[tuple[str, str, str, int]]:
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT project, kind, level_group, live FROM vector_count ORDER BY 1, 2, 3")
        return await cursor.fetchall()


def _best(vectors: np.ndarray, query: np.ndarray, among: list[int], limit: int) -> list[str]:
    near = sorted(among, key=lambda i: -vectors[i] @ query / np.linalg.norm(vectors[i]))
    return [f"{i:064x}" for i in near[:limit]]


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.name)
async def test_each_group_has_its_index(pool, index):
    """The search through an index takes the partial one of its kind and levels, federated, restricted or not."""
    await _fill(pool, 3000, kind=index.kind, level=index.levels[0])
    for reach in EVERYWHERE, SOME, HERE:
        plan = await _plan(pool, index.kind, index.levels, reach, exact_limit=0)
        assert f"Index Scan using {index.name} " in plan
        assert "memory_vector_scope" not in plan


async def test_one_level_of_two_has_the_index(pool):
    """A search for L1 alone takes the index over lessons."""
    await _fill(pool, 3000)
    assert "Index Scan using memory_vector_text " in await _plan(pool, "text", ("L1",), EVERYWHERE, exact_limit=0)


async def test_exact_search_of_a_project_reads_only_the_project(pool):
    """The exact search of one project reads its rows by the scope index, and never the approximate index."""
    await _fill(pool, 3000, projects=20)
    plan = await _plan(pool, "text", ("L1", "L2"), HERE)
    assert "memory_vector_scope" in plan
    assert "memory_vector_text" not in plan
    assert "memory_vector_text" not in await _plan(pool, "text", ("L1", "L2"), EVERYWHERE)


async def test_who_may_read_all_pays_for_no_restriction(pool):
    """The condition on projects is gone from the plan where there is none, and one on the projects else."""
    await _fill(pool, 3000, projects=20)
    assert "project" not in await _plan(pool, "text", ("L1", "L2"), EVERYWHERE)
    plan = await _plan(pool, "text", ("L1", "L2"), SOME)
    assert "project = ANY ('{p0,p1,p2,*}'::text[])" in plan
    assert "IS NULL" not in plan


async def test_exact_search_finds_all(pool):
    """Up to the limit a search is exact: equal to a computation by hand, in order."""
    drawn = await _fill(pool, 2000)
    query = drawn[17] + drawn[21]
    memories = postgres_parts(pool).memories
    hits = await memories.nearest("text", ["L1", "L2"], query.tolist(), EVERYWHERE, 50)
    assert [hit.sha for hit in hits] == _best(drawn, query, list(range(2000)), 50)
    hits = await memories.nearest("text", ["L1", "L2"], query.tolist(), HERE, 50)
    assert [hit.sha for hit in hits] == _best(drawn, query, list(range(0, 2000, 4)), 50)


async def test_indexed_search_finds_nearly_all(pool):
    """Above the limit a search goes through the index and still finds nearly all, a project's rows too, in order."""
    drawn = await _fill(pool, 3000, projects=10)
    query = drawn[20] + drawn[21]
    memories = postgres_parts(pool, exact_limit=100).memories
    for reach, among in (EVERYWHERE, list(range(3000))), (HERE, list(range(0, 3000, 10))):
        hits = await memories.nearest("text", ["L1", "L2"], query.tolist(), reach, 50)
        assert hits == sorted(hits, key=lambda hit: (-hit.similarity, hit.sha))
        assert len(hits) == 50
        assert len({hit.sha for hit in hits} & set(_best(drawn, query, among, 50))) >= 40


@pytest.mark.parametrize(
    ("exact_limit", "reach", "by_index"),
    [
        (3000, EVERYWHERE, False),
        (2999, EVERYWHERE, True),
        (750, HERE, False),
        (749, HERE, True),
        (2250, SOME, False),
        (2249, SOME, True),
    ],
)
async def test_route(pool, exact_limit, reach, by_index):
    """The live rows within reach decide: exact up to the limit, through the index above."""
    await _fill(pool, 3000, projects=4)
    plan = await _plan(pool, "text", ("L1", "L2"), reach, exact_limit=exact_limit)
    assert ("Index Scan using memory_vector_text" in plan) == by_index


async def test_counts_follow_the_live_vectors(pool):
    """The counts by project, kind and group follow vectors that are added, superseded, deleted and emptied."""
    parts: Parts = postgres_parts(pool)
    old, other = await parts.accept("old"), await parts.accept("other", project="q")
    (record,) = await parts.memories.evidence(old)
    await parts.memories.put_vectors("text", {old: "a", record.stored_sha: "b", other: "c"}, parts.embedder)
    await parts.memories.put_vectors("symptom", {old: "a"}, parts.embedder)
    assert await _counts(pool) == [
        ("p", "symptom", "lesson", 1), ("p", "text", "L0", 1), ("p", "text", "lesson", 1), ("q", "text", "lesson", 1),
    ]  # fmt: skip
    await parts.accept("new", supersedes=(old,))
    await parts.memories.put_vectors("text", {old: "a"}, parts.embedder)
    assert await _counts(pool) == [
        ("p", "symptom", "lesson", 0), ("p", "text", "L0", 1), ("p", "text", "lesson", 0), ("q", "text", "lesson", 1),
    ]  # fmt: skip
    async with pool.connection() as connection:
        await connection.execute("DELETE FROM memory_vector WHERE project = 'q'")
        assert ("q", "text", "lesson", 0) in await _counts(pool)
        await connection.execute("TRUNCATE memory_vector")
    assert await _counts(pool) == []


async def test_vector_of_a_superseded_node_is_not_live(pool):
    """A vector that comes after its node was superseded is stored as not live."""
    parts = postgres_parts(pool)
    old = await parts.accept("old")
    await parts.accept("new", supersedes=(old,))
    await parts.memories.put_vectors("text", {old: "a"}, parts.embedder)
    assert await _counts(pool) == []


async def test_vectors_and_supersession_at_once(pool):
    """Whichever of a vector and a supersession comes first, a superseded node has no live vector."""
    parts = postgres_parts(pool)
    shas = [await parts.accept(f"old {number}") for number in range(10)]
    await asyncio.gather(
        *(parts.memories.put_vectors("text", {sha: sha}, parts.embedder) for sha in shas),
        *(parts.accept(f"new {sha}", supersedes=(sha,)) for sha in shas),
    )
    assert sum(live for *_, live in await _counts(pool)) == 0


@pytest.mark.parametrize("algo", [1, 2], ids=["current", "earlier"])
async def test_known_signature_is_found_by_its_key(pool, algo):
    """A tier-1 hit reads the links by their primary key, however many there are."""
    await _fill(pool, 500)
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO failure_signature SELECT 's' || i, 'c' || i, 1, 'npm', NULL, 'r', NULL, '', ''"
            " FROM generate_series(1, 20000) AS i"
        )
        await connection.execute(
            "INSERT INTO signature_link SELECT 's' || i, lpad(to_hex(i %% 500), 64, '0')"
            " FROM generate_series(1, 20000) AS i".replace("%%", "%")
        )
        await connection.execute("ANALYZE signature_link, failure_signature, memory_node")
        cursor = await connection.execute(
            "EXPLAIN " + sql("failures.known"), {"sig_shas": ["s1", "s2"], "algo": algo, **within(EVERYWHERE)}
        )
        plan = "\n".join(line for (line,) in await cursor.fetchall())
    assert "signature_link_pkey" in plan
    assert "memory_node_pkey" in plan
    assert "Seq Scan" not in plan


async def test_lexical_search_has_its_index(pool):
    """The search by trigrams can take the index over text and projection, without which it would read all texts."""
    async with pool.connection() as connection:
        await connection.execute("SET enable_seqscan = off")
        statement = nodes.with_literals("EXPLAIN " + sql("nodes.lexical"), levels=["L1", "L2"])
        parameters = {"text": "lesson 4711 registry", "limit": 50, **within(EVERYWHERE)}
        plan = "\n".join(line for (line,) in await (await connection.execute(statement, parameters)).fetchall())
    assert "memory_node_trigrams" in plan
