"""No user's memory in another user's answer: whatever is stored, each read gives what its audience may read."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mem.domain.nodes import StoredNode
from mem.ports import Audience, KnownUser
from mem.store.users import PostgresUsers
from tests.contract.parts import Parts, fake_parts, lesson_plan, postgres_parts, signature
from tests.examples import examples

WORDS = ["kong", "lockfile", "pinned", "upload"]
ASKED = "kong lockfile"
KEYS = ["s10", "s11", "s20", "s21"]
LABELS = ["p", "q", "*", "c1", "c2", "npm", "go"]
_EXAMPLES = itertools.count()

EMPTY = "TRUNCATE mem.memory_node, mem.failure_signature, mem.lexical_frequency, mem.lexical_total CASCADE"


class Wanted(NamedTuple):
    """A lesson to be stored; others are named by the places of earlier ones, whoever may read these."""

    words: list[str]
    level: str
    fields: dict[str, Any]
    supersedes: int | None
    parents: list[int]
    log: str
    signatures: list[tuple[str, int]]


PLACES = st.integers(0, 5)
WANTED = st.builds(
    Wanted,
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    level=st.sampled_from(["L1", "L2"]),
    fields=st.fixed_dictionaries(
        {
            "project": st.sampled_from(["p", "q", "*"]),
            "owner": st.sampled_from([None, "ann", "ben"]),
            "visibility": st.sampled_from(["global", "user", "container"]),
            "container": st.sampled_from([None, "c1", "c2"]),
        }
    ),
    supersedes=PLACES | st.none(),
    parents=st.lists(PLACES, max_size=2),
    log=st.sampled_from(["log 1", "log 2"]),
    signatures=st.lists(st.tuples(st.sampled_from(["s1", "s2"]), st.sampled_from([0, 1])), max_size=2),
)
STORES = st.lists(WANTED, min_size=3, max_size=8)
AUDIENCES = [
    Audience(user, scope, containers, readable)
    for user in ("ann", "zoe")
    for scope, containers in (("user", ("c1",)), ("user_global", ("c2", "c1")), ("user_global_container", ("c1",)))
    for readable in (None, ("p",))
]


async def store(parts: Parts, wanted: list[Wanted], example: int) -> dict[str, StoredNode]:
    """Store lessons with all that finds them, as no gate would let them pass; the lessons as they are then."""
    shas: list[str] = []
    for number, one in enumerate(wanted):
        text = f"{' '.join(one.words)} {example}x{number}"
        named = {shas[place % len(shas)] for place in one.parents} if shas else set()
        old = (shas[one.supersedes % len(shas)],) if shas and one.supersedes is not None else ()
        plan = lesson_plan(
            text,
            request_id=text,
            level=one.level,
            parents=tuple(sorted(named)),
            supersedes=old,
            evidence_texts=(one.log,),
            **one.fields,
        )
        sha = (await parts.memories.append(plan)).sha
        shas.append(sha)
        await parts.memories.put_vectors("text", {sha: text}, parts.embedder)
        await parts.memories.put_vectors("symptom", {sha: one.log}, parts.embedder)
        found = [signature(f"{name}{algo}", algo=algo, tool="npm" if algo else "go") for name, algo in one.signatures]
        await parts.failures.link(project="p", request_id=text, sha=sha, signatures=found)
        await parts.users.refresh_snapshot(sha)
    return await parts.memories.nodes(sorted(set(shas)))


def may_read(node: StoredNode, audience: Audience) -> bool:
    """Whether a live lesson may be read, said in other words than any store says it."""
    if node.superseded_by is not None or node.level == "L0":
        return False
    if audience.readable is not None and node.project != "*" and node.project not in audience.readable:
        return False
    if node.owner == audience.user and node.visibility in {"user", "global"}:
        return True
    if node.visibility == "global":
        return audience.scope in {"user_global", "user_global_container"}
    hinted = audience.containers if audience.scope == "user_global_container" else ()
    return (node.owner, node.visibility) == (audience.user, "container") and node.container in hinted


def known(nodes: dict[str, StoredNode], audience: Audience) -> KnownUser:
    projects = None if audience.readable is None else {"*", *audience.readable}
    own = [one for one in nodes.values() if one.owner == audience.user and (not projects or one.project in projects)]
    return KnownUser(bool(own), tuple(one for one in audience.containers if one in {node.container for node in own}))


async def read(parts: Parts, audience: Audience, shas: list[str]) -> dict[str, list[Any]]:
    """All that the port gives out, by method."""
    users = parts.users
    (vector,) = await parts.embedder.embed([ASKED])
    found: dict[str, list[Any]] = {
        "snapshot": await users.snapshot(audience),
        "words": await users.words(WORDS, audience, 50),
        "labelled": await users.labelled(LABELS, audience, 50),
        "neighbours": await users.neighbours(shas, audience, 50),
        "signed": await users.signed(KEYS, audience, 50),
        "remembered": sorted((await users.remembered(shas, audience)).items()),
    }
    for kind in ("text", "symptom"):
        found[kind] = await users.nearest(kind, vector, audience, 50)
    return found


def given_out(found: dict[str, list[Any]]) -> dict[str, set[str]]:
    """The shas that each method gives."""
    shas = {name: {getattr(hit, "sha", hit) for hit in hits} for name, hits in found.items()}
    return {**shas, "remembered": {sha for sha, _ in found["remembered"]}}


async def hold(parts: Parts, nodes: dict[str, StoredNode], audience: Audience) -> dict[str, list[Any]]:
    """Read all and hold it to what the audience may read; what should give all of that gives all of it."""
    found = await read(parts, audience, list(nodes))
    readable = {sha for sha, node in nodes.items() if may_read(node, audience)}
    for name, shas in given_out(found).items():
        assert shas <= readable, name
    for of in {hit.of for hit in found["neighbours"]}:
        assert may_read(nodes[of].model_copy(update={"superseded_by": None}), audience)
    assert {sha for sha in readable if nodes[sha].project in LABELS} == given_out(found)["labelled"]
    assert readable == given_out(found)["text"] == given_out(found)["remembered"]
    assert {sha for sha in readable if nodes[sha].owner == audience.user} == given_out(found)["snapshot"]
    assert await parts.users.known(audience) == known(nodes, audience)
    return found


@settings(deadline=None, max_examples=examples(60))
@given(wanted=STORES)
async def test_no_read_of_the_fakes_gives_what_its_audience_may_not_read(wanted):
    parts = fake_parts()
    nodes = await store(parts, wanted, next(_EXAMPLES))
    for audience in AUDIENCES:
        await hold(parts, nodes, audience)


@settings(
    deadline=None,
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(wanted=STORES)
async def test_no_read_of_postgres_does_and_it_reads_what_the_fakes_read(pool, kept, wanted):
    """With all its ways: exact ones, those of many memories, and plans that were made for others."""
    number = next(_EXAMPLES)
    async with pool.connection() as connection:
        await connection.execute(EMPTY)
    parts, fakes = postgres_parts(pool)._replace(users=PostgresUsers(pool, kept=kept)), fake_parts()
    nodes = await store(parts, wanted, number)
    assert await store(fakes, wanted, number) == nodes
    many = PostgresUsers(pool, kept=kept, exact_limit=0, exact_words=0)
    (vector,) = await parts.embedder.embed([ASKED])
    for audience in AUDIENCES:
        found, same = await hold(parts, nodes, audience), await hold(fakes, nodes, audience)
        for name in found.keys() - {"text", "symptom"}:
            assert found[name] == same[name], name
        assert {hit.sha for hit in await many.words(WORDS, audience, 50)} == given_out(found)["words"]
        for kind in ("text", "symptom"):
            assert {hit.sha for hit in await many.nearest(kind, vector, audience, 50)} == given_out(found)[kind]
            assert {hit.sha: round(hit.similarity, 2) for hit in found[kind]} == {
                hit.sha: round(hit.similarity, 2) for hit in same[kind]
            }


PRIVATE = st.lists(WANTED, min_size=1, max_size=4).map(
    lambda wanted: [
        one._replace(
            supersedes=None,
            fields={**one.fields, "owner": "ben", "visibility": "container" if one.fields["container"] else "user"},
        )
        for one in wanted
    ]
)
"""What another user keeps to himself, tied by evidence, parents, signatures and labels to what others may read."""


@settings(deadline=None, max_examples=examples(40))
@given(wanted=STORES, private=PRIVATE)
async def test_what_another_user_keeps_changes_nothing_that_is_read(wanted, private):
    """Neither what is found, nor in which order, nor what a word weighs."""
    number = next(_EXAMPLES)
    without, beside = fake_parts(), fake_parts()
    nodes = await store(without, wanted, number)
    await store(beside, [*wanted, *private], number)
    for audience in AUDIENCES:
        assert await read(beside, audience, list(nodes)) == await read(without, audience, list(nodes))
        assert await beside.users.known(audience) == await without.users.known(audience)


@settings(
    deadline=None,
    max_examples=examples(3),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(wanted=STORES, private=PRIVATE)
async def test_what_another_user_keeps_changes_nothing_that_is_read_of_postgres(pool, wanted, private):
    """By its exact ways and by those of many memories."""
    number = next(_EXAMPLES)
    async with pool.connection() as connection:
        await connection.execute(EMPTY)
    parts = postgres_parts(pool)
    many = parts._replace(users=PostgresUsers(pool, exact_limit=0, exact_words=0))
    nodes = list(await store(parts, wanted, number))
    before = [[await read(each, audience, nodes) for each in (parts, many)] for audience in AUDIENCES]
    await store(parts, [*wanted, *private], number)
    assert [[await read(each, audience, nodes) for each in (parts, many)] for audience in AUDIENCES] == before
