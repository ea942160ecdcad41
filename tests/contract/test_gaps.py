"""What every store of failures tells of those that no memory explains."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from mem.ports import GapQuery, LedgerKey, Reach, Settlement
from tests.contract.parts import Parts, signature

TODAY = date(2026, 7, 2)
ALL = GapQuery(counted=None, readable=None, tool=None, since=None, limit=20, algo=1)


async def look_up(parts: Parts, *signatures, request_id: str, project: str = "p") -> None:
    """Answer a lookup that saw these signatures."""
    key = LedgerKey("context", project, request_id)
    await parts.ledger.settle(
        Settlement(key, "f", tuple(signatures), Reach(project, federated=True), ()), lambda _: b""
    )


async def link(parts: Parts, sha: str, *signatures, project: str = "p") -> None:
    await parts.failures.link(project=project, request_id=f"link-{sha}", sha=sha, signatures=list(signatures))


async def names(parts: Parts, query: GapQuery = ALL) -> list[str]:
    return [gap.sig_sha for gap in (await parts.failures.gaps(query)).gaps]


async def test_a_failure_without_a_memory_is_a_gap(parts):
    """It tells what identifies it, how often and between which days it was seen, and where, the busiest place first."""
    one = signature("a", coarse="x", tool="npm", code="E1", message="it failed")
    await look_up(parts, one, request_id="1", project="q")
    parts.clock.advance(timedelta(days=1))
    await look_up(parts, one, request_id="1")
    await look_up(parts, one, request_id="2")
    await look_up(parts, one, request_id="2")
    found = await parts.failures.gaps(ALL)
    assert found.total == 1
    assert found.gaps[0].model_dump() == {
        "sig_sha": "a",
        "sig_coarse": "x",
        "tool": "npm",
        "rule": "npm.rule",
        "code": "E1",
        "message": "it failed",
        "seen_count": 3,
        "first_seen": TODAY,
        "last_seen": TODAY + timedelta(days=1),
        "projects": ["p", "q"],
        "variants": 0,
        "known_variants": 0,
    }


async def test_a_failure_with_a_memory_is_none(parts):
    """A link to a live memory closes the gap, and so for every project."""
    await look_up(parts, signature("a"), signature("b"), request_id="1", project="q")
    assert await names(parts) == ["a", "b"]
    await link(parts, await parts.accept("lesson"), signature("a"))
    assert await names(parts) == ["b"]
    assert await names(parts, ALL._replace(counted=("q",))) == ["b"]


async def test_what_nobody_saw_is_none(parts):
    """A signature that a rebuild derived was seen by nobody."""
    sha = await parts.accept("lesson", visibility="user", owner="u")
    await parts.failures.relink(sha, [signature("a")])
    assert await parts.failures.gaps(ALL) == ([], 0)


async def test_a_superseded_memory_explains_through_its_live_successor(parts):
    """Over a chain too; where nobody may read its end, or it has none, the gap is open."""
    first = await parts.accept("first")
    await link(parts, first, signature("a"))
    second = await parts.accept("second", supersedes=(first,))
    assert await names(parts) == []
    await parts.accept("third", supersedes=(second,), visibility="user", owner="u")
    assert await names(parts) == ["a"]


async def test_a_memory_that_is_not_for_everybody_explains_nothing(parts):
    """Neither one of a user nor one of a container closes a gap for those who may not read it."""
    await link(parts, await parts.accept("own", visibility="user", owner="u"), signature("a"))
    boxed = await parts.accept("boxed", visibility="container", owner="u", container="c")
    await link(parts, boxed, signature("b"))
    assert await names(parts) == ["a", "b"]


async def test_what_the_caller_may_not_read_neither_explains_nor_counts(parts):
    """A memory of another project closes the gap only for who may read it; sightings count in the given projects."""
    sha = await parts.accept("lesson", project="q")
    await link(parts, sha, signature("a"), project="q")
    for project in "pq":
        await look_up(parts, signature("a"), signature("b"), request_id="1", project=project)
    assert await names(parts, ALL._replace(counted=("p",))) == ["b"]
    (a, b) = (await parts.failures.gaps(ALL._replace(counted=("p",), readable=("p",)))).gaps
    assert [(gap.sig_sha, gap.seen_count, gap.projects) for gap in (a, b)] == [("a", 1, ["p"]), ("b", 1, ["p"])]
    assert await names(parts, ALL._replace(counted=("p",), readable=("p", "q"))) == ["b"]
    assert await parts.failures.gaps(ALL._replace(counted=())) == ([], 0)


async def test_gaps_have_a_total_order_and_a_limit(parts):
    """By count, then by last day, then by signature; those beyond the limit are counted."""
    for request_id, seen in enumerate(("d", "dab", "abc", "c")):
        await look_up(parts, *(signature(name) for name in seen), request_id=str(request_id))
        parts.clock.advance(timedelta(days=1))
    assert await names(parts) == ["c", "a", "b", "d"]
    for limit in range(1, 6):
        found = await parts.failures.gaps(ALL._replace(limit=limit))
        assert ([gap.sig_sha for gap in found.gaps], found.total) == (["c", "a", "b", "d"][:limit], 4)


async def test_gaps_of_a_tool(parts):
    """The name is taken as it is."""
    await look_up(parts, signature("a", tool="npm"), signature("b", tool="go"), request_id="1")
    assert await names(parts, ALL._replace(tool="go")) == ["b"]
    assert await names(parts, ALL._replace(tool="Go")) == []


async def test_gaps_since_a_day_count_from_that_day(parts):
    """Earlier sightings and the places that had only those do not count; the first day of all stays."""
    await look_up(parts, signature("a"), signature("b"), request_id="1", project="q")
    parts.clock.advance(timedelta(days=3))
    await look_up(parts, signature("a"), request_id="2")
    since = TODAY + timedelta(days=3)
    (gap,) = (await parts.failures.gaps(ALL._replace(since=since))).gaps
    assert (gap.seen_count, gap.first_seen, gap.last_seen, gap.projects) == (1, TODAY, since, ["p"])
    assert await names(parts, ALL._replace(since=TODAY)) == ["a", "b"]
    assert await names(parts, ALL._replace(since=since + timedelta(days=1))) == []


async def test_the_first_day_is_the_earliest_whatever_was_counted_first(parts):
    """Workers whose clocks differ, or whose answers were stored late, leave the same days."""
    await look_up(parts, signature("a"), request_id="1")
    parts.clock.advance(timedelta(days=-4))
    await look_up(parts, signature("a"), request_id="2")
    (gap,) = (await parts.failures.gaps(ALL)).gaps
    assert (gap.first_seen, gap.last_seen) == (TODAY - timedelta(days=4), TODAY)


async def test_variants_are_gaps_of_their_own(parts):
    """Signatures of one coarse key stand side by side, and each says how many are like it, and how many explained."""
    await look_up(parts, *(signature(name, coarse="x") for name in "abc"), signature("d", coarse="y"), request_id="1")
    await link(parts, await parts.accept("lesson"), signature("c", coarse="x"))
    found = (await parts.failures.gaps(ALL._replace(limit=1))).gaps + (await parts.failures.gaps(ALL)).gaps[1:]
    assert [(gap.sig_sha, gap.variants, gap.known_variants) for gap in found] == [("a", 1, 1), ("b", 1, 1), ("d", 0, 0)]


# --- more than one version of the key algorithm ---


async def test_an_earlier_signature_of_a_rebuilt_memory_is_no_gap(parts):
    """Its memory answers to the current one, whatever the two say; a rebuild opens no gap."""
    sha = await parts.accept("lesson")
    await link(parts, sha, signature("a1", algo=1, message="old wording"))
    await parts.failures.relink(sha, [signature("a2", algo=2, message="new wording")])
    assert await names(parts, ALL._replace(algo=2)) == []


async def test_an_earlier_signature_gives_way_to_the_current_one(parts):
    """Once a failure is seen under the current version it is told under that alone, known or not."""
    await look_up(parts, signature("a1", algo=1), signature("b1", algo=1, message="other"), request_id="1")
    assert await names(parts, ALL._replace(algo=2)) == ["a1", "b1"]
    await look_up(parts, signature("a2", algo=2), request_id="2")
    assert await names(parts, ALL._replace(algo=2)) == ["a2", "b1"]
    await link(parts, await parts.accept("lesson"), signature("a2", algo=2))
    assert await names(parts, ALL._replace(algo=2)) == ["b1"]


@pytest.mark.parametrize("wrong", [{"tool": "go"}, {"code": "E1"}, {"message": "other"}, {"rule": "r"}], ids=str)
async def test_what_says_something_else_gives_way_to_nothing(parts, wrong):
    """Tool, rule, code and message all have to be equal."""
    other = signature("b1", algo=1).model_copy(update=wrong)
    await look_up(parts, signature("a2", algo=2), other, request_id="1")
    assert await names(parts, ALL._replace(algo=2)) == ["a2", "b1"]


async def test_a_memory_that_waits_for_its_rebuild_explains_the_current_signature(parts):
    """What lookups find by its earlier key is no gap; once the memory has current ones, only those count."""
    sha = await parts.accept("lesson")
    await link(parts, sha, signature("a1", algo=1))
    await look_up(parts, signature("a2", algo=2), request_id="1")
    assert await names(parts, ALL._replace(algo=2)) == []
    await parts.failures.relink(sha, [signature("b2", algo=2, message="other")])
    assert await names(parts, ALL._replace(algo=2)) == ["a2"]


# --- both stores ---


@pytest.mark.parametrize("seed", [0, 4, *(pytest.param(more, marks=pytest.mark.slow) for more in (1, 2, 3, 5))])
async def test_fakes_and_postgres_tell_the_same_gaps(both, seed):
    """Whatever was seen, linked, superseded and hidden, and however it is asked."""
    for parts in both:
        await _live(parts, random.Random(seed))
    chance = random.Random(seed)
    for _ in range(40):
        query = GapQuery(
            counted=chance.choice([None, ("p",), ("p", "q"), ()]),
            readable=chance.choice([None, None, ("p",), ("q",)]),
            tool=chance.choice([None, None, "npm"]),
            since=chance.choice([None, TODAY, TODAY + timedelta(days=chance.randrange(9))]),
            limit=chance.choice([1, 3, 50]),
            algo=chance.choice([1, 2]),
        )
        fakes, postgres = [await parts.failures.gaps(query) for parts in both]
        assert fakes == postgres, query


async def _live(parts: Parts, chance: random.Random) -> None:
    """Some days of lookups, acceptances and supersessions."""
    pool = [
        signature(f"s{n:02}", coarse=f"c{n % 5}", tool=chance.choice(["npm", "go"]), algo=chance.choice([1, 2]),
                  message=f"m{n % 4}", code=chance.choice([None, "E1"]))
        for n in range(20)
    ]  # fmt: skip
    live: list[str] = []
    for day in range(8):
        for number in range(4):
            seen, project = chance.sample(pool, 3), chance.choice("pqr")
            await look_up(parts, *seen, request_id=f"{day}-{number}", project=project)
        project = chance.choice("pqr")
        hidden = {"visibility": "user", "owner": "u"} if chance.random() < 0.2 else {}
        superseded = (live.pop(),) if live and chance.random() < 0.4 else ()
        text = f"lesson {chance.getrandbits(64):x} of day {day} {chance.getrandbits(64):x}"
        live.append(await parts.accept(text, project=project, supersedes=superseded, **hidden))
        await link(parts, live[-1], *chance.sample(pool, 2), project=project)
        parts.clock.advance(timedelta(days=1))
