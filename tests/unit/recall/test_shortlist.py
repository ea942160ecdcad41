"""A reranker that scores but so many: which candidates it gets, and what becomes of the others."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

from hypothesis import given
from hypothesis import strategies as st

from mem.clients.rerank import Calibration, Endpoint, ServedReranker
from mem.domain.errors import Unavailable
from mem.recall.shortlist import shortlist
from tests.property.test_recall import candidates
from tests.rerank_server import RerankServer, answer
from tests.scripted_server import RESET, as_json, later, page
from tests.unit.clients.candidates import candidate
from tests.unit.recall.kit import NPM_LOG, NPM_SYMPTOM, Scores, World, texts


@given(candidates(), st.integers(1, 12))
def test_the_very_signature_is_never_left_out(found, most):
    """All exact hits are scored, then the nearest; their order stays, and no more than asked for without need."""
    short = shortlist(found, most)
    exact = [one for one in found if one.exact]
    assert [one for one in found if one in short] == short
    assert all(one in short for one in exact)
    assert len(short) == min(len(found), max(most, len(exact)))
    assert shortlist(found, None) == found


def test_of_equals_the_sha_decides():
    """Candidates that recall cannot tell apart are not chosen by the order in which they came."""
    found = [candidate(name, symptom_similarity=0.5) for name in "dbca"]
    assert [one.node.stored_sha for one in shortlist(found, 2)] == ["b", "a"]


@given(candidates(), st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order(found, most, random):
    """Whichever leg brought a candidate first, the same ones are scored."""
    mixed = list(found)
    random.shuffle(mixed)
    assert {one.node.stored_sha for one in shortlist(mixed, most)} == {
        one.node.stored_sha for one in shortlist(found, most)
    }


async def crowd(world: World) -> None:
    """Six lessons of falling likeness to the log, and one that has its signature and looks like nothing."""
    for number in range(6):
        await world.remember(f"Lesson {number}", symptom=NPM_SYMPTOM + f"\nother {number} " + "word " * 3 * number)
    await world.remember("Exact", log=NPM_LOG)


async def test_what_was_not_scored_is_not_told():
    """Of seven candidates three are scored: the exact one and the nearest two; a similarity ranks among no scores."""
    world = World()
    await crowd(world)
    world.with_ports(reranker=Scores(most=3))
    body = await world.look_up(signature_source=NPM_LOG)
    assert texts(body, 1) == ["Exact"]
    assert sorted(texts(body, 2)) == ["Lesson 0", "Lesson 1"]
    assert all(lesson["score"] is not None for lesson in body["lessons"])
    world.with_ports(reranker=Scores())
    assert len(texts(await world.look_up(signature_source=NPM_LOG), 2)) == 5


async def test_a_query_gets_as_many_hits_as_it_wants():
    """Of six near memories four are wanted, and four are scored although the reranker would rather take one."""
    world = World()
    await crowd(world)
    world.with_ports(reranker=Scores(most=1))
    hits = (await world.query(NPM_SYMPTOM, k=4))["hits"]
    assert [hit["score"] for hit in hits] == [0.9] * 4


async def test_where_nothing_was_scored_all_are_ranked():
    """A reranker that fails takes no candidate with it, of lessons as of hits."""
    world = World()
    await crowd(world)
    world.with_ports(reranker=Scores(most=1))
    world.break_part("reranker", rerank=Unavailable("It is down.", "Wait."))
    body = await world.look_up(signature_source=NPM_LOG)
    assert texts(body, 2) == [f"Lesson {number}" for number in range(4)]  # the others are below the floor of likeness
    assert len((await world.query(NPM_SYMPTOM, k=50))["hits"]) >= 5
    assert {lesson["score"] for lesson in body["lessons"]} == {None}


async def test_the_trace_says_who_scored():
    """The reranker's name stands in the trace, whether it answered or not."""
    world = World()
    await crowd(world)
    world.with_ports(reranker=Scores())
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert "score, by told" in [leg.step for leg in outcome.trace.legs if leg.leg == "rerank"]
    world.break_part("reranker", rerank=Unavailable("It is down.", "Wait."))
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert ("score, by told", "It is down. Wait.") in [(leg.step, leg.note) for leg in outcome.trace.legs]


@asynccontextmanager
async def served(world: World, *, seconds: float = 20.0):
    """Lookups reranked by a real server."""
    async with RerankServer().running() as server:
        reranker = ServedReranker.at(
            Endpoint(server.base_url, "bge", None), Calibration(scores="probability"), seconds=seconds, most=50, batch=2
        )
        world.with_ports(reranker=reranker)
        yield server
        await reranker.close()


async def test_a_server_decides_the_order():
    """With a server in place its probabilities are the scores, and what it thinks nothing of stays out."""
    world = World()
    await world.remember("npm code ERESOLVE unable to resolve dependency tree Found react 18 2 0", symptom=NPM_SYMPTOM)
    await world.remember("Nothing of it", symptom="npm ERR!")
    async with served(world) as server:
        body = await world.look_up(signature_source=NPM_LOG)
    assert len(texts(body)) == 1
    assert 0.9 < body["lessons"][0]["score"] < 1
    assert body["degraded"] == []
    assert server.requests


async def test_without_the_server_recall_orders():
    """Late, broken, gone or talking nonsense: the answer is that of recall, and says which reranker is missing."""
    world = World()
    await crowd(world)
    world.break_part("reranker", rerank=Unavailable("Any.", "Any."))
    expected = await world.look_up(signature_source=NPM_LOG)
    faults = {
        "did not answer within 0.2 s": later(30, answer("tei", [0.5, 0.5])),
        "answered 500": as_json(500, {}, {}),
        "no JSON": page(),
        "no single score": answer("tei", [0.5]),
        "cannot be reached": RESET,
    }
    for said, reply in faults.items():
        async with served(world, seconds=0.2 if "0.2 s" in said else 20.0) as server:
            server.script(reply)
            outcome = await world.outcome(signature_source=NPM_LOG, leg_seconds=30, total_seconds=90)
        body = json.loads(outcome.body)
        [degraded] = body["degraded"]
        assert degraded["leg"] == "rerank"
        assert degraded["reason"].startswith("The reranker 'bge' at 127.0.0.1:")
        assert said in degraded["reason"]
        assert texts(body) == texts(expected)
