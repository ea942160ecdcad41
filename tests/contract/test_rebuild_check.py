"""What the journal makes of its projections, beside what the writers left."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mem.domain.accepting import MadeProjection
from mem.domain.errors import JournalCorrupt, NotFound
from mem.domain.nodes import Node
from mem.domain.replaying import MAX_DIFFERENCES, Shadow
from mem.ports import LedgerKey, Reach, Settlement, Skill
from mem.store.rebuilding import PostgresRebuilding
from mem.store.shadow import KEPT, PROJECTIONS
from mem.testing import replayed
from tests.contract.parts import fake_parts, postgres_parts, signature
from tests.contract.rebuilding import (
    check,
    different,
    embed_all,
    filled,
    new_run,
    rebuild,
    regenerate,
    write_some,
)  # fmt: skip
from tests.examples import examples

TAMPERED = {
    "failure_signature": "UPDATE failure_signature SET excerpt = 'other' WHERE sig_sha = 'c'",
    "lexical_entry": "UPDATE lexical_entry SET length = length + 1 "
    "WHERE node_sha = (SELECT min(node_sha) FROM lexical_entry)",
    "lexical_frequency": "UPDATE lexical_frequency SET nodes = nodes + 1 "
    "WHERE ctid = (SELECT min(ctid) FROM lexical_frequency WHERE nodes > 0)",
    "lexical_total": "DELETE FROM lexical_total WHERE ctid = (SELECT min(ctid) FROM lexical_total WHERE nodes > 0)",
    "memory_edge": "DELETE FROM memory_edge WHERE ctid = (SELECT min(ctid) FROM memory_edge)",
    "memory_node": "UPDATE memory_node SET turn = 9 WHERE text = 'again'",
    "memory_vector": "UPDATE memory_vector SET embedding = (embedding::real[] || '{}')[1:63]::real[] || 0.5::real "
    "WHERE kind = 'symptom' AND node_sha = (SELECT min(node_sha) FROM memory_vector WHERE kind = 'symptom')",
    "occurrence": "UPDATE occurrence SET seen_on = seen_on + 1 WHERE request_id = '1' AND sig_sha = 'b'",
    "occurrence_count": "UPDATE occurrence_count SET times = times + 1 WHERE sig_sha = 'a' AND project = 'q'",
    "reference_document": "UPDATE reference_document SET updated_on = updated_on + 1 WHERE source = 'new.md'",
    "returned_lesson": "DELETE FROM returned_lesson",
    "signature_link": "DELETE FROM signature_link WHERE sig_sha = 'b'",
    "skill": "UPDATE skill SET removed = false WHERE name = 'gone'",
    "symptom_projection": "UPDATE symptom_projection SET prompt_sha = 'x' WHERE text = ''",
    "user_snapshot": "UPDATE user_snapshot SET line = 'changed' WHERE owner = 'ann'",
    "vector_count": "UPDATE vector_count SET live = 9 WHERE project = 'p' AND kind = 'text' AND level_group = 'L0'",
}
"""One row of each table changed or taken away."""


PARTS = [
    "nodes",
    "superseded_by",
    "edges",
    "projections",
    "vectors",
    "signatures",
    "links",
    "occurrences",
    "returned",
    "skills",
    "documents",
    "removed",
    "snapshots",
]
"""Of the state of the fakes, what follows from the journal."""


async def test_every_table_is_a_projection_or_kept(pool):
    """A migration that adds a table has to say whether it follows from the journal."""
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'mem'")
        assert {name for (name,) in await cursor.fetchall()} == {*PROJECTIONS, *KEPT}
    assert set(TAMPERED) == set(PROJECTIONS)


@pytest.mark.parametrize("page", [1, 4, 1000])
async def test_a_replay_gives_the_rows_that_the_writers_left(pool, page):
    """Table by table, vectors and counts included, however many records a page has."""
    parts = postgres_parts(pool)
    one, other, two, _ = await write_some(parts)
    await regenerate(pool, parts, {one: "", other: "now something", two: "E3\nE4"})
    tables = await check(pool, page=page)
    assert different(tables) == {}
    assert all(table.rows for table in tables.values())


async def test_a_check_changes_nothing(pool):
    """What it made is gone, and the journal as it was."""
    parts = postgres_parts(pool)
    await write_some(parts)
    before = await parts.journal.head()
    await check(pool)
    assert await parts.journal.head() == before
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'mem%'")
        assert await cursor.fetchone() == (1,)


@pytest.mark.parametrize("table", PROJECTIONS)
async def test_a_changed_row_is_named(pool, table):
    """Of each table: one row that was changed or lost by hand is found, and no other."""
    await write_some(postgres_parts(pool))
    async with pool.connection() as connection:
        assert (await connection.execute(TAMPERED[table].encode())).rowcount == 1
    found = different(await check(pool))
    # Vectors are changed without their counts; nothing else hangs on a single row.
    assert list(found) == [table]
    ((what, key),) = found[table]
    assert what == ("missing" if TAMPERED[table].startswith("DELETE") else "different")
    assert key


async def test_a_row_too_much_is_named(pool):
    """A row that no record made is extra, and is told apart from one that is missing."""
    await write_some(postgres_parts(pool))
    async with pool.connection() as connection:
        await connection.execute("INSERT INTO signature_link SELECT 'd', min(sha) FROM memory_node WHERE level = 'R'")
    assert [(what, key.split(" ")[1]) for what, key in different(await check(pool))["signature_link"]] == [
        ("extra", "d")
    ]


async def test_many_differences_are_counted_and_some_named(pool):
    """The first ten rows are named, in their order, and the rest is counted."""
    parts = postgres_parts(pool)
    for number in range(15):
        await parts.accept(f"lesson {number}", evidence_texts=())
    async with pool.connection() as connection:
        await connection.execute("UPDATE memory_node SET plain_sha = 'x'")
    table = (await check(pool))["memory_node"]
    assert (table.differing, len(table.differences)) == (15, MAX_DIFFERENCES)
    keys = [one.key for one in table.differences]
    assert keys == sorted(keys)


async def test_a_count_of_none_is_no_difference(pool):
    """That the last vector of a kind was retired leaves a zero, where a replay has no row at all."""
    parts = postgres_parts(pool)
    one = await parts.accept("one", project="only")
    await embed_all(parts, [one])
    async with pool.connection() as connection:
        await connection.execute("INSERT INTO vector_count VALUES ('gone', 'text', 'lesson', 0)")
        await connection.execute("INSERT INTO lexical_frequency VALUES ('gone', 'lesson', 'only', 0)")
        await connection.execute("INSERT INTO lexical_total VALUES ('lesson', 'gone', '', 0, 0)")
    assert different(await check(pool)) == {}


async def test_a_superseded_memory_keeps_the_symptom_that_it_shares(pool):
    """A memory and the one in place of it show the same symptom, and both have its vector."""
    parts = postgres_parts(pool)
    one = await parts.accept("one", request_id="1")
    two = await parts.accept("two", request_id="2", supersedes=(one,))
    for sha in (one, two):
        await parts.memories.put_projection(sha, MadeProjection(text="E1", model_id="m", prompt_sha="p"))
    await embed_all(parts, [one, two])
    assert different(await check(pool)) == {}


async def test_a_check_is_of_one_moment(pool):
    """Writers that go on between the replay and the comparison are in both or in neither."""
    parts = postgres_parts(pool)
    await write_some(parts)
    shadow = new_run(check=True)
    rebuilding = await filled(pool, shadow)
    stop = asyncio.Event()

    async def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            sha = await parts.accept(f"meanwhile {number}", evidence_texts=(f"log {number}",))
            await parts.failures.link(
                project="p", request_id=f"w{number}", sha=sha, signatures=[signature(f"w{number}")]
            )

    writing = asyncio.create_task(write())
    reports = [await rebuilding.compare(shadow) for _ in range(5)]
    stop.set()
    await writing
    assert all(report.same for report in reports)
    assert reports[0].records < reports[-1].records


async def test_a_damaged_journal_is_not_replayed(pool):
    """A record that was changed stops the replay, and is named."""
    await write_some(postgres_parts(pool))
    async with pool.connection() as connection:
        await connection.execute("DROP TRIGGER journal_is_append_only ON journal")
        await connection.execute("UPDATE journal SET body = replace(body, 'again', 'never') WHERE seq = 1")
    with pytest.raises(JournalCorrupt, match="Record 1 was changed"):
        await check(pool)


async def test_a_damaged_embedding_is_not_replayed(pool):
    """An embedding that is not the recorded one stops the replay, and its record is named."""
    await write_some(postgres_parts(pool))
    async with pool.connection() as connection:
        await connection.execute("UPDATE embedding SET embedding = embedding || '\\x00'")
    with pytest.raises(JournalCorrupt, match="embedding is another one"):
        await check(pool)


async def test_a_replay_that_another_run_has_taken_over_ends(pool):
    """A worker that comes late finds that the tables are no longer its own."""
    parts = postgres_parts(pool)
    await write_some(parts)
    rebuilding = PostgresRebuilding(pool)
    late, now = new_run(check=True), new_run(check=True)
    await rebuilding.begin(late)
    await rebuilding.begin(now)
    for step in (rebuilding.replay(late, 9), rebuilding.compare(late), rebuilding.index(late)):
        with pytest.raises(NotFound, match="another one began"):
            await step
    await rebuilding.discard(late)
    assert (await rebuilding.replay(now, 3)).seq == 3


async def test_a_check_by_hand_and_the_nightly_one_leave_each_other_alone(pool):
    """Whichever begins first, both come to their end; a rebuild beside them does, too."""
    await write_some(postgres_parts(pool))
    rebuilding = PostgresRebuilding(pool)
    runs = [new_run(check=True), new_run(check=True, nightly=True), new_run(check=False)]
    for step in (rebuilding.begin, lambda run: rebuilding.replay(run, 99)):
        for run in runs:
            await step(run)
    reports = [await rebuilding.compare(run) for run in runs[:2]]
    assert all(report.same and report.tables for report in reports)
    for run in runs:
        await rebuilding.discard(run)


async def test_a_replay_goes_on_where_it_stopped(pool):
    """Beginning again, as a step that is repeated does, leaves what was replayed."""
    await write_some(postgres_parts(pool))
    rebuilding, shadow = PostgresRebuilding(pool), new_run(check=True)
    await rebuilding.begin(shadow)
    await rebuilding.replay(shadow, 5)
    assert (await rebuilding.begin(shadow)).seq == 5
    both = await asyncio.gather(*(rebuilding.replay(shadow, 3) for _ in range(3)))
    assert sorted(at.seq for at in both) == [8, 11, 14]


async def test_a_migration_ends_a_replay(pool):
    """Tables of the old shape never become live ones."""
    await write_some(postgres_parts(pool))
    rebuilding, shadow = PostgresRebuilding(pool), Shadow(run="one", check=False)
    await rebuilding.begin(shadow)
    async with pool.connection() as connection:
        await connection.execute("INSERT INTO migration (version, name, sha) VALUES (9999, 'x', 'x')")
    for step in (rebuilding.replay(shadow, 9), rebuilding.swap(shadow)):
        with pytest.raises(NotFound, match="was migrated"):
            await step
    assert (await rebuilding.begin(shadow)).seq == 0


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["accept", "supersede", "project", "link", "relink", "see", "skill", "no skill", "reference"]),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=12,
)


async def _step(parts, number: int, kind: str, one: int, other: int, shas: list[str]) -> None:
    """One operation of a writer on what few names allow, so that they meet."""
    sha = shas[one % len(shas)]
    found = [signature(f"s{one}", message=f"m{other}"), signature(f"s{other}")]
    match kind:
        case "accept":
            owner = "ann" if one % 2 else None
            texts = (f"log {other}",)
            shas.append(await parts.accept(f"lesson {one}", request_id=str(number), evidence_texts=texts, owner=owner))
            await parts.users.refresh_snapshot(shas[-1])
        case "supersede":
            old = (sha,) if sha != shas[0] else ()
            owner = "ben" if other % 2 else None
            shas.append(await parts.accept(f"newer {number}", request_id=str(number), supersedes=old, owner=owner))
            await parts.users.refresh_snapshot(shas[-1])
        case "project":
            made = MadeProjection(text="" if other == 0 else f"E{other}", model_id=f"m{one}", prompt_sha="p")
            await parts.memories.put_projection(sha, made)
        case "link":
            await parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=found)
        case "relink":
            await parts.failures.relink(sha, found)
        case "see":
            key = LedgerKey("context", f"p{one}", str(number))
            settlement = Settlement(key, "f", tuple(found), Reach(f"p{one}", federated=True), (sha,))
            await parts.ledger.settle(settlement, lambda _: b"")
        case "skill":
            await parts.skills.put(Skill(f"s{one}", f"d{other}", "b", "*"), parts.embedder)
        case "no skill":
            with suppress(NotFound):
                await parts.skills.remove("*", f"s{one}")
        case "reference":
            chunk = Node(level="R", project="*", text=f"r{one}", source=f"d{other}")
            await parts.document(chunk, source="d")
            shas.append(chunk.sha)


_calmly = settings(
    deadline=None,
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def _write(parts, steps, shas: list[str], first: int) -> None:
    lessons = [sha for sha in shas if sha]
    for number, (kind, one, other) in enumerate(steps, first):
        usable = lessons if kind in {"project", "link", "relink", "supersede"} else shas
        before = len(usable)
        await _step(parts, number, kind, one, other, usable)
        if usable is lessons and len(usable) > before:
            shas.append(usable[-1])
        elif kind == "accept":
            lessons.append(shas[-1])


@_calmly
@given(steps=_STEPS)
async def test_whatever_is_written_replays(pool, steps):
    """Any sequence of writes leaves tables that follow from the journal, before and after a rebuild."""
    parts = postgres_parts(pool)
    first = (await parts.journal.head()).length + 1
    shas = [await parts.accept("first", request_id=f"first {first}")]
    await _write(parts, steps, shas, first * 100)
    await embed_all(parts, list(shas))
    assert different(await check(pool)) == {}
    await rebuild(pool)
    assert different(await check(pool, page=1000)) == {}


@_calmly
@given(steps=_STEPS)
async def test_whatever_is_written_to_the_fakes_replays(steps):
    """The fakes' own state follows from their journal in the same way."""
    parts = fake_parts()
    shas = [await parts.accept("first")]
    await _write(parts, steps, shas, 1)
    await embed_all(parts, list(shas))
    state = parts.memories._state
    again = replayed(state)
    for part in PARTS:
        assert getattr(again, part) == getattr(state, part), part


@pytest.mark.parametrize("seed", [0, *(pytest.param(more, marks=pytest.mark.slow) for more in (1, 2))])
async def test_concurrent_writers_replay(pool, seed):
    """However writers overtake each other, the order of the journal is the order of their effects."""
    parts = postgres_parts(pool)
    sha = await parts.accept("first")
    chance = random.Random(seed)
    made = []
    for number in range(60):
        one, other = chance.randrange(4), chance.randrange(4)
        found = [signature(f"s{one}", message=f"m{number}", excerpt=f"e{number}"), signature(f"s{other}")]
        match number % 4:
            case 0:
                made.append(parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=found))
            case 1:
                made.append(parts.failures.relink(sha, found))
            case 2:
                key = LedgerKey("context", "p", str(number))
                settlement = Settlement(key, "f", tuple(found), Reach("p", federated=True))
                made.append(parts.ledger.settle(settlement, lambda _: b""))
            case _:
                projection = MadeProjection(text=f"E{number}", model_id=f"m{number}", prompt_sha="p")
                made.append(parts.memories.put_projection(sha, projection))
    await asyncio.gather(*made)
    assert different(await check(pool)) == {}
