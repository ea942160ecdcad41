"""Rebuilt tables take the place of the live ones, while readers and writers go on."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import Unavailable
from mem.ports import Reach
from mem.store import shadow as shadows
from mem.store.memories import PostgresMemories
from mem.store.pool import Pool, open_pool
from mem.store.shadow import PROJECTIONS
from mem.testing import FakeClock
from tests.contract.parts import postgres_parts, signature
from tests.contract.rebuilding import check, different, digests, embed_all, indexed, new_run, rebuild, write_some

HERE = Reach("p", federated=False)
SHAPE = """
SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'mem'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'mem'::regnamespace
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'column', attrelid::regclass::text, attname,
    concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attcollation, attstorage, pg_get_expr(adbin, adrelid),
              col_description(attrelid, attnum))
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'mem'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
ORDER BY 1, 2, 3
"""


async def _fetch(pool: Pool, statement: str) -> list[tuple]:
    async with pool.connection() as connection:
        return await (await connection.execute(statement.encode())).fetchall()


async def _execute(pool: Pool, statement: str) -> None:
    async with pool.connection() as connection:
        await connection.execute(statement.encode())


async def test_a_rebuild_restores_what_was_lost_and_corrects_what_was_changed(pool):
    """Whatever happened to the tables, they are afterwards what they were, byte for byte."""
    await write_some(postgres_parts(pool))
    before = digests(await check(pool))
    await _execute(pool, f"TRUNCATE {', '.join(PROJECTIONS)}")
    assert set(different(await check(pool))) == set(PROJECTIONS)
    await rebuild(pool)
    tables = await check(pool)
    assert different(tables) == {}
    assert digests(tables) == before


async def test_the_tables_keep_their_shape(pool):
    """Columns, indexes, keys, foreign keys and triggers have the names and definitions that migrations gave them."""
    await write_some(postgres_parts(pool))
    before = await _fetch(pool, SHAPE)
    for _ in range(2):
        await rebuild(pool)
        assert await _fetch(pool, SHAPE) == before


async def test_writers_go_on_after_a_rebuild(pool):
    """Counts are kept by the triggers again, foreign keys hold, and what is written then replays too."""
    parts = postgres_parts(pool)
    one, *_ = await write_some(parts)
    await rebuild(pool)
    again = await parts.accept("after", evidence_texts=("late",))
    await embed_all(parts, [again])
    await parts.failures.link(project="p", request_id="late", sha=again, signatures=[signature("late")])
    assert different(await check(pool)) == {}
    assert await parts.memories.resolve(one[:12]) == one


async def test_what_is_written_before_the_swap_is_in_it(pool):
    """Records that came after the replay, down to the last moment, are replayed while writers wait."""
    parts = postgres_parts(pool)
    await write_some(parts)
    shadow = new_run(check=False)
    rebuilding = await indexed(pool, shadow)
    late = await parts.accept("late", evidence_texts=("came late",))
    await embed_all(parts, [late])
    report = await rebuilding.swap(shadow)
    assert (report.records, report.head) == await parts.journal.head()
    assert await parts.memories.vector_kinds(late) == ["text"]
    assert different(await check(pool)) == {}


async def test_writers_wait_for_a_swap_and_lose_nothing(pool):
    """Acceptances and sightings that run into swaps come through, each once."""
    parts = postgres_parts(pool)
    await write_some(parts)
    done, stop = [], asyncio.Event()

    async def write(writer: int) -> None:
        while not stop.is_set():
            name = f"{writer} {len(done)}"
            sha = await parts.accept(name, request_id=name, project=f"p{writer}", evidence_texts=(f"log {name}",))
            await embed_all(parts, [sha])
            await parts.failures.link(project="p", request_id=name, sha=sha, signatures=[signature("w")])
            done.append(sha)

    writing = [asyncio.create_task(write(writer)) for writer in range(2)]
    for _ in range(2):
        await rebuild(pool, page=1000)
    stop.set()
    await asyncio.gather(*writing)
    assert len(await parts.memories.nodes(done)) == len(done) > 3
    assert (await parts.failures.seen(["w"], HERE))["w"].times == len(done)
    assert different(await check(pool)) == {}


async def test_lookups_go_on(pool, database_url):
    """Reads of every table, some of them prepared long ago, never fail and never miss what is there."""
    parts = postgres_parts(pool)
    one, _, two, _ = await write_some(parts)
    legs = await open_pool(database_url, size=4, statement_timeout_ms=1800)
    memories, failures = PostgresMemories(legs, FakeClock()), postgres_parts(legs).failures
    vector, stop, looks = parts.embedder.vector("E3"), asyncio.Event(), 0

    async def look() -> None:
        nonlocal looks
        while not stop.is_set():
            assert [hit.sha for hit in await memories.nearest("symptom", ["L1"], vector, HERE, 1)] == [two]
            assert [hit.sha for hit in (await failures.known(["b"], HERE, 1)).hits] == [one]
            assert (await failures.seen(["a"], HERE))["a"].times == 1
            assert (await memories.lineages([one]))[one].node.stored_sha == two
            assert (await memories.lexical("E3", ["L1"], HERE, 1))[0].sha == two
            assert (await memories.lineages([two]))[two].symptom == "E3"
            looks += 1

    looking = [asyncio.create_task(look()) for _ in range(3)]
    for _ in range(5):
        seen = looks
        await rebuild(pool, page=1000)
        assert looks > seen
    stop.set()
    await asyncio.gather(*looking)
    await legs.close()


async def test_a_repeated_swap_finds_that_it_was_made(pool):
    """A swap whose answer was lost is not made again, whatever was written since."""
    parts = postgres_parts(pool)
    await write_some(parts)
    shadow = new_run(check=False)
    rebuilding = await indexed(pool, shadow)
    report = await rebuilding.swap(shadow)
    await parts.accept("after")
    assert await rebuilding.swap(shadow) == report
    await rebuilding.discard(shadow)


async def test_a_swap_waits_for_no_reader_for_long(pool, monkeypatch):
    """Where somebody reads the tables for ever the swap gives up, and leaves everything as it was."""
    monkeypatch.setattr(shadows, "LOCK_TRIES", 3)
    parts = postgres_parts(pool)
    await write_some(parts)
    shadow = new_run(check=False)
    rebuilding = await indexed(pool, shadow)
    async with pool.connection() as reader, reader.transaction():
        await reader.execute("SELECT FROM memory_node")
        with pytest.raises(Unavailable, match="could not be exchanged"):
            await rebuilding.swap(shadow)
        # Neither readers nor writers wait for it any more.
        assert await parts.accept("meanwhile")
    await rebuilding.swap(shadow)
    assert different(await check(pool)) == {}


async def test_a_check_holds_off_a_swap(pool):
    """Tables are not exchanged under a check that compares them; afterwards they are."""
    await write_some(postgres_parts(pool))
    checked, swapped = new_run(check=True), new_run(check=False)
    rebuilding = await indexed(pool, swapped)
    await rebuilding.begin(checked)
    while (at := await rebuilding.replay(checked, 1000)).seq < at.length:
        pass
    compared, _ = await asyncio.gather(rebuilding.compare(checked), rebuilding.swap(swapped))
    assert compared.same
    assert different(await check(pool)) == {}


async def test_plans_know_the_new_tables(pool):
    """The planner has its statistics of what was loaded, before anybody reads it."""
    await write_some(postgres_parts(pool))
    await rebuild(pool)
    known = await _fetch(pool, "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'mem'")
    # The counts of vectors are made in the swap itself, and are few.
    assert {name for (name,) in known} >= {*PROJECTIONS} - {"vector_count"}
