"""What every store of failures does with rows of more than one version of the key algorithm."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import NotFound
from mem.domain.rebuild import Compared
from mem.ports import Reach, Seen
from tests.contract.parts import Parts, signature

HERE = Reach("p", federated=False)


async def link(parts: Parts, sha: str, *signatures, request_id: str = "1") -> None:
    await parts.failures.link(project="p", request_id=request_id, sha=sha, signatures=list(signatures))


async def test_rows_of_both_versions_answer(parts):
    """Strict and coarse keys of an earlier version find a memory that has none of the current one."""
    old, new = await parts.accept("old"), await parts.accept("new")
    await link(parts, old, signature("a1", coarse="x1", algo=1), request_id="1")
    await link(parts, new, signature("a2", coarse="x2", algo=2), request_id="2")
    assert (await parts.failures.known(["a2", "a1"], HERE, 2)).hits == [("a1", old), ("a2", new)]
    assert await parts.failures.coarse(["x2", "x1"], HERE, 2, 9) == [("x1", old), ("x2", new)]


async def test_a_memory_with_current_rows_answers_to_those_alone(parts):
    """Old rows stay but do not count once there are current ones; a worker of an older release still finds them."""
    sha, other = await parts.accept("lesson"), await parts.accept("other")
    await link(parts, sha, signature("a1", coarse="x1", algo=1), request_id="1")
    await link(parts, other, signature("a1", coarse="x1", algo=1), request_id="2")
    await parts.failures.relink(sha, [signature("a2", coarse="x2", algo=2)])
    assert (await parts.failures.known(["a2", "a1"], HERE, 2)).hits == [("a1", other), ("a2", sha)]
    assert await parts.failures.coarse(["x2", "x1"], HERE, 2, 9) == [("x1", other), ("x2", sha)]
    both = sorted([sha, other])
    assert (await parts.failures.known(["a1"], HERE, 1)).hits == [("a1", one) for one in both]
    assert await parts.failures.coarse(["x1"], HERE, 1, 9) == [("x1", one) for one in both]


async def test_each_version_of_a_key_tells_its_own_first_day(parts):
    """Deriving a failure anew leaves the day since when it is known under the earlier key."""
    sha = await parts.accept("lesson")
    await link(parts, sha, signature("a1", algo=1))
    before = (await parts.failures.known(["a2", "a1"], HERE, 2)).first_seen
    await parts.failures.relink(sha, [signature("a2", algo=2)])
    assert (await parts.failures.known(["a2", "a1"], HERE, 2)).first_seen == before == {"a1": "2026-07-02"}


async def test_relinking_is_journaled_and_counts_nothing(parts):
    """Signatures that are derived anew have a record of their own, which is no sighting; old links stay."""
    sha = await parts.accept("lesson")
    await link(parts, sha, signature("a1", algo=1))
    found = await parts.failures.relink(sha, [signature("b2", algo=2), signature("a2", algo=2)])
    assert found == Compared(new=2, changed=0, unchanged=0)
    assert [one.sig_sha for one in await parts.failures.linked(sha)] == ["a1", "a2", "b2"]
    *_, last = [record async for record in parts.journal.read()]
    assert (last.kind, last.key, last.data["sha"]) == ("signatures", f"signatures:derived:{sha}:1", sha)
    assert [one["sig_sha"] for one in last.data["signatures"]] == ["b2", "a2"]
    assert await parts.failures.seen(["a1", "a2"], HERE) == {"a1": Seen(1, "2026-07-02"), "a2": Seen(0, None)}


async def test_relinking_again_changes_nothing(parts):
    """The second time all is as it should be, and so says a comparison, which writes nothing itself."""
    sha = await parts.accept("lesson")
    derived = [signature("a"), signature("b"), signature("a", excerpt="again")]
    assert await parts.failures.compare(sha, derived) == Compared(new=2)
    assert await parts.failures.linked(sha) == []
    assert await parts.failures.relink(sha, derived) == Compared(new=2)
    assert await parts.failures.compare(sha, derived) == Compared(unchanged=2)
    before = await parts.bodies()
    assert await parts.failures.relink(sha, derived) == Compared(unchanged=2)
    assert await parts.failures.relink(sha, []) == Compared()
    assert await parts.bodies() == before


async def test_a_return_to_earlier_signatures_is_journaled_too(parts):
    """Rules may change and change back: each derivation that changed something has its record, in order."""
    sha = await parts.accept("lesson")
    for message in "one", "two", "one":
        await parts.failures.relink(sha, [signature("a", message=message)])
    keys = [record.key async for record in parts.journal.read() if record.kind == "signatures"]
    assert keys == [f"signatures:derived:{sha}:{revision}" for revision in (1, 2, 3)]


async def test_a_link_that_is_missing_is_new(parts):
    """A signature that is known through another memory still has to point at this one."""
    one, other = await parts.accept("one"), await parts.accept("other")
    await parts.failures.relink(one, [signature("a")])
    assert await parts.failures.compare(other, [signature("a")]) == Compared(new=1)
    await parts.failures.relink(other, [signature("a")])
    assert (await parts.failures.known(["a"], HERE, 1)).hits == [("a", sha) for sha in sorted([one, other])]


@pytest.mark.parametrize(
    "wrong", [{"coarse": "y"}, {"algo": 2}, {"tool": "go"}, {"code": "E1"}, {"message": "other"}], ids=str
)
async def test_a_row_that_differs_is_corrected(parts, wrong):
    """What identifies a failure is put right; envelope and excerpt are those of the first sighting, no difference."""
    sha = await parts.accept("lesson")
    await link(parts, sha, signature("a", **wrong))
    right = signature("a", envelope="travis", excerpt="of another log")
    assert await parts.failures.compare(sha, [right]) == Compared(changed=1)
    assert await parts.failures.relink(sha, [right]) == Compared(changed=1)
    assert await parts.failures.relink(sha, [right]) == Compared(unchanged=1)


async def test_relinking_needs_its_memory(parts):
    """Nothing is written for a memory that does not exist."""
    with pytest.raises(NotFound):
        await parts.failures.relink("b" * 64, [signature("a")])


async def test_relinking_beside_links(parts):
    """Rebuilds and acceptances at once, in opposite orders, end in the same rows and in exact counts."""
    sha = await parts.accept("lesson")
    names = [f"s{number:02}" for number in range(20)]
    calls = []
    for number in range(10):
        given = [signature(name) for name in (names if number % 2 else names[::-1])]
        calls.append(link(parts, sha, *given, request_id=str(number)))
        calls.append(parts.failures.relink(sha, given))
    await asyncio.gather(*calls)
    assert [one.sig_sha for one in await parts.failures.linked(sha)] == names
    assert {seen.times for seen in (await parts.failures.seen(names, HERE)).values()} == {10}
    assert await parts.failures.compare(sha, [signature(name) for name in names]) == Compared(unchanged=20)


async def test_lessons_come_page_by_page(parts):
    """L1 and L2 in the order of their shas, superseded ones too, evidence and reference not."""
    one = await parts.accept("one")
    shas = sorted([one, await parts.accept("two", supersedes=(one,)), await parts.accept("three", level="L2")])
    assert await parts.memories.lessons("", 2) == shas[:2]
    assert await parts.memories.lessons(shas[1], 2) == shas[2:]
    assert await parts.memories.lessons(shas[2], 2) == []
