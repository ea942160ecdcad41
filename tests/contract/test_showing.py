"""What every store tells of one memory."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node
from mem.ports import Document, LedgerKey, Reach, Settlement, ShowQuery
from tests.contract.parts import Parts, evidence, lesson_plan, signature
from tests.contract.rebuilding import write_some

TODAY = date(2026, 7, 2)


async def shown(parts: Parts, sha: str, *readable: str):
    return await parts.showing.shown(ShowQuery(sha, readable or None))


async def look_up(parts: Parts, *signatures, request_id: str, project: str = "p") -> None:
    key = LedgerKey("context", project, request_id)
    settlement = Settlement(key, "f", tuple(signatures), Reach(project, federated=True), ())
    await parts.ledger.settle(settlement, lambda _: b"")


def shas(kin) -> list[str]:
    return [one.sha for one in kin]


async def test_a_lesson_is_shown_with_all_that_belongs_to_it(parts):
    """Its text, projection and vectors, the request that brought it, and what it rests on, in order."""
    sha = await parts.accept("it was the proxy", request_id="r:1", evidence_texts=("it failed", "again"))
    made = MadeProjection(text="HTTP 413", model_id="m", prompt_sha="s")
    await parts.memories.put_projection(sha, made)
    await parts.memories.put_vectors("text", {sha: "it was the proxy"}, parts.embedder)
    found = await shown(parts, sha)
    assert found.model_dump(exclude={"parents"}) == {
        "sha": sha, "level": "L1", "project": "p", "text": "it was the proxy", "visibility": "global", "owner": None,
        "container": None, "source": None, "turn": None, "live": True,
        "accepted": {"request_id": "r:1", "at": "2026-07-02T12:00:00Z"}, "superseded_by": None, "successor": None,
        "supersedes": [], "projection": {"text": "HTTP 413", "model_id": "m", "prompt_sha": "s"}, "vectors": ["text"],
        "signatures": [], "children": [],
    }  # fmt: skip
    assert [kin.model_dump() for kin in found.parents] == [
        {"level": "L0", "sha": evidence(text, turn=turn).sha, "source": "log:1", "turn": turn, "title": text}
        for turn, text in enumerate(("it failed", "again"))
    ]
    await parts.memories.put_vectors("symptom", {sha: "HTTP 413"}, parts.embedder)
    assert (await shown(parts, sha)).vectors == ["text", "symptom"]


async def test_an_empty_projection_is_told_from_none(parts):
    """That none was made yet is null; that it was decided to be none is an empty text."""
    sha = await parts.accept("a decision")
    assert (await shown(parts, sha)).projection is None
    await parts.memories.put_projection(sha, MadeProjection(text="", model_id="m", prompt_sha="s"))
    assert (await shown(parts, sha)).projection.text == ""


async def test_edges_lead_both_ways(parts):
    """Evidence names the lessons it carries, a lesson its evidence and its syntheses, a synthesis its lessons."""
    one, two = await parts.accept("one"), await parts.accept("two", evidence_texts=("it failed", "x" * 9000))
    top = await parts.accept("top", level="L2", parents=(one, two), evidence_texts=())
    below = evidence("it failed", turn=0).sha
    assert shas((await shown(parts, below)).children) == sorted([one, two])
    assert shas((await shown(parts, one)).parents) == [below]
    assert shas((await shown(parts, one)).children) == [top]
    assert shas((await shown(parts, top)).parents) == sorted([one, two])
    long = evidence("x" * 9000, turn=1).sha
    assert (await shown(parts, long)).text == "x" * 9000
    assert 100 <= len(next(kin.title for kin in (await shown(parts, two)).parents if kin.sha == long)) <= 500


async def test_of_very_many_edges_the_first_are_told_and_the_others_counted(parts, monkeypatch):
    """In the order of all, in both directions; where all are told nothing is counted, and the document says nothing."""
    for place in ("mem.store.showing", "mem.testing.showing"):
        monkeypatch.setattr(f"{place}.MAX_KIN", 2)
    one, two = await parts.accept("one"), await parts.accept("two")
    everything = await parts.accept("top", evidence_texts=("a", "b", "c", "it failed"))
    below = evidence("it failed", turn=0).sha
    found = await shown(parts, everything)
    assert ([kin.turn for kin in found.parents], found.more_parents, found.more_children) == ([0, 1], 2, 0)
    assert "more_children" not in found.model_dump_json()
    three = await parts.accept("three")
    found = await shown(parts, below)
    assert (shas(found.children), found.more_children) == (sorted([one, two, three])[:2], 1)
    assert found.model_dump(mode="json")["more_children"] == 1


async def test_evidence_and_reference_are_nodes_of_their_own(parts):
    """They name their source, no request brought them as lessons, and what is shared is of no project."""
    await parts.accept("one")
    chunk = Node(level="R", project="*", text="page", source="doc.md#a")
    await parts.document(chunk, source="doc.md")
    below = await shown(parts, evidence("it failed", turn=0).sha)
    assert (below.source, below.turn, below.accepted, below.projection) == ("log:1", 0, None, None)
    page = await shown(parts, chunk.sha, "q")
    assert (page.level, page.project, page.source, page.accepted) == ("R", None, "doc.md#a", None)


async def test_a_chunk_that_its_document_lost_is_shown_as_no_longer_live(parts):
    """Its text and place stay to be read, and it has no vector; brought back it is live again."""
    chunk = Node(level="R", project="*", text="page", source="doc.md#a")
    for nodes, live in (((chunk,), True), ((), False), ((chunk,), True)):
        await parts.reference.put([Document("*", "doc.md", nodes)])
        found = await shown(parts, chunk.sha)
        assert (found.live, found.text, found.source, found.superseded_by) == (live, "page", "doc.md#a", None)
        await parts.memories.put_vectors("text", {chunk.sha: "page"}, parts.embedder)
        assert (await shown(parts, chunk.sha)).vectors == (["text"] if live else [])


async def test_the_first_acceptance_is_told(parts):
    """A duplicate that brings evidence later changes nothing of who brought the lesson, and when."""
    sha = await parts.accept("lesson", request_id="first")
    parts.clock.advance(timedelta(days=1))
    assert await parts.accept("LESSON", request_id="second", evidence_texts=("more",)) == sha
    found = await shown(parts, sha)
    assert found.accepted.model_dump() == {"request_id": "first", "at": "2026-07-02T12:00:00Z"}
    assert len(found.parents) == 2


async def test_sightings_are_told_by_project(parts):
    """Each signature with count and days over what may be read, and with those of each project, the busiest first."""
    sha = await parts.accept("lesson")
    one = signature("a", coarse="x", tool="npm", code="E1", message="it failed", algo=2)
    await parts.failures.relink(sha, [one, signature("b")])
    for day, project in enumerate("qpq"):
        await look_up(parts, one, request_id=str(day), project=project)
        parts.clock.advance(timedelta(days=1))
    first, second = (await shown(parts, sha)).signatures
    assert first.model_dump(exclude={"sightings"}) == {
        "sig_sha": "a", "sig_coarse": "x", "algo": 2, "tool": "npm", "rule": "npm.rule", "code": "E1",
        "message": "it failed", "seen_count": 3, "first_seen": TODAY, "last_seen": TODAY + timedelta(days=2),
    }  # fmt: skip
    assert [tuple(each.model_dump().values()) for each in first.sightings] == [
        ("q", 2, TODAY, TODAY + timedelta(days=2)),
        ("p", 1, TODAY + timedelta(days=1), TODAY + timedelta(days=1)),
    ]
    assert (second.sig_sha, second.seen_count, second.first_seen, second.sightings) == ("b", 0, None, [])
    only = (await shown(parts, sha, "p")).signatures[0]
    assert (only.seen_count, only.first_seen, [each.project for each in only.sightings]) == (
        1, TODAY + timedelta(days=1), ["p"],
    )  # fmt: skip


async def test_equal_counts_come_by_project(parts):
    """Sightings have a total order."""
    sha = await parts.accept("lesson")
    await parts.failures.relink(sha, [signature("a")])
    for project in "rqs":
        await look_up(parts, signature("a"), request_id="1", project=project)
    (found,) = (await shown(parts, sha)).signatures
    assert [each.project for each in found.sightings] == ["q", "r", "s"]


async def test_a_chain_of_successors_is_told_from_each_of_its_links(parts):
    """The direct successor, the newest live one, and all that a memory takes the place of, the oldest first."""
    first = await parts.accept("first")
    other = await parts.accept("another one")
    second = await parts.accept("second", supersedes=(first,))
    third = await parts.accept("third", supersedes=(second, other))
    told = [await shown(parts, sha) for sha in (first, second, third)]
    assert [(one.live, one.superseded_by, one.successor) for one in told] == [
        (False, second, third),
        (False, third, third),
        (True, None, None),
    ]
    assert [one.supersedes for one in told] == [[], [first], [first, *sorted([second, other])]]


async def test_what_is_not_for_everybody_is_not_there(parts):
    """A memory of a user or a container is neither found, nor named, nor told of at the end of an edge or a chain."""
    lesson = await parts.accept("lesson")
    mine = await parts.accept("mine", visibility="user", owner="u", level="L2", parents=(lesson,))
    boxed = await parts.accept("boxed", visibility="container", owner="u", container="c")
    for sha in mine, boxed, evidence("it failed", turn=0, visibility="user", owner="u").sha:
        assert await shown(parts, sha) is None
        assert await parts.showing.named(ShowQuery(sha[:8], None), 9) == []
    assert (await shown(parts, lesson)).children == []
    await parts.accept("newer", visibility="user", owner="u", supersedes=(lesson,))
    found = await shown(parts, lesson)
    assert (found.live, found.superseded_by, found.successor) == (False, None, None)
    over = await parts.accept("over a private one", level="L2", parents=(mine,), supersedes=(boxed,))
    found = await shown(parts, over)
    assert (shas(found.parents), found.supersedes) == ([evidence("it failed", turn=0).sha], [])


async def test_what_another_project_knows_is_not_there_for_who_may_not_read_it(parts):
    """The reach is an argument: other projects' memories are neither found nor named."""
    sha = await parts.accept("lesson", project="q")
    assert await shown(parts, sha, "p") is None
    assert await parts.showing.named(ShowQuery(sha, ("p",)), 9) == []
    assert (await shown(parts, sha, "p", "q")).project == "q"


async def test_no_node_is_none(parts):
    """A sha that nothing has, such as that of a candidate which was rejected."""
    await parts.accept("lesson")
    assert await shown(parts, Node(level="L1", project="p", text="rejected").sha) is None
    assert await parts.showing.named(ShowQuery("0" * 64, None), 9) == []


async def test_nodes_are_named_by_what_their_shas_begin_with(parts):
    """In the order of their shas, as many as asked for, of every level."""
    made = [await parts.accept(f"lesson {number}") for number in range(40)]
    digit = made[0][0]
    of_digit = sorted(sha for sha in [*made, evidence("it failed", turn=0).sha] if sha.startswith(digit))
    assert [one.sha for one in await parts.showing.named(ShowQuery(digit, None), 99)] == of_digit
    assert [one.sha for one in await parts.showing.named(ShowQuery(digit, None), 1)] == of_digit[:1]
    assert [(one.sha, one.level) for one in await parts.showing.named(ShowQuery(made[3], None), 9)] == [(made[3], "L1")]


async def test_fakes_and_postgres_show_the_same(both):
    """Every node of a journal with all kinds of records, whoever asks."""
    known = [await write_some(parts) for parts in both]
    assert known[0] == known[1]
    fakes, postgres = both
    everything = sorted(fakes.memories._state.nodes)
    assert len(everything) > 8
    for sha in everything:
        for readable in (None, ("p",), ("q",), ()):
            query = ShowQuery(sha, readable)
            found = await fakes.showing.shown(query)
            assert await postgres.showing.shown(query) == found, query
            named = await fakes.showing.named(query._replace(sha=sha[:1]), 3)
            assert await postgres.showing.named(query._replace(sha=sha[:1]), 3) == named


@pytest.mark.parametrize("seed", range(4))
async def test_fakes_and_postgres_show_the_same_whatever_was_superseded(both, seed):
    """Chains that fork backwards, private links among them, and edges between all levels."""
    for parts in both:
        chance, live = random.Random(seed), []
        for number in range(24):
            hidden = {"visibility": "user", "owner": "u"} if chance.random() < 0.25 else {}
            old = tuple(live.pop(chance.randrange(len(live))) for _ in range(min(chance.randrange(3), len(live))))
            parents = tuple(chance.sample(live, min(len(live), 2)))
            plan = lesson_plan(
                f"lesson {number} {chance.getrandbits(64):x} {chance.getrandbits(64):x}", request_id=str(number),
                project=chance.choice("pq"), level="L2" if parents else "L1", parents=parents, supersedes=old, **hidden,
            )  # fmt: skip
            live.append((await parts.memories.append(plan)).sha)
    fakes, postgres = both
    for sha in sorted(fakes.memories._state.nodes):
        for readable in (None, ("p",)):
            query = ShowQuery(sha, readable)
            assert await postgres.showing.shown(query) == await fakes.showing.shown(query), query
