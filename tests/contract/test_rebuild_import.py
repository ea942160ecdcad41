"""An exported journal in another database: the same journal there, and the same tables made of it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from mem.domain.errors import ConfigurationError, JournalCorrupt, ModelMismatch
from mem.domain.journal import GENESIS, Head
from mem.store import importing
from mem.store.export import export_stored, verify_stored
from mem.store.importing import check as check_export
from mem.store.importing import import_lines
from mem.store.pool import Pool, open_pool
from tests.contract.parts import postgres_parts
from tests.contract.rebuilding import check, different, digests, rebuild, regenerate, write_some


@pytest.fixture
async def empty(postgres_server, postgres_template) -> AsyncIterator[Pool]:
    """Connections to a second database that was migrated and nothing else."""
    name = f"import_{uuid.uuid4().hex[:12]}"
    pool = await open_pool(postgres_server.create(name, postgres_template), size=2)
    yield pool
    await pool.close()
    postgres_server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def lines(pool) -> list[str]:
    """An export with everything in it."""
    parts = postgres_parts(pool)
    one, other, *_ = await write_some(parts)
    await regenerate(pool, parts, {one: "", other: "now something"})
    return [line async for line in export_stored(pool)]


async def bring_in(pool: Pool, lines: list[str], *, batches: int | None = None) -> list[importing.Imported]:
    """Check and import, or stop after some batches, as if interrupted."""
    steps = []
    async for step in import_lines(pool, lambda: lines, check_export(lines)):
        steps.append(step)
        if batches is not None and len(steps) > batches:
            break
    return steps


async def test_an_empty_database_becomes_the_same(pool, empty, lines):
    """Head, tables and vectors are equal, and so is an export of it."""
    assert (await bring_in(empty, lines))[-1].done == len(lines) - 1
    await rebuild(empty)
    assert await verify_stored(empty) == await verify_stored(pool)
    assert [line async for line in export_stored(empty)] == lines
    tables = await check(empty)
    assert different(tables) == {}
    assert digests(tables) == digests(await check(pool))
    assert all(table.rows for table in tables.values())


async def test_an_interrupted_import_goes_on(empty, lines, monkeypatch):
    """What was imported stays, and the same command brings in the rest."""
    monkeypatch.setattr(importing, "BATCH", 4)
    assert [step.done for step in await bring_in(empty, lines, batches=2)] == [0, 4, 8]
    assert [step.done for step in await bring_in(empty, lines)][:2] == [8, 12]
    assert await verify_stored(empty) == check_export(lines).head
    assert [step.done for step in await bring_in(empty, lines)] == [len(lines) - 1]


async def test_a_lost_answer_adds_nothing_twice(empty, lines, monkeypatch):
    """A batch that was committed, though nobody heard of it, is found."""
    batch = [one for one, _ in zip(importing.parse_lines(lines), range(5), strict=False)]
    async with empty.connection() as connection:
        for _ in range(2):
            async with connection.transaction():
                await importing._add(connection, batch)
    assert await postgres_parts(empty).journal.head() == Head(5, batch[-1].record.sha)


@pytest.mark.parametrize("at", [0, 3, -2, -1])
async def test_a_damaged_file_is_not_imported(empty, lines, at):
    """It is read to its end before anything of it is written; where it is damaged makes no difference."""
    damaged = [*lines]
    damaged[at] = damaged[at].replace('"sha":"', '"sha":"0', 1)
    for wrong in damaged, lines[:-1], [*lines, lines[-1]]:
        with pytest.raises(JournalCorrupt):
            await bring_in(empty, wrong)
    assert await postgres_parts(empty).journal.head() == Head(0, GENESIS)


async def test_another_journal_is_left_alone(empty, lines):
    """The first record that differs is named, and nothing is written."""
    parts = postgres_parts(empty)
    await parts.accept("something else")
    before = await parts.journal.head()
    with pytest.raises(ConfigurationError, match=r"record 1 is appended .* in the file and another one there"):
        await bring_in(empty, lines)
    assert await parts.journal.head() == before


async def test_a_database_that_is_ahead_is_left_alone(pool, empty, lines):
    """A file that ends before the database does is no backup of it."""
    await bring_in(empty, lines)
    await postgres_parts(empty).accept("later")
    with pytest.raises(ConfigurationError, match=f"record {len(lines)} is not in the file"):
        await bring_in(empty, lines)


async def test_a_database_that_lags_behind_catches_up(pool, empty, lines):
    """An earlier export that was imported is the beginning of a later one."""
    await bring_in(empty, lines)
    await postgres_parts(pool).accept("later")
    later = [line async for line in export_stored(pool)]
    assert [step.done for step in await bring_in(empty, later)] == [len(lines) - 1, len(lines)]


async def test_a_writer_meanwhile_stops_an_import(empty, lines, monkeypatch):
    """Nothing is put behind a record that is not the file's own."""
    monkeypatch.setattr(importing, "BATCH", 4)
    steps = import_lines(empty, lambda: lines, check_export(lines))
    assert [(await anext(steps)).done for _ in range(2)] == [0, 4]
    await postgres_parts(empty).accept("meanwhile")
    with pytest.raises(ConfigurationError, match="record 5 was written there meanwhile"):
        await anext(steps)


async def test_a_file_that_changes_meanwhile_is_noticed(empty, lines):
    """Another export under the same name is not mistaken for the one that was checked."""
    checked = check_export(lines)
    shorter = [*lines[:1], f'{{"head":{{"count":1,"sha":"{lines[0][-66:-2]}"}}}}']
    with pytest.raises(JournalCorrupt, match="another one than when it was checked"):
        async for _ in import_lines(empty, lambda: shorter, checked):
            pass


async def test_vectors_of_another_model_are_refused(empty, lines):
    """A database whose index is for another model would have none of them; both models are named."""
    async with empty.connection() as connection:
        await connection.execute("UPDATE embedding_index SET model_id = 'another-model'")
    with pytest.raises(ModelMismatch, match=r"fake-embedder-1.*another-model"):
        await bring_in(empty, lines)
    assert await postgres_parts(empty).journal.head() == Head(0, GENESIS)


async def test_an_empty_export_is_imported(pool, empty):
    """An export of nothing is one too."""
    lines = [line async for line in export_stored(pool)]
    assert await bring_in(empty, lines) == [importing.Imported(0, 0)]
