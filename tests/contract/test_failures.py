"""What every store of failures does."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from mem.domain.accepting import LinkedSignature
from mem.domain.errors import NotFound
from mem.ports import LedgerKey, Reach, Seen, Settlement
from tests.contract.parts import signature

HERE = Reach("p", federated=False)
EVERYWHERE = Reach("p", federated=True)


async def test_link(parts):
    """Signatures point at a memory, are returned as given, listed by sha, and each is counted once."""
    sha = await parts.accept("lesson")
    given = [signature("b"), signature("a"), signature("b", message="again")]
    linked = await parts.failures.link(project="p", request_id="1", sha=sha, signatures=given)
    b, a = (LinkedSignature(sig_sha=name, tool="npm", rule="npm.rule") for name in "ba")
    assert linked == [b, a]
    assert await parts.failures.linked(sha) == [a, b]
    assert await parts.failures.seen(["a", "b"], HERE) == dict.fromkeys("ab", Seen(1, "2026-07-02"))


async def test_ten_links_at_once(parts):
    """Ten concurrent links of one request count once and return the same."""
    sha = await parts.accept("lesson")
    calls = [
        parts.failures.link(project="p", request_id="1", sha=sha, signatures=[signature(name) for name in names])
        for names in ("ab", "ba") * 5
    ]
    assert len({tuple(linked) for linked in await asyncio.gather(*calls)}) == 1
    assert (await parts.failures.seen(["a", "b"], HERE))["b"].times == 1


async def test_links_in_opposite_orders_at_once(parts):
    """Requests that link the same signatures in different orders do not block each other."""
    sha = await parts.accept("lesson")
    names = [f"s{number:02}" for number in range(20)]
    calls = [
        parts.failures.link(
            project="p", request_id=str(number), sha=sha,
            signatures=[signature(name) for name in (names if number % 2 else names[::-1])],
        )
        for number in range(10)
    ]  # fmt: skip
    await asyncio.gather(*calls)
    assert {seen.times for seen in (await parts.failures.seen(names, HERE)).values()} == {10}


async def test_link_needs_its_memory(parts):
    """Signatures of no memory are refused, and not counted."""
    with pytest.raises(NotFound):
        await parts.failures.link(project="p", request_id="1", sha="b" * 64, signatures=[signature("a")])
    assert await parts.failures.seen(["a"], EVERYWHERE) == {"a": Seen(0, None)}


async def test_link_without_signatures(parts):
    """An acceptance without signatures is journaled as such."""
    sha = await parts.accept("lesson")
    assert await parts.failures.link(project="p", request_id="1", sha=sha, signatures=[]) == []
    assert await parts.journal.find("signatures:accept:p:1") is not None


async def test_known_and_coarse(parts):
    """Strict keys find their nodes, superseded ones too; coarse keys find nodes once, within the limit."""
    first, second = await parts.accept("first"), await parts.accept("second")
    await parts.failures.link(
        project="p", request_id="1", sha=first, signatures=[signature("a", coarse="x"), signature("b", coarse="x")]
    )
    await parts.failures.link(project="p", request_id="2", sha=second, signatures=[signature("a", coarse="x")])
    await parts.accept("third", supersedes=(first,))
    assert (await parts.failures.known(["b", "a", "z"], HERE, 1)).hits == [
        *(("a", sha) for sha in sorted([first, second])),
        ("b", first),
    ]
    assert await parts.failures.coarse(["x"], HERE, 1, 9) == [("x", sha) for sha in sorted([first, second])]
    assert len(await parts.failures.coarse(["x"], HERE, 1, 1)) == 1


async def test_since_when_a_failure_is_known(parts):
    """The first day on which it was seen within reach, be it before anything was learned from it, and no later day."""
    parts.clock.advance(timedelta(days=-2))
    await _look_up(parts, "q", "before", signature("a"))
    parts.clock.advance(timedelta(days=2))
    sha = await parts.accept("lesson")
    await parts.failures.link(project="p", request_id="1", sha=sha, signatures=[signature("a")])
    parts.clock.advance(timedelta(days=1))
    await parts.failures.link(project="q", request_id="1", sha=sha, signatures=[signature("a"), signature("b")])
    assert (await parts.failures.known(["a", "b"], HERE, 1)).first_seen == {"a": "2026-07-02"}
    assert (await parts.failures.known(["a", "b"], EVERYWHERE, 1)).first_seen == {"a": "2026-06-30", "b": "2026-07-03"}
    assert (await parts.failures.known(["a"], EVERYWHERE, 1)).hits == [("a", sha)]


async def test_lookups_alone_say_nothing_of_since_when(parts):
    """A signature derived anew has no first day, or the first lookup would change what the second one tells."""
    sha = await parts.accept("lesson")
    await parts.failures.relink(sha, [signature("a")])
    await _look_up(parts, "p", "1", signature("a"), signature("z"))
    assert await parts.failures.known(["a", "z"], HERE, 1) == ([("a", sha)], {})
    assert (await parts.failures.seen(["a"], HERE))["a"].times == 1


async def _look_up(parts, project: str, request_id: str, *sightings) -> None:
    key = LedgerKey("context", project, request_id)
    await parts.ledger.settle(Settlement(key, "f", sightings, Reach(project, federated=False)), lambda _: b"")


async def test_seen_within_reach(parts):
    """Counts cover the own project, or all of them, and the last day on which it was seen."""
    sha = await parts.accept("lesson")
    await parts.failures.link(project="q", request_id="1", sha=sha, signatures=[signature("a")])
    parts.clock.advance(timedelta(days=1))
    await parts.failures.link(project="p", request_id="1", sha=sha, signatures=[signature("a")])
    parts.clock.advance(timedelta(days=-3))
    await parts.failures.link(project="q", request_id="2", sha=sha, signatures=[signature("a")])
    assert await parts.failures.seen(["a"], HERE) == {"a": Seen(1, "2026-07-03")}
    assert await parts.failures.seen(["a"], Reach("q", federated=False)) == {"a": Seen(2, "2026-07-02")}
    assert await parts.failures.seen(["a"], EVERYWHERE) == {"a": Seen(3, "2026-07-03")}
