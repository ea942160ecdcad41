"""What the reads for a user rest on in Postgres: indexes by owner, counts without what is private, and locks."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from pgvector import HalfVector

from mem.ports import Audience
from mem.store import audience
from mem.store.pool import Pool
from mem.store.users import PostgresUsers
from tests.contract.parts import Parts, postgres_parts
from tests.contract.rebuilding import check, different, embed_all

ANN = Audience("ann", "user")
USERS = 100
SEARCHES = {
    "users.nearest_own": ("memory_vector_owner", {"vector": HalfVector([1.0] * 64)}),
    "users.own_words": ("lexical_entry_owner", {"terms": ["kong"]}),
    "users.snapshot": ("user_snapshot_newest", {}),
    "users.labelled": ("lexical_entry_owner", {"labels": ["npm"]}),
}


@pytest.fixture
def postgres(pool) -> Parts:
    return postgres_parts(pool)


async def _fill(pool: Pool, number: int) -> None:
    """Private lessons of many users, straight into the tables, with all that finds them."""
    drawn = np.random.default_rng(7).standard_normal((number, 64)).astype(np.float32)
    owned = f"lpad(to_hex(i), 64, '0'), 'u' || i % {USERS}, 'p', 'user'"
    of_owner = "owner, project, visibility"
    made = {
        f"memory_node (sha, {of_owner}, level, text, plain_sha)": "'L1', '', i::text",
        f"lexical_entry (node_sha, {of_owner}, level, length, times, terms_by)": """'L1', 1, '{"kong": 1}', ''""",
        f"user_snapshot (node_sha, {of_owner}, seq, line, line_by)": "i, '', 1",
    }
    async with pool.connection() as connection:
        for table, columns in made.items():
            rows = f"SELECT {owned}, {columns} FROM generate_series(1, {number}) AS i"
            await connection.execute(f"INSERT INTO {table} {rows}")
        await connection.execute(
            f"INSERT INTO memory_vector (node_sha, {of_owner}, kind, level, live, embedding)"
            f" SELECT {owned.replace('%', '%%')}, 'text', 'L1', true, embedding"
            " FROM unnest(%s::halfvec[]) WITH ORDINALITY AS new (embedding, i)",
            [[HalfVector(vector) for vector in drawn]],
        )
        await connection.execute("ANALYZE")


async def test_private_lessons_are_read_by_their_owner_alone(pool):
    """Whoever else has how many: each search begins at the index of owners, and has no other to begin at."""
    await _fill(pool, 3000)
    async with pool.connection() as connection:
        for name, (index, asked) in SEARCHES.items():
            given = {**asked, "limit": 10, **audience.parameters(ANN._replace(user="u7"))}
            statement = b"EXPLAIN " + audience.statement(name, "text")
            plan = "\n".join(line for (line,) in await (await connection.execute(statement, given)).fetchall())
            assert index in plan, name
            assert "Seq Scan on memory" not in plan
            assert "Seq Scan on lexical_entry" not in plan


async def test_of_a_label_that_many_carry_the_first_of_others_count_and_every_own_one(pool, kept):
    """What a name in a message costs does not grow with those who carry it."""
    await _fill(pool, 3 * USERS)
    owned = "UPDATE {} SET visibility = 'global'"
    async with pool.connection() as connection:
        for table in ("memory_node", "lexical_entry"):
            await connection.execute(owned.format(table).encode())
    everybody = ANN._replace(user="u7", scope="user_global")
    shas = [f"{number:064x}" for number in range(1, 3 * USERS + 1)]
    own = [sha for sha in shas if int(sha, 16) % USERS == 7]
    found = await PostgresUsers(pool, kept=kept).labelled(["p"], everybody, 1000)
    first = shas[: audience.FIRST]
    assert found == [*own, *(sha for sha in first if sha not in own)]
    assert len(own) == 3
    assert len(found) < len(shas)


async def test_private_vectors_are_neither_counted_nor_in_the_common_index(pool, postgres):
    """Which way a search takes, and what it costs, does not depend on what others keep to themselves."""
    shas = [await postgres.accept("mine", owner="ann", visibility="user"), await postgres.accept("common")]
    await embed_all(postgres, shas[:1])
    async with pool.connection() as connection:
        count = "SELECT coalesce(sum(live), 0) FROM vector_count WHERE level_group = 'lesson'"
        assert await (await connection.execute(count)).fetchone() == (0,)
        await embed_all(postgres, shas[1:])
        assert await (await connection.execute(count)).fetchone() == (1,)
        await connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        nearest = "EXPLAIN SELECT node_sha FROM memory_vector WHERE kind = 'text' AND level IN ('L1', 'L2') {}"
        nearest += f" ORDER BY embedding <=> '{[1.0] * 64}'::halfvec LIMIT 5"
        plans = []
        for condition in ("AND visibility = 'global'", ""):
            cursor = await connection.execute(nearest.format(condition))
            plans.append("memory_vector_text" in str(await cursor.fetchall()))
        assert plans == [True, False]


async def test_summaries_follow_from_the_journal_however_writers_overtake_each_other(pool, postgres):
    """Acceptances of one user, their summaries and supersessions at once: in the end each live lesson has its line."""
    old = [await postgres.accept(f"Old {number}.", owner="ann") for number in range(8)]
    new = [await postgres.accept(f"New {number}.", owner="ann") for number in range(4)]

    async def accept(number: int) -> None:
        sha = await postgres.accept(f"Newer {number}.", owner="ann", supersedes=(old[number],))
        await postgres.users.refresh_snapshot(sha)

    await asyncio.gather(
        *(accept(number) for number in range(4)),
        *(postgres.memories.supersede(old[4 + number], new[number]) for number in range(4)),
        *(postgres.users.refresh_snapshot(sha) for sha in (*old, *new)),
    )
    lines = {entry.line for entry in await postgres.users.snapshot(ANN)}
    assert lines == {f"{name} {number}." for name in ("New", "Newer") for number in range(4)}
    assert different(await check(pool)) == {}
