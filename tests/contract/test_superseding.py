"""One memory takes the place of another, by a person's word, in every store of memories."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import InvalidRequest, NotFound
from mem.domain.nodes import Node
from mem.ports import Superseded
from tests.contract.parts import lesson_plan


async def test_the_new_one_stands_for_the_old_one(parts):
    """The old memory gets its successor and a journal record; said again it is the same answer and no record more."""
    old, new = await parts.accept("Pin react."), await parts.accept("Raise react.")
    assert await parts.memories.supersede(old, new) == Superseded(old, new)
    head = await parts.journal.head()
    assert await parts.memories.supersede(old, new) == Superseded(old, new)
    assert await parts.journal.head() == head
    assert await parts.memories.successor(old) == new
    record = [each async for each in parts.journal.read()][-1]
    assert (record.kind, record.data) == ("superseded", {"project": "p", "old": old, "new": new})


async def test_ten_at_once_are_one(parts):
    """The same word ten times at once is one supersession."""
    old, new = await parts.accept("Pin react."), await parts.accept("Raise react.")
    assert set(await asyncio.gather(*(parts.memories.supersede(old, new) for _ in range(10)))) == {Superseded(old, new)}
    assert [each.kind async for each in parts.journal.read()].count("superseded") == 1


async def test_said_again_after_the_chain_has_grown(parts):
    """The answer of the first time returns when the successor has itself been superseded since."""
    old, new, newer = [await parts.accept(text) for text in ("Pin react.", "Raise react.", "Drop react.")]
    await parts.memories.supersede(old, new)
    await parts.memories.supersede(new, newer)
    assert await parts.memories.supersede(old, new) == Superseded(old, new)


async def test_what_a_candidate_superseded_is_superseded(parts):
    """A supersession that an acceptance made is answered like one that was made here."""
    old = await parts.accept("Pin react.")
    new = await parts.accept("Raise react.", supersedes=(old,))
    assert await parts.memories.supersede(old, new) == Superseded(old, new)
    assert "superseded" not in [each.kind async for each in parts.journal.read()]


async def test_the_old_vectors_are_retired(pool, parts):
    """No live vector of the old memory is left, and the counts by which searches are routed follow."""
    old, new = await parts.accept("Pin react."), await parts.accept("Raise react.")
    await parts.memories.put_vectors("text", {old: "Pin react.", new: "Raise react."}, parts.embedder)
    await parts.memories.supersede(old, new)
    lineages = await parts.memories.lineages([old])
    assert (lineages[old].node.stored_sha, lineages[old].supersedes) == (new, (old,))
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT node_sha, live FROM memory_vector ORDER BY live")
        rows = await cursor.fetchall()
        assert rows in ([(old, False), (new, True)], [])  # the fakes have no database
        cursor = await connection.execute("SELECT live FROM vector_count")
        assert await cursor.fetchall() in ([(1,)], [])


async def test_a_chain_of_four(parts):
    """Each link yields the newest, naming what lies between, oldest first."""
    a, b, c, d = [await parts.accept(f"Pin {name}.") for name in ("react", "preact", "vue", "svelte")]
    for old, new in ((a, b), (b, c), (c, d)):
        await parts.memories.supersede(old, new)
    lineages = await parts.memories.lineages([a, b, c, d])
    assert {sha: (one.node.stored_sha, one.supersedes) for sha, one in lineages.items()} == {
        a: (d, (a, b, c)), b: (d, (b, c)), c: (d, (c,)), d: (d, ()),
    }  # fmt: skip


async def test_merging_chains(parts):
    """Two chains that end in one memory both yield it."""
    a, b, x, y, z = [await parts.accept(f"Pin {name}.") for name in ("react", "preact", "vue", "svelte", "solid")]
    for old, new in ((a, b), (x, y), (b, z), (y, z)):
        await parts.memories.supersede(old, new)
    lineages = await parts.memories.lineages([a, x])
    assert {sha: (one.node.stored_sha, one.supersedes) for sha, one in lineages.items()} == {
        a: (z, (a, b)),
        x: (z, (x, y)),
    }


async def test_no_circle(parts):
    """What stands in the place of a memory cannot be superseded by it, however long the chain."""
    a, b, c = [await parts.accept(f"Pin {name}.") for name in ("react", "preact", "vue")]
    await parts.memories.supersede(a, b)
    with pytest.raises(InvalidRequest, match="circle"):
        await parts.memories.supersede(b, a)
    await parts.memories.supersede(b, c)
    with pytest.raises(InvalidRequest, match="circle"):
        await parts.memories.supersede(c, a)
    assert await parts.memories.successor(a) == c


async def test_both_directions_at_once(parts):
    """Of two that would supersede each other at the same time, one does."""
    a, b = await parts.accept("Pin react."), await parts.accept("Raise react.")
    outcomes = await asyncio.gather(
        parts.memories.supersede(a, b), parts.memories.supersede(b, a), return_exceptions=True
    )
    assert sum(isinstance(outcome, Superseded) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, InvalidRequest) for outcome in outcomes) == 1


async def test_a_superseded_one_is_refused_with_its_newest_successor(parts):
    """Neither a memory with another successor nor one that was superseded is taken; the reason names who stands."""
    a, b, c, other = [await parts.accept(f"Pin {name}.") for name in ("react", "preact", "vue", "svelte")]
    await parts.memories.supersede(a, b)
    await parts.memories.supersede(b, c)
    for old, new in ((a, other), (other, a), (other, b)):
        with pytest.raises(InvalidRequest, match=c):
            await parts.memories.supersede(old, new)
    assert await parts.memories.successor(other) is None


async def test_what_cannot_supersede_what(parts):
    """One's self, another project, evidence, reference, fewer readers and unknown shas are refused with a remedy."""
    sha = await parts.accept("Pin react.")
    elsewhere = await parts.accept("Raise react.", project="q")
    private = await parts.accept("Raise react.", visibility="user", owner="u")
    chunk = Node(level="R", project="p", text="chunk", source="doc")
    await parts.document(chunk)
    (below,) = await parts.memories.evidence(sha)
    for other in (sha, elsewhere, private, chunk.sha, below.stored_sha):
        with pytest.raises(InvalidRequest) as refused:
            await parts.memories.supersede(sha, other)
        assert refused.value.remedy
    for old, new in (("e" * 64, sha), (sha, "e" * 64)):
        with pytest.raises(NotFound):
            await parts.memories.supersede(old, new)
    assert [each.kind async for each in parts.journal.read()].count("superseded") == 0


async def test_more_readers_are_fine_for_their_owner(parts):
    """A memory for everybody may take the place of a private one of its author, and of nobody else's."""
    private = await parts.accept("Pin react.", visibility="user", owner="u")
    mine = await parts.accept("Raise react.", owner="u")
    others = await parts.accept("Drop react.", owner="v")
    with pytest.raises(InvalidRequest):
        await parts.memories.supersede(private, others)
    assert await parts.memories.supersede(private, mine) == Superseded(private, mine)


async def test_an_old_text_does_not_come_back(parts):
    """What says what was superseded is a duplicate of the successor."""
    old, new = await parts.accept("Pin react."), await parts.accept("Raise react.")
    await parts.memories.supersede(old, new)
    assert (await parts.memories.append(lesson_plan("Pin react!", request_id="again"))).duplicate_of == new
