"""What a user's next turn may be grounded in, in every store: each read within an audience."""

from __future__ import annotations

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.errors import ModelMismatch, NotFound
from mem.parsing.terms import asked_terms
from mem.ports import Audience, KnownUser, Neighbour
from tests.contract.parts import Parts, signature

ANN = Audience("ann", "user")
ANN_GLOBAL = Audience("ann", "user_global")
ANN_ALL = Audience("ann", "user_global_container", containers=("c1",))
SCOPES = (ANN, ANN_GLOBAL, ANN_ALL)
ASKED = "lockfile"


async def remember(parts: Parts, text: str, **fields) -> str:
    """A lesson with its vector and its line in the summary of its owner."""
    sha = await parts.accept(text, request_id=f"{text} {fields}", **{"evidence_texts": (text,), **fields})
    await parts.memories.put_vectors("text", {sha: text}, parts.embedder)
    await parts.users.refresh_snapshot(sha)
    return sha


async def nearest(parts: Parts, audience: Audience, text: str = ASKED, limit: int = 20) -> list[str]:
    (vector,) = await parts.embedder.embed([text])
    return [hit.sha for hit in await parts.users.nearest("text", vector, audience, limit)]


async def words(parts: Parts, audience: Audience, text: str = ASKED, limit: int = 20) -> list[str]:
    hits = await parts.users.words(asked_terms(text, failing=False), audience, limit)
    return [hit.sha for hit in hits]


async def lines(parts: Parts, audience: Audience) -> list[str]:
    return [entry.line for entry in await parts.users.snapshot(audience)]


async def everybodys(parts: Parts) -> dict[str, str]:
    """A lesson of each kind, all of them about the lockfile."""
    kinds = {
        "mine": {"owner": "ann", "visibility": "user"},
        "mine for all": {"owner": "ann", "visibility": "global"},
        "mine in c1": {"owner": "ann", "visibility": "container", "container": "c1"},
        "mine in c2": {"owner": "ann", "visibility": "container", "container": "c2"},
        "bens": {"owner": "ben", "visibility": "user"},
        "bens for all": {"owner": "ben", "visibility": "global", "container": "c1"},
        "bens in c1": {"owner": "ben", "visibility": "container", "container": "c1"},
        "nobodys": {},
    }
    return {name: await remember(parts, f"lockfile pinned by {name}", **fields) for name, fields in kinds.items()}


READ = {
    "user": {"mine", "mine for all"},
    "user_global": {"mine", "mine for all", "bens for all", "nobodys"},
    "user_global_container": {"mine", "mine for all", "bens for all", "nobodys", "mine in c1"},
}


@pytest.mark.parametrize("audience", SCOPES, ids=lambda audience: audience.scope)
async def test_each_scope_reads_what_it_should_and_nothing_else(parts, audience):
    """By vectors, words and labels alike; the summary is of the user's own lessons among these."""
    shas = await everybodys(parts)
    await parts.failures.link(project="p", request_id="1", sha=shas["bens"], signatures=[signature("s")])
    wanted = {shas[name] for name in READ[audience.scope]}
    assert set(await nearest(parts, audience)) == wanted
    assert set(await words(parts, audience)) == wanted
    assert set(await parts.users.labelled(["p", "npm"], audience, 20)) == wanted
    own = {shas[name] for name in READ[audience.scope] if name.startswith("mine")}
    assert {entry.sha for entry in await parts.users.snapshot(audience)} == own


async def test_only_readable_projects_are_read_and_what_all_share(parts):
    here = await remember(parts, "lockfile here", owner="ann", visibility="user")
    there = await remember(parts, "lockfile there", project="q", owner="ann", visibility="user")
    theirs = await remember(parts, "lockfile of others", project="q")
    shared = await remember(parts, "lockfile for all", project="*")
    for number, sha in enumerate((here, there, theirs, shared)):
        await parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=[signature("s")])
    for readable, wanted in ((("p",), {here, shared}), (("q",), {there, theirs, shared}), ((), {shared})):
        audience = ANN_GLOBAL._replace(readable=readable)
        assert set(await nearest(parts, audience)) == wanted
        assert set(await words(parts, audience)) == wanted
        for labels in (["p", "q", "*"], ["npm"]):
            assert set(await parts.users.labelled(labels, audience, 20)) == wanted
        entries = await parts.users.snapshot(audience)
        assert {entry.sha for entry in entries} == wanted & {here, there}
        assert await parts.users.known(audience) == KnownUser(bool(wanted & {here, there}), ())


async def test_a_user_is_known_by_a_lesson_and_a_container_by_one_that_carries_it(parts):
    audience = Audience("ann", "user", containers=("c9", "c2", "c1"))
    assert await parts.users.known(audience) == KnownUser(found=False, containers=())
    await everybodys(parts)
    assert await parts.users.known(audience) == KnownUser(found=True, containers=("c2", "c1"))
    assert await parts.users.known(audience._replace(user="ben")) == KnownUser(found=True, containers=("c1",))
    assert await parts.users.known(audience._replace(user="zoe")) == KnownUser(found=False, containers=())
    assert await parts.users.known(audience._replace(readable=("q",))) == KnownUser(found=False, containers=())


async def test_a_user_whose_lesson_another_one_superseded_is_still_known(parts):
    old = await remember(parts, "lockfile pinned", owner="ann", container="c1")
    new = await remember(parts, "lockfile pinned anew", owner="ben", supersedes=(old,))
    assert await parts.users.known(ANN_ALL) == KnownUser(found=True, containers=("c1",))
    assert await nearest(parts, ANN) == await words(parts, ANN) == await lines(parts, ANN) == []
    assert await nearest(parts, ANN_GLOBAL) == await words(parts, ANN_GLOBAL) == [new]


async def test_nothing_is_read_for_an_unknown_user_but_what_is_for_everybody(parts):
    shas = await everybodys(parts)
    zoe = ANN_ALL._replace(user="zoe")
    wanted = {shas["mine for all"], shas["bens for all"], shas["nobodys"]}
    assert set(await nearest(parts, zoe)) == set(await words(parts, zoe)) == wanted
    assert await nearest(parts, zoe._replace(scope="user")) == await words(parts, zoe._replace(scope="user")) == []
    assert await parts.users.snapshot(zoe) == []


async def test_a_hit_on_a_superseded_lesson_yields_its_newest_successor(parts):
    """With the similarity of the hit, once, and by whatever found it."""
    first = await remember(parts, "lockfile", owner="ann", visibility="user")
    second = await remember(parts, "pinned", owner="ann", visibility="user", supersedes=(first,))
    third = await remember(parts, "something else", owner="ann", visibility="user", supersedes=(second,))
    await parts.failures.link(project="p", request_id="1", sha=first, signatures=[signature("s")])
    (vector,) = await parts.embedder.embed(["lockfile"])
    (hit,) = await parts.users.nearest("text", vector, ANN, 5)
    assert (hit.sha, round(hit.similarity, 2)) == (third, 1.0)
    assert await words(parts, ANN, "lockfile pinned") == [third]
    assert await parts.users.labelled(["npm"], ANN, 5) == [third]
    assert await lines(parts, ANN) == ["something else"]


async def test_a_successor_that_the_audience_may_not_read_is_no_hit(parts):
    """What superseded a lesson for everybody may itself be of a project, or an owner, that is out of reach."""
    old = await remember(parts, "lockfile", owner="ann")
    await remember(parts, "pinned", owner="ben", supersedes=(old,))
    (vector,) = await parts.embedder.embed(["lockfile"])
    assert await parts.users.nearest("text", vector, ANN, 5) == []
    assert await words(parts, ANN) == []


async def test_a_lesson_of_a_container_out_of_reach_brings_no_successor(parts):
    """What the audience may not read is no hit at all, though what stands for it may be read."""
    old = await remember(parts, "lockfile", owner="ann", visibility="container", container="c2")
    new = await remember(parts, "pinned", owner="ann", visibility="user", supersedes=(old,))
    for audience, wanted in ((ANN_ALL, []), (ANN_ALL._replace(containers=("c2",)), [new])):
        assert await words(parts, audience) == wanted
        assert await parts.users.labelled(["c2"], audience, 9) == wanted
        (vector,) = await parts.embedder.embed(["lockfile"])
        hits = await parts.users.nearest("text", vector, audience, 9)
        assert [hit.sha for hit in hits if hit.similarity > 0.9] == wanted


async def test_many_superseded_lessons_leave_room_for_those_that_are_live(parts):
    """However many hits stand for one and the same lesson, as many lessons come as are wanted."""
    standing = None
    for number in range(30):
        old = () if standing is None else (standing,)
        standing = await remember(parts, f"lockfile {number}", owner="ann", visibility="user", supersedes=old)
    other = await remember(parts, "lockfile and many other words besides", owner="ann", visibility="user")
    assert await nearest(parts, ANN, limit=2) == [standing, other]
    assert await words(parts, ANN, limit=2) == [standing, other]


async def test_ties_are_ordered_by_sha(parts):
    shas = [await remember(parts, f"lockfile {letter}", owner="ann", visibility="user") for letter in "abcdef"]
    for sha in shas:
        await parts.memories.put_vectors("symptom", {sha: "E1"}, parts.embedder)
    (vector,) = await parts.embedder.embed(["E1"])
    hits = await parts.users.nearest("symptom", vector, ANN, 4)
    assert [hit.sha for hit in hits] == sorted(shas)[:4]
    assert await words(parts, ANN, limit=3) == sorted(shas)[:3]
    assert await parts.users.labelled(["p"], ANN, 3) == sorted(shas)[:3]


async def test_a_vector_of_another_model_is_refused(parts):
    await remember(parts, "lockfile", owner="ann")
    with pytest.raises(ModelMismatch):
        await parts.users.nearest("text", [1.0, 0.0], ANN, 5)


async def test_words_weigh_what_they_weigh_among_what_the_audience_reads(parts):
    """What others keep to themselves changes no score; what is for everybody does, for who reads it."""
    await remember(parts, "kong drops uploads", owner="ann", visibility="user")
    await remember(parts, "lockfile pinned", owner="ann", visibility="user")

    async def score(audience: Audience) -> float:
        terms = asked_terms("kong lockfile", failing=False)
        return {hit.sha: hit.own for hit in await parts.users.words(terms, audience, 5)}[mine]

    mine = (await words(parts, ANN, "kong"))[0]
    alone, together = await score(ANN), await score(ANN_GLOBAL)
    for number in range(9):
        await remember(parts, f"kong says {number}", owner="ben", visibility="user")
        await remember(parts, f"kong tells {number}", owner="ann", visibility="container", container="c2")
        await remember(parts, f"kong shows {number}", project="q")
    here = ANN_GLOBAL._replace(readable=("p",))
    assert await score(ANN) == alone
    assert await score(here) == together
    assert await score(ANN_GLOBAL) < together


async def test_words_find_a_lesson_by_its_projection(parts):
    sha = await remember(parts, "bodies are buffered", owner="ann", visibility="user")
    assert await words(parts, ANN, "ERESOLVE") == []
    await parts.memories.put_projection(sha, MadeProjection(text="npm ERR! ERESOLVE", model_id="m", prompt_sha="s"))
    assert await words(parts, ANN, "ERESOLVE") == [sha]
    assert await words(parts, ANN, "") == await words(parts, ANN, "xylophone") == []


async def test_labels_are_tools_projects_and_containers(parts):
    """More labels come first, then the user's own; a container of another user's is no label."""
    fields = {"project": "web", "owner": "ann", "visibility": "user"}
    tool = await remember(parts, "one", **fields)
    both = await remember(parts, "two", **{**fields, "container": "c1"})
    theirs = await remember(parts, "three", project="web", owner="ben", container="c1")
    other = await remember(parts, "four", project="api")
    await parts.failures.link(project="web", request_id="1", sha=tool, signatures=[signature("s", tool="go")])
    await parts.failures.link(project="web", request_id="2", sha=other, signatures=[signature("t", tool="go")])
    assert await parts.users.labelled(["web", "c1"], ANN_GLOBAL, 9) == [both, tool, theirs]
    assert await parts.users.labelled(["c1"], ANN_GLOBAL, 9) == [both]
    assert await parts.users.labelled(["go"], ANN_GLOBAL, 9) == [tool, other]
    assert await parts.users.labelled(["go", "web"], ANN_GLOBAL, 1) == [tool]
    assert await parts.users.labelled(["go", "api"], ANN_GLOBAL, 1) == [other]
    assert await parts.users.labelled([], ANN_GLOBAL, 9) == await parts.users.labelled(["x"], ANN_GLOBAL, 9) == []


async def test_edges_tie_a_synthesis_to_its_lessons_and_these_to_each_other(parts):
    own = {"owner": "ann", "visibility": "user"}
    one, two = [await remember(parts, text, evidence_texts=("same log",), **own) for text in ("one", "two")]
    three = await remember(parts, "three", **own)
    top = await remember(parts, "top", level="L2", parents=(two, three), evidence_texts=(), **own)
    assert await parts.users.neighbours([two], ANN, 9) == by_sha(
        Neighbour(one, two, "edge"), Neighbour(top, two, "edge")
    )
    assert await parts.users.neighbours([top], ANN, 9) == by_sha(
        Neighbour(two, top, "edge"), Neighbour(three, top, "edge")
    )
    assert {hit.sha for hit in await parts.users.neighbours([one, three], ANN, 9)} == {two, top}
    assert len(await parts.users.neighbours([two, top], ANN, 1)) == 2
    assert await parts.users.neighbours([], ANN, 9) == await parts.users.neighbours(["f" * 64], ANN, 9) == []


async def test_lessons_of_one_synthesis_are_tied_by_the_lessons_that_it_shares_with_another(parts):
    """Two syntheses over one lesson share a parent."""
    below = await remember(parts, "below")
    tops = [await remember(parts, text, level="L2", parents=(below,), evidence_texts=()) for text in ("top", "more")]
    assert await parts.users.neighbours(tops[:1], ANN_GLOBAL, 9) == by_sha(
        Neighbour(below, tops[0], "edge"), Neighbour(tops[1], tops[0], "edge")
    )


async def test_signatures_tie_lessons(parts):
    one = await remember(parts, "one", owner="ann", visibility="user")
    two = await remember(parts, "two")
    bens = await remember(parts, "three", owner="ben", visibility="user")
    for number, sha in enumerate((one, two, bens)):
        await parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=[signature("s")])
    assert await parts.users.neighbours([one], ANN_GLOBAL, 9) == [Neighbour(two, one, "signature")]
    assert await parts.users.neighbours([one], ANN, 9) == []
    assert await parts.users.neighbours([bens], ANN_GLOBAL, 9) == []


async def test_signatures_of_an_earlier_algorithm_tie_what_has_none_of_the_current_one(parts):
    shas = [await remember(parts, text) for text in ("one", "two", "three")]
    for number, sha in enumerate(shas):
        found = [signature("earlier", algo=0)]
        await parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=found)
    await parts.failures.relink(shas[0], [signature("s1")])
    await parts.failures.relink(shas[1], [signature("s2")])
    assert [hit.sha for hit in await parts.users.neighbours([shas[0]], ANN_GLOBAL, 9)] == [shas[2]]
    assert {hit.sha for hit in await parts.users.neighbours([shas[2]], ANN_GLOBAL, 9)} == {*shas[:2]}
    await parts.failures.relink(shas[2], [signature("s1")])
    assert [hit.sha for hit in await parts.users.neighbours([shas[0]], ANN_GLOBAL, 9)] == [shas[2]]
    assert await parts.users.neighbours([shas[1]], ANN_GLOBAL, 9) == []


async def test_neighbours_of_superseded_lessons_are_those_of_what_stands_for_them(parts):
    """On either side of an edge or a signature."""
    one, two, three = [await remember(parts, text) for text in ("one", "two", "three")]
    top = await remember(parts, "top", level="L2", parents=(one,), evidence_texts=())
    for number, sha in enumerate((two, three)):
        await parts.failures.link(project="p", request_id=str(number), sha=sha, signatures=[signature("s")])
    new_one = await remember(parts, "one anew", supersedes=(one,))
    new_three = await remember(parts, "three anew", supersedes=(three,))
    assert await parts.users.neighbours([new_one], ANN_GLOBAL, 9) == [Neighbour(top, new_one, "edge")]
    assert await parts.users.neighbours([top], ANN_GLOBAL, 9) == [Neighbour(new_one, top, "edge")]
    assert await parts.users.neighbours([two], ANN_GLOBAL, 9) == [Neighbour(new_three, two, "signature")]
    assert await parts.users.neighbours([new_three], ANN_GLOBAL, 9) == [Neighbour(two, new_three, "signature")]


async def test_the_summary_has_the_newest_lessons_first_and_only_so_many(parts):
    for number in range(33):
        await remember(parts, f"Lesson {number}. It has a second sentence.", owner="ann", visibility="user")
    told = await lines(parts, ANN)
    assert told[:2] == ["Lesson 32. It has a second sentence.", "Lesson 31. It has a second sentence."]
    assert len(told) == 30


async def test_a_superseded_lesson_leaves_the_summary_at_once(parts):
    """Be it by a candidate or by a person; that it is refreshed late, or again, brings it not back."""
    old, other, new = [
        await remember(parts, text, owner="ann", visibility="user") for text in ("Pin it.", "Raise it.", "Lower it.")
    ]
    newest = await parts.accept("Anew.", owner="ann", visibility="user", supersedes=(old,))
    assert await lines(parts, ANN) == ["Lower it.", "Raise it."]
    await parts.memories.supersede(other, new)
    assert await lines(parts, ANN) == ["Lower it."]
    assert [await parts.users.refresh_snapshot(sha) for sha in (old, newest, newest, other)] == [2, 2, 2, 2]
    assert await lines(parts, ANN) == ["Anew.", "Lower it."]


async def test_refreshing_enters_all_that_the_owner_has_and_nothing_for_nobody(parts):
    for text in ("one", "two"):
        await parts.accept(text, owner="ann", visibility="user")
    bens, nobodys = await parts.accept("three", owner="ben"), await parts.accept("four")
    assert await parts.users.refresh_snapshot(nobodys) == 0
    assert await parts.users.refresh_snapshot(await parts.accept("five", owner="ann")) == 3
    assert await parts.users.refresh_snapshot(bens) == 1
    with pytest.raises(NotFound):
        await parts.users.refresh_snapshot("f" * 64)


def by_sha(*found: Neighbour) -> list[Neighbour]:
    return sorted(found, key=lambda one: one.sha)
