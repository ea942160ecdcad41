"""Legs of a query that fail: the answer is thinner, says so, and is never an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mem.domain.errors import RequestConflict
from mem.domain.query import OPERATION
from mem.ports import LedgerKey
from tests.unit.recall.faults import DOWN, FAULTS, REASONS
from tests.unit.recall.kit import World, hang

QUESTION = "kong refuse large uploads"


@pytest.fixture
async def world() -> World:
    found = World()
    await found.remember(
        "kong refuse large uploads: raise proxy-body-size", symptom="kong refuse large uploads", log="x"
    )
    return found


@pytest.fixture(params=list(FAULTS))
def fault(request) -> Any:
    return request.param


async def ask(world: World, **fields: Any) -> dict[str, Any]:
    return await world.query(QUESTION, leg_seconds=0.3, explain=True, **fields)


def degraded(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["leg"], each["reason"]) for each in body["degraded"]]


def legs(body: dict[str, Any]) -> set[str]:
    return {one["leg"] for one in body["candidates"]}


@pytest.mark.parametrize(("kind", "others"), [("symptom", {"text", "lexical"}), ("text", {"symptom", "lexical"})])
async def test_one_vector_leg_down(world, fault, kind, others):
    """The other legs still find the memory, and their candidates are told."""
    nearest = world.ports.memories.nearest

    async def half(asked, *rest):
        if asked != kind:
            return await nearest(asked, *rest)
        if isinstance(FAULTS[fault], BaseException):
            raise FAULTS[fault]
        return await hang()

    world.break_part("memories", nearest=half)
    body = await ask(world)
    assert degraded(body) == [(kind, REASONS[fault])]
    assert legs(body) == others
    assert len(body["hits"]) == 1


async def test_words_alone_still_answer(world, fault):
    """Both vector legs down: the lexical leg answers."""
    world.break_part("memories", nearest=FAULTS[fault])
    body = await ask(world)
    assert degraded(body) == [("symptom", REASONS[fault]), ("text", REASONS[fault])]
    assert legs(body) == {"lexical"}
    assert len(body["hits"]) == 1


async def test_without_the_embedder_words_answer(world, fault):
    """No vector for the question: the embedding is named, and the lexical leg answers."""
    world.break_part("embedder", embed=FAULTS[fault])
    body = await ask(world)
    assert degraded(body) == [("embedding", REASONS[fault])]
    assert legs(body) == {"lexical"}
    assert len(body["hits"]) == 1


async def test_the_lexical_leg_down(world, fault):
    """Vectors answer alone."""
    world.break_part("memories", words=FAULTS[fault])
    body = await ask(world)
    assert degraded(body) == [("lexical", REASONS[fault])]
    assert legs(body) == {"symptom", "text"}
    assert len(body["hits"]) == 1


async def test_without_a_reranker_similarity_orders(world, fault):
    """The score is null, and what is nearest stands first."""
    other = await world.remember("kong refuse large uploads")
    world.break_part("reranker", rerank=FAULTS[fault])
    body = await ask(world)
    assert degraded(body) == [("rerank", REASONS[fault])]
    assert [hit["score"] for hit in body["hits"]] == [None, None]
    recall = [hit["scores"]["recall"] for hit in body["hits"]]
    assert recall == sorted(recall, reverse=True)
    assert other in [hit["sha"] for hit in body["hits"]]


async def test_nodes_that_cannot_be_read_are_no_hits(world, fault):
    """The candidates are told, and every leg that found some is named."""
    world.break_part("memories", lineages=FAULTS[fault])
    body = await ask(world)
    assert [each["leg"] for each in body["degraded"]] == ["lexical", "symptom", "text"]
    assert ("text", REASONS[fault]) in degraded(body)
    assert (body["hits"], legs(body)) == ([], {"symptom", "text", "lexical"})


async def test_provenance_that_cannot_be_read_costs_no_hit(world, fault):
    """The hit stands without its parents, and the text leg is named."""
    world.break_part("memories", parents=FAULTS[fault])
    body = await ask(world)
    assert degraded(body) == [("text", REASONS[fault])]
    assert [hit["provenance"] for hit in body["hits"]] == [[]]


async def test_a_question_that_breaks_the_extractor_is_searched_as_words(world, monkeypatch):
    """What cannot be read as a failure is still a question."""

    def broken(_: object) -> None:
        raise KeyError("rule")

    monkeypatch.setattr("mem.recall.query_memories.read_question", broken)
    body = await ask(world)
    assert degraded(body) == [("signatures", "unexpected KeyError")]
    assert len(body["hits"]) == 1


async def test_the_answer_goes_out_while_the_ledger_is_down(world, fault):
    """It is named where it could not be read, and what is still to be stored are exactly the bytes that went out."""
    world.break_part("ledger", find=FAULTS[fault], store=FAULTS[fault])
    outcome = await world.query_outcome(question=QUESTION, request_id="q", leg_seconds=0.3)
    assert degraded(json.loads(outcome.body)) == [("ledger", REASONS[fault])]
    assert outcome.unsettled is not None
    assert outcome.unsettled.body == outcome.body
    assert (outcome.unsettled.project, outcome.unsettled.request_id) == ("p", "q")
    assert outcome.unsettled.fingerprint == outcome.fingerprint


async def test_bytes_that_may_have_been_committed_are_not_changed(world):
    """A store whose acknowledgement is lost leaves the very bytes that went out."""
    real = world.ports.ledger

    async def lost(*arguments):
        await real.store(*arguments)
        raise DOWN

    world.break_part("ledger", store=lost)
    outcome = await world.query_outcome(question=QUESTION, request_id="q")
    assert outcome.trace.degraded == ["ledger: The database at db:5432 does not answer. Check it."]
    assert await real.find(LedgerKey(OPERATION, "p", "q"), outcome.fingerprint) == outcome.body.encode()


async def test_what_another_run_stored_first_is_the_answer(world):
    """Of two answers made at once the first stored goes out to both."""
    first = await world.query_outcome(question=QUESTION, request_id="q")
    await world.remember("kong refuse large uploads")

    async def nothing(*_):
        return None

    world.break_part("ledger", find=nothing)
    second = await world.query_outcome(question=QUESTION, request_id="q")
    assert (second.body, second.unsettled) == (first.body, None)


async def test_a_conflict_is_no_degradation(world):
    """That a request id stands for another body is told, not swallowed."""
    await world.query(QUESTION, request_id="q")
    with pytest.raises(RequestConflict):
        await world.query("another", request_id="q")
