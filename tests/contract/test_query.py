"""What a query finds in every store: all levels, each leg in its order, through successors, down to the evidence."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from mem.clients.scorer import EmbeddedScorer
from mem.domain.accepting import MadeProjection
from mem.domain.errors import NotFound
from mem.domain.nodes import Node
from mem.domain.query import QueryInput, RecordedQuery
from mem.ports import LedgerKey
from mem.recall.projects import FindProjects, Known
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.recall.recorded import OpenAnswer
from mem.testing import FakeReranker
from tests.contract.parts import Parts, evidence, lesson_plan

SYMPTOM = "413 request entity too large"
CURE = "kong buffered whole bodies, so large uploads bounced"


@pytest.fixture
async def shas(parts: Parts) -> dict[str, str]:
    """A superseded lesson and its successor, a synthesis over that, and a chunk of reference."""
    log = "curl 413 request entity too large"
    old = await parts.accept("kong refuses large uploads", evidence_texts=(log,))
    new = await parts.accept(CURE, evidence_texts=(log,), supersedes=(old,))
    plan = lesson_plan("limits bounced large uploads", request_id="l2", level="L2", parents=(new,), evidence_texts=())
    synthesis = (await parts.memories.append(plan)).sha
    chunk = Node(level="R", project="*", text="large uploads need a body size", source="manual.md")
    await parts.document(chunk, source="manual.md")
    proof = evidence(log, turn=0)
    texts = {
        old: "kong refuses large uploads", new: CURE, synthesis: plan.node.text, chunk.sha: chunk.text, proof.sha: log
    }  # fmt: skip
    await parts.memories.put_vectors("text", texts, parts.embedder)
    await parts.memories.put_projection(new, MadeProjection(text=SYMPTOM, model_id="m", prompt_sha="s"))
    await parts.memories.put_vectors("symptom", {new: SYMPTOM}, parts.embedder)
    return {"old": old, "new": new, "synthesis": synthesis, "chunk": chunk.sha, "evidence": proof.sha}


async def ask(parts: Parts, question: str, **fields: Any) -> dict[str, Any]:
    query = QueryMemories(QueryPorts(parts.memories, parts.ledger, parts.embedder, FakeReranker()))
    given = {"request_id": f"{question} {fields}", "project": "p", "question": question, "explain": True, **fields}
    return json.loads((await query(QueryInput.model_validate(given))).body)


def legs(body: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in body["candidates"]:
        found.setdefault(one["leg"], []).append(one["sha"])
    return found


async def test_a_raw_error_finds_its_memory_by_the_symptom_leg(parts, shas):
    """The symptom leg has it first, at no distance but that of rounding."""
    body = await ask(parts, SYMPTOM)
    assert body["degraded"] == []
    assert legs(body)["symptom"] == [shas["new"]]
    assert body["candidates"][0]["distance"] == pytest.approx(0, abs=1e-3)
    assert body["hits"][0]["sha"] == shas["new"]


async def test_a_superseded_candidate_becomes_its_successor(parts, shas):
    """The text leg has the raw node, and the hit names it."""
    body = await ask(parts, "kong refuses large uploads", levels=["L1"])
    assert legs(body)["text"][0] == shas["old"]
    (hit,) = body["hits"]
    assert (hit["sha"], hit["supersedes"]) == (shas["new"], [shas["old"]])
    (fate,) = body["reranked"]
    assert fate == {
        "sha": shas["new"], "supersedes": [shas["old"]], "score": hit["score"], "before": 1, "after": 1, "cut": None,
    }  # fmt: skip


async def test_every_level_is_searched_and_names_its_origin(parts, shas):
    """Lessons, then evidence, then reference; a synthesis shows its lesson and that one's evidence."""
    body = await ask(parts, "large uploads bounced 413", levels=["L0", "L1", "L2", "R"], k=50)
    levels = [hit["level"] for hit in body["hits"]]
    assert sorted(levels, key=["L1", "L2", "L0", "R"].index) == sorted(levels[:2]) + levels[2:]
    assert levels[2:] == ["L0", "R"]
    found = {hit["sha"]: [one["sha"] for one in hit["provenance"]] for hit in body["hits"]}
    assert found == {
        shas["new"]: [shas["evidence"]],
        shas["synthesis"]: [shas["new"], shas["evidence"]],
        shas["evidence"]: [shas["evidence"]],
        shas["chunk"]: [shas["chunk"]],
    }


async def test_a_query_leaves_nothing_but_its_answer(parts, shas):
    """The journal stays as it is, and the stored bytes return whatever is learned later."""
    head = await parts.journal.head()
    first = await ask(parts, SYMPTOM)
    assert await parts.journal.head() == head
    await parts.accept(SYMPTOM)
    assert await ask(parts, SYMPTOM) == first


async def test_an_answer_is_opened_again_as_it_was(parts, shas):
    """To the byte, without its question, by project and query id, until it expires; a lookup of that id is another."""
    body = await ask(parts, SYMPTOM, request_id="q")
    opened = OpenAnswer(parts.ledger)
    recorded = await opened(RecordedQuery(project="p", query_id="q"))
    assert json.loads(recorded) == body
    await parts.ledger.store(LedgerKey("context", "p", "looked-up"), "f", b"{}")
    parts.clock.advance(timedelta(days=29))
    assert await opened(RecordedQuery(project="p", query_id="q")) == recorded
    for project, query_id in (("other", "q"), ("p", "nothing"), ("p", "looked-up")):
        with pytest.raises(NotFound, match=f"'{query_id}' of project '{project}' is recorded"):
            await opened(RecordedQuery(project=project, query_id=query_id))
    parts.clock.advance(timedelta(days=1))
    with pytest.raises(NotFound, match="kept for 30 days"):
        await opened(RecordedQuery(project="p", query_id="q"))


async def test_what_is_known_of_a_project(parts):
    """Whether it has memories, whether all share some, and which other projects have the nearest names."""
    find = FindProjects(parts.memories)
    assert await find("billing") == Known(own=False, shared=False, nearest=[])
    for project in ("billing", "billing-web", "shop", "zoo", "biling"):
        await parts.accept(f"of {project}", project=project)
    assert await find("billing") == Known(own=True, shared=False, nearest=["biling", "billing-web", "shop"])
    await parts.document(Node(level="R", project="*", text="t", source="s"))
    assert (await find("BILING")).nearest == ["biling", "billing", "billing-web"]
    assert await find("bill") == Known(own=False, shared=True, nearest=["billing", "biling", "billing-web"])
    # Who may read some alone is told of no other.
    assert await find("bill", readable=["bill", "shop"]) == Known(own=False, shared=True, nearest=["shop"])
    assert await find("billing", readable=["shop"]) == Known(own=False, shared=True, nearest=["shop"])


async def test_a_reply_that_shares_no_word_is_found_through_the_turn_before_it(parts):
    """Alone it has nothing that was asked for; who is asked about and what was asked before make it the answer."""
    said = [
        "Bob: Rain again today, and the roof still leaks.",
        "Bob: Which instrument did you learn at school?",
        "Ann: Oboe, seven years of it.",
        "Bob: Bread was sold out.",
    ]
    turns = tuple(evidence(text, source="talk", turn=number) for number, text in enumerate(said, 1))
    noise = tuple(
        evidence(f"Ann: I never learn to sleep early, day {number}.", source="other", turn=9 * number)
        for number in range(9)
    )
    plan = lesson_plan("talk", request_id="talk")
    await parts.memories.append(plan._replace(evidence=turns + noise))
    await parts.memories.put_vectors("text", {node.sha: node.text for node in turns + noise}, parts.embedder)
    query = QueryMemories(QueryPorts(parts.memories, parts.ledger, parts.embedder, EmbeddedScorer.load()))
    question = "Which instrument did Ann learn?"
    request = QueryInput(request_id="reply", project="p", question=question, levels=["L0"], explain=True)
    hits = [hit["text"] for hit in json.loads((await query(request)).body)["hits"]]
    assert said[2] in hits[:2]
