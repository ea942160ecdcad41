"""Lessons in other words: found, named, and given the evidence, by every store of memories."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import NotFound
from mem.domain.nodes import Node
from mem.ports import Alike, Appended, LedgerKey, Reach, Settlement
from mem.store.alike import fill_bands
from tests.contract.parts import Parts, lesson_plan, postgres_parts

PINNED = "Pin @types/react through overrides, because its peer range excludes react 19."
REWORDED = "The peer range of @types/react excludes react 19: pin it through `overrides`."
OTHER = "Pin @types/react through overrides, because its peer range excludes react 20."
SCOPES = [
    {"project": "q"},
    {"visibility": "user", "owner": "u"},
    {"visibility": "container", "owner": "u", "container": "c"},
]


async def test_a_rewording_is_found(parts):
    """A lesson in other words is found as similar, in its own words as equal, and another one not at all."""
    sha = await parts.accept(PINNED)
    assert await parts.memories.alike(_lesson(REWORDED)) == Alike(sha, equal=False)
    assert await parts.memories.alike(_lesson(PINNED.upper())) == Alike(sha, equal=True)
    assert await parts.memories.alike(_lesson(OTHER)) is None


@pytest.mark.parametrize("scope", SCOPES, ids=str)
async def test_no_rewording_of_another_scope(parts, scope):
    """What another project, user or container says is no duplicate, and is one there."""
    await parts.accept(PINNED)
    assert await parts.memories.alike(_lesson(REWORDED, **scope)) is None
    there = await parts.accept(PINNED, request_id="there", **scope)
    assert await parts.memories.alike(_lesson(REWORDED, **scope)) == Alike(there, equal=False)


async def test_evidence_is_no_rewording(parts):
    """Evidence and reference that say the same are no lessons."""
    await parts.accept("a lesson", evidence_texts=(PINNED,))
    await parts.document(Node(level="R", project="p", text=PINNED, source="doc"))
    assert await parts.memories.alike(_lesson(REWORDED)) is None


async def test_a_duplicate_brings_its_evidence(parts):
    """The evidence and the L0 parents of a duplicate become those of the memory that stands, which keeps its own."""
    sha = await parts.accept(PINNED, evidence_texts=("first",))
    base = await parts.accept("another lesson", evidence_texts=("below",))
    (held,) = await parts.memories.evidence(base)
    plan = lesson_plan(REWORDED, request_id="2", parents=(held.stored_sha, base), evidence_texts=("second", "third"))
    outcome = await parts.memories.append(plan)
    assert outcome == Appended(sha, tuple(node.sha for node in plan.evidence), sha)
    assert await parts.memories.append(plan) == outcome
    assert await parts.memories.nodes([plan.node.sha]) == {}
    assert {node.text for node in await parts.memories.evidence(sha)} == {"first", "second", "third", "below"}
    assert base not in {parent.sha for parent in (await parts.memories.parents([sha]))[sha]}


async def test_what_a_duplicate_records_is_enough_to_do_it_again(parts):
    """The journal has the evidence, the L0 parents and the memory that got them."""
    sha = await parts.accept(PINNED)
    plan = lesson_plan(REWORDED, request_id="2", evidence_texts=("second",))
    await parts.memories.append(plan)
    record = await parts.journal.find(plan.key)
    assert (record.data["sha"], record.data["duplicate_of"], record.data["node"]) == (sha, sha, None)
    assert [Node(**fields).sha for fields in record.data["evidence"]] == [plan.evidence[0].sha]
    assert record.data["parents"] == []


async def test_of_rewordings_at_once_one_is_appended(parts):
    """However they race, one wording becomes a node and gets the evidence of all."""
    for round_ in range(10):
        project = f"p{round_}"
        plans = [
            lesson_plan(text, request_id=str(number), project=project, evidence_texts=(f"log {number}",))
            for number, text in enumerate([PINNED, REWORDED, PINNED.upper(), f"{REWORDED}!"])
        ]
        outcomes = await asyncio.gather(*(parts.memories.append(plan) for plan in plans))
        (sha,) = {outcome.sha for outcome in outcomes}
        assert [outcome.duplicate_of for outcome in outcomes].count(None) == 1
        assert len(await parts.memories.nodes([plan.node.sha for plan in plans])) == 1
        assert len(await parts.memories.evidence(sha)) == len(plans)


async def test_the_verdict_names_who_gets_the_evidence(parts):
    """A plan that was judged a duplicate goes to that memory, or to what superseded it since."""
    sha = await parts.accept(PINNED)
    judged = lesson_plan(REWORDED, request_id="1")._replace(duplicate_of=sha)
    assert (await parts.memories.append(judged)).duplicate_of == sha
    newer = await parts.accept("Raise react everywhere.", supersedes=(sha,))
    late = lesson_plan(REWORDED, request_id="2", evidence_texts=("late",))._replace(duplicate_of=sha)
    assert (await parts.memories.append(late)).duplicate_of == newer
    assert "late" in {node.text for node in await parts.memories.evidence(newer)}
    with pytest.raises(NotFound):
        await parts.memories.append(lesson_plan(REWORDED, request_id="3")._replace(duplicate_of="e" * 64))


async def test_a_duplicate_with_a_missing_parent_writes_nothing(parts):
    """A parent that does not exist refuses the evidence of a duplicate, too."""
    sha = await parts.accept(PINNED)
    plan = lesson_plan(REWORDED, request_id="2", parents=("e" * 64,), evidence_texts=("second",))
    with pytest.raises(NotFound):
        await parts.memories.append(plan)
    assert await parts.memories.nodes([plan.evidence[0].sha]) == {}
    assert len(await parts.memories.evidence(sha)) == 1


async def test_what_a_candidate_supersedes_is_no_duplicate(parts):
    """A rewording may take the place of the old wording."""
    old = await parts.accept(PINNED)
    assert await parts.memories.alike(_lesson(REWORDED), [old]) is None
    assert (await parts.memories.append(lesson_plan(REWORDED, request_id="2", supersedes=(old,)))).duplicate_of is None


async def test_a_rewording_of_what_was_superseded(parts):
    """It is found with its newest successor, unless the candidate supersedes that one."""
    old = await parts.accept(PINNED)
    middle = await parts.accept("Raise react everywhere.", supersedes=(old,))
    newest = await parts.accept("Drop react.", supersedes=(middle,))
    assert await parts.memories.alike(_lesson(REWORDED)) == Alike(old, equal=False, successor=newest)
    assert await parts.memories.alike(_lesson(PINNED)) == Alike(old, equal=True, successor=newest)
    assert await parts.memories.alike(_lesson(REWORDED), [newest]) is None
    live = await parts.accept(REWORDED, request_id="live", supersedes=(newest,))
    assert await parts.memories.alike(_lesson(PINNED + " ")) == Alike(live, equal=False)


async def test_an_overruled_duplicate_is_a_node(parts):
    """A person can keep a similar text, never an equal one."""
    first = await parts.accept(PINNED)
    similar = lesson_plan(REWORDED, request_id="2")._replace(overruled=True)
    assert (await parts.memories.append(similar)).duplicate_of is None
    equal = lesson_plan(PINNED.upper(), request_id="3")._replace(overruled=True)
    assert (await parts.memories.append(equal)).duplicate_of == first


async def test_what_a_lookup_returned_is_recognised(parts):
    """A lesson of another project is recognised in other words once a lookup returned it, and only where it did."""
    sha = await parts.accept(PINNED, project="q")
    own = await parts.accept("Prune the builder cache weekly.")
    assert await parts.memories.returned_alike(_lesson(REWORDED)) is None
    settlement = _settlement("1", (sha, own, sha))
    await parts.ledger.settle(settlement, lambda _: b"")
    await parts.ledger.settle(settlement, lambda _: b"")
    assert (await parts.memories.returned_alike(_lesson(REWORDED))).stored_sha == sha
    assert await parts.memories.returned_alike(_lesson(OTHER)) is None
    assert await parts.memories.returned_alike(_lesson("Prune the builder cache weekly!")) is None
    assert await parts.memories.returned_alike(_lesson(REWORDED, project="r")) is None
    (record,) = [each async for each in parts.journal.read() if each.kind == "lookup"]
    assert record.data["returned"] == sorted([sha, own])


async def test_a_lookup_of_what_is_gone(parts):
    """A returned sha that is no node here, as after a restore, is recorded and harms nothing."""
    await parts.ledger.settle(_settlement("1", ("e" * 64,)), lambda _: b"")
    assert await parts.memories.returned_alike(_lesson(PINNED)) is None


async def test_bands_are_filled_in_afterwards(pool, postgres):
    """Lessons from before the bands, or from other rules, are found once they are filled in, and only those cost."""
    sha = await postgres.accept(PINNED)
    for broken in ("bands = NULL, bands_by = NULL", "bands = '{}', bands_by = 'other rules'"):
        async with pool.connection() as connection:
            await connection.execute(f"UPDATE memory_node SET {broken} WHERE level = 'L1'")
        assert await postgres.memories.alike(_lesson(REWORDED)) is None
        assert await fill_bands(pool) == 1
        assert await postgres.memories.alike(_lesson(REWORDED)) == Alike(sha, equal=False)
        assert await fill_bands(pool) == 0


async def test_evidence_has_no_bands(pool, postgres):
    """Only lessons take room in the index of the bands."""
    await postgres.accept(PINNED, evidence_texts=(REWORDED,))
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT level, bands IS NULL FROM memory_node ORDER BY level")
        assert await cursor.fetchall() == [("L0", True), ("L1", False)]


async def test_the_search_uses_the_index_of_the_bands(pool, postgres):
    """Among many lessons of other words the bands are searched by their index."""
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO memory_node (sha, level, project, text, visibility, plain_sha, bands)"
            " SELECT 'f' || n, 'L1', 'p', 'text ' || n, 'global', 'plain' || n, ARRAY[n, n + 100000, n + 200000]"
            " FROM generate_series(1, 5000) AS n"
        )
        await connection.execute("ANALYZE memory_node")
        cursor = await connection.execute(
            "EXPLAIN SELECT sha FROM memory_node WHERE bands && ARRAY[7, 8]::integer[] AND level IN ('L1', 'L2')"
        )
        plan = "\n".join(row[0] for row in await cursor.fetchall())
    assert "memory_node_bands" in plan


@pytest.fixture
def postgres(pool) -> Parts:
    return postgres_parts(pool)


def _lesson(text: str, project: str = "p", **fields) -> Node:
    return Node(level="L1", project=project, text=text, **fields)


def _settlement(request_id: str, returned: tuple[str, ...]) -> Settlement:
    return Settlement(LedgerKey("context", "p", request_id), "f", (), Reach("p", federated=True), returned)
