"""The journal in Postgres: what it refuses, and what its verification finds."""

from __future__ import annotations

import psycopg
import pytest

from mem.domain.errors import JournalCorrupt
from mem.domain.journal import GENESIS, Entry, Head, chain_sha
from mem.store.chain import verify
from mem.store.export import export_stored, parse_lines, stored_links, verify_lines, verify_stored
from mem.store.journal import PostgresJournal
from mem.store.pool import Pool
from tests.contract.parts import postgres_parts

_WRITERS = [
    "UPDATE journal SET kind = 'verdict' WHERE seq = 1",
    "DELETE FROM journal WHERE seq = 3",
    "TRUNCATE journal",
    "SET session_replication_role = replica; DELETE FROM journal",
]


@pytest.fixture
async def journal(pool: Pool) -> PostgresJournal:
    """A journal of four records and one embedding, which is record 2."""
    parts = postgres_parts(pool)
    sha = await parts.accept("lesson")
    await parts.memories.put_vectors("text", {sha: "lesson"}, parts.embedder)
    for number in range(3):
        await parts.journal.record(Entry(kind="candidate", key=f"k{number}", data={"text": f"ä{number}\x00"}))
    return parts.journal


async def _tamper(pool: Pool, *statements: str) -> None:
    async with pool.connection() as connection:
        await connection.execute("DROP TRIGGER IF EXISTS journal_is_append_only ON journal")
        for statement in statements:
            await connection.execute(statement)


@pytest.mark.parametrize("statement", _WRITERS)
async def test_refuses_changes(pool, journal, statement):
    """The journal refuses UPDATE, DELETE and TRUNCATE, from superusers and replicas too."""
    async with pool.connection() as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            await connection.execute(statement)
        await connection.execute("RESET session_replication_role")
    assert (await verify_stored(pool)).length == 5


async def test_sound(pool, journal):
    """A sound journal verifies to its head, also against any sha that was its head once."""
    head = await journal.head()
    for expected in None, GENESIS, head.sha, (await journal.find("k0")).sha:
        assert await verify_stored(pool, expected) == head


async def test_empty(pool):
    """An empty journal is sound, unless another head is expected."""
    assert await verify_stored(pool) == Head(0, GENESIS)
    with pytest.raises(JournalCorrupt):
        await verify_stored(pool, "a" * 64)


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (["UPDATE journal SET body = replace(body, 'ä0', 'ä9') WHERE seq = 3"], "Record 3 was changed"),
        (["UPDATE journal SET body = body || ' ' WHERE seq = 3"], "Record 3 was changed"),
        (["UPDATE journal SET body = 'nonsense' WHERE seq = 2"], "Record 2 was changed"),
        (["UPDATE journal SET key = 'other' WHERE seq = 3"], "Record 3 was changed"),
        (["UPDATE journal SET kind = 'verdict' WHERE seq = 3"], "Record 3 was changed"),
        (["UPDATE journal SET sha = repeat('a', 64) WHERE seq = 3"], "Record 3 was changed"),
        (["DELETE FROM journal WHERE seq = 1"], "Record 1 is missing"),
        (["DELETE FROM journal WHERE seq = 3"], "Record 3 is missing"),
        (["DELETE FROM journal WHERE seq = 3", "UPDATE journal SET seq = seq - 1 WHERE seq > 3"], "Record 3 does not"),
        (
            ["UPDATE journal SET seq = 9 WHERE seq = 3", "UPDATE journal SET seq = 3 WHERE seq = 4",
             "UPDATE journal SET seq = 4 WHERE seq = 9"],
            "Record 3 does not follow",
        ),
        (["DELETE FROM journal WHERE seq = 5"], "Record 5 is missing: the journal was cut off"),
        (["DELETE FROM journal WHERE seq > 3"], "Record 4 is missing: the journal was cut off"),
        (["UPDATE journal_head SET sha = repeat('b', 64)"], "Record 5 is not the last one"),
        (["UPDATE embedding SET embedding = 'x'"], "Record 2 was changed: its embedding"),
        (["DELETE FROM embedding"], "Record 2 was changed: its embedding"),
    ],
)  # fmt: skip
async def test_finds_tampering(pool, journal, statements, named):
    """A changed, missing, reordered or cut-off record is found and named by its number."""
    await _tamper(pool, *statements)
    with pytest.raises(JournalCorrupt, match=named):
        await verify_stored(pool)


async def test_finds_a_cut_with_its_head(pool, journal):
    """A journal cut off together with its head is sound in itself, and found out by a head known from before."""
    head = await journal.head()
    sha = (await journal.find("k0")).sha
    await _tamper(pool, "DELETE FROM journal WHERE seq > 3", f"UPDATE journal_head SET length = 3, sha = '{sha}'")
    assert await verify_stored(pool, sha) == Head(3, sha)
    with pytest.raises(JournalCorrupt, match="cut off or rewritten"):
        await verify_stored(pool, head.sha)


async def test_finds_a_rewritten_end(pool, journal):
    """A record rewritten with a fitting sha breaks the next link, and the head at the end."""
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT previous, replace(body, 'ä2', 'ä9') FROM journal WHERE seq = 5")
        previous, body = await cursor.fetchone()
    sha = chain_sha(previous, body.encode())
    await _tamper(pool, f"UPDATE journal SET body = replace(body, 'ä2', 'ä9'), sha = '{sha}' WHERE seq = 5")
    with pytest.raises(JournalCorrupt, match="Record 5 is not the last one"):
        await verify_stored(pool)


async def test_export(pool, journal):
    """An export verifies to the head of the journal and gives back its records, with their embeddings."""
    lines = [line async for line in export_stored(pool)]
    assert verify_lines(lines) == await journal.head()
    exported = list(parse_lines(lines))
    assert [one.record for one in exported] == [record async for record in journal.read()]
    assert [len(one.embedding) for one in exported if one.embedding is not None] == [64 * 4]


async def test_export_shows_tampering(pool, journal):
    """An export of a journal that was changed does not verify."""
    await _tamper(pool, "UPDATE journal SET body = replace(body, 'ä0', 'ä9') WHERE seq = 3")
    lines = [line async for line in export_stored(pool)]
    with pytest.raises(JournalCorrupt, match="Record 3 was changed"):
        verify_lines(lines)


async def test_export_ends_at_the_head_it_began_with(pool, journal):
    """Records appended while an export runs are not in it."""
    lines = export_stored(pool)
    exported = [await anext(lines)]
    await journal.record(Entry(kind="candidate", key="late", data={}))
    exported += [line async for line in lines]
    assert verify_lines(exported).length == 5


async def test_verify_while_others_append(pool, journal):
    """Records appended behind the head that was read do not disturb a verification."""
    head = await journal.head()
    await journal.record(Entry(kind="candidate", key="late", data={}))
    assert await verify(stored_links(pool), head) == head
