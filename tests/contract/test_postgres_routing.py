"""Which way a vector search takes, and that each way finds what it should."""

from __future__ import annotations

import numpy as np
import pytest
from pgvector import HalfVector

from mem.ports import Reach
from mem.store import nodes
from mem.store.pool import Pool
from mem.store.queries import sql
from tests.contract.conftest import Parts, lesson_plan, postgres_parts, signature

DIMENSIONS = 64
HERE = Reach("p0", federated=False)
EVERYWHERE = Reach("p0", federated=True)
_PLANS = {"memory_vector_text": ("text", "L1"), "memory_vector_symptom": ("symptom", "L1"),
          "memory_vector_evidence": ("text", "L0"), "memory_vector_reference": ("text", "R")}  # fmt: skip


async def _fill(pool: Pool, number: int, *, kind: str = "text", level: str = "L1", projects: int = 4) -> np.ndarray:
    """Add nodes and vectors straight into the tables; node i has sha i in hex and project p(i mod projects)."""
    vectors = np.random.default_rng(7).standard_normal((number, DIMENSIONS)).astype(np.float32)
    async with pool.connection() as connection:
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
            [kind, [HalfVector(vector) for vector in vectors]],
        )
        await connection.execute("ANALYZE memory_vector")
    return vectors


async def _plan(pool: Pool, statement: str, kind: str, levels: tuple[str, ...], reach: Reach) -> str:
    composed = nodes.with_literals("EXPLAIN " + sql(f"vectors.{statement}"), levels=levels, kind=kind)
    parameters = {"vector": HalfVector([1.0] * DIMENSIONS), "limit": 50, **reach._asdict()}
    async with pool.connection() as connection:
        return "\n".join(line for (line,) in await (await connection.execute(composed, parameters)).fetchall())


async def test_x(pool):
    await _fill(pool, 5000)
    for reach in HERE, EVERYWHERE:
        for levels in ("L1",), ("L1","L2"):
            for st in "nearest_hnsw", "nearest_exact":
                print(st, reach, levels, "\n", await _plan(pool, st, "text", levels, reach))
