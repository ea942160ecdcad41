"""What a turn is told of the memories that its sources found, and how these are tied to each other, in every store."""

from __future__ import annotations

from mem.domain.accepting import MadeProjection
from mem.ports import Neighbour
from tests.contract.parts import Parts, signature
from tests.contract.test_users import ANN, ANN_ALL, ANN_GLOBAL, SCOPES, everybodys, remember

READ = {
    "user": {"mine", "mine for all"},
    "user_global": {"mine", "mine for all", "bens for all", "nobodys"},
    "user_global_container": {"mine", "mine for all", "bens for all", "nobodys", "mine in c1"},
}


async def sign(parts: Parts, sha: str, name: str, **fields) -> None:
    found = [signature(name, **fields)]
    await parts.failures.link(project="p", request_id=f"{sha}{name}", sha=sha, signatures=found)


async def test_each_scope_is_told_what_it_reads_whoever_found_it(parts):
    """The last read before an answer holds to the audience by itself."""
    shas = await everybodys(parts)
    for sha in shas.values():
        await sign(parts, sha, "s")
    for audience in SCOPES:
        wanted = {shas[name] for name in READ[audience.scope]}
        assert set(await parts.users.remembered(list(shas.values()), audience)) == wanted
        assert set(await parts.users.signed([signature("s").sig_sha], audience, 20)) == wanted
        nowhere = audience._replace(readable=("q",))
        assert await parts.users.remembered(list(shas.values()), nowhere) == {}
        assert await parts.users.signed([signature("s").sig_sha], nowhere, 20) == []


async def test_a_lesson_is_told_with_its_projection_its_first_tool_and_its_day(parts):
    sha = await remember(parts, "lockfile pinned", owner="ann", container="c1")
    plain = await remember(parts, "another")
    await parts.memories.put_projection(sha, MadeProjection(text="it broke", model_id="m", prompt_sha="s"))
    for name, tool in (("a", "npm"), ("b", "go")):
        await sign(parts, sha, name, tool=tool)
    told = await parts.users.remembered([plain, sha], ANN_GLOBAL)
    assert (told[sha].symptom, told[sha].tool) == ("it broke", "go")
    assert (told[plain].symptom, told[plain].tool) == ("", None)
    assert told[sha].node == (await parts.memories.nodes([sha]))[sha]
    (appended,) = [one async for one in parts.journal.read() if one.kind == "appended" and one.data["sha"] == sha]
    assert told[sha].day == appended.time[:10]


async def test_neither_evidence_nor_what_is_superseded_is_told(parts):
    old = await remember(parts, "lockfile pinned")
    new = await remember(parts, "lockfile pinned anew", supersedes=(old,))
    evidence = [node.stored_sha for node in await parts.memories.evidence(old)]
    assert set(await parts.users.remembered([old, new, *evidence, "f" * 64], ANN_GLOBAL)) == {new}
    assert await parts.users.remembered([], ANN_GLOBAL) == {}


async def test_a_signature_finds_the_lesson_that_stands_for_a_superseded_one(parts):
    old = await remember(parts, "lockfile pinned")
    await sign(parts, old, "s")
    new = await remember(parts, "lockfile pinned anew", supersedes=(old,))
    other = await remember(parts, "another", owner="ann", visibility="user")
    await sign(parts, other, "t")
    keys = [signature(name).sig_sha for name in "st"]
    assert await parts.users.signed(keys, ANN_GLOBAL, 9) == sorted([new, other])
    assert await parts.users.signed(keys, ANN_GLOBAL, 1) == sorted([new, other])[:1]
    assert await parts.users.signed(keys, ANN, 9) == [other]
    assert await parts.users.signed([], ANN_ALL, 9) == []


async def test_lessons_that_are_asked_about_together_are_told_as_neighbours_of_each_other(parts):
    one, two = [await remember(parts, text) for text in ("one", "two")]
    for sha in (one, two):
        await sign(parts, sha, "s")
    found = await parts.users.neighbours([one, two], ANN_GLOBAL, 9)
    assert sorted(found) == sorted([Neighbour(two, one, "signature"), Neighbour(one, two, "signature")])
