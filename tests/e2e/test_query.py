"""Questions on the real stack: over HTTP and on the command line, explained and repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.conftest import Loop

UPLOAD = {
    "request_id": "upload",
    "project": "questions",
    "level": "L1",
    "text": "Kong buffered whole bodies before proxying them; setting proxy-body-size to 0 on the ingress cured it.",
    "evidence": [
        {"source": "pi:run-9", "turn": 4, "text": "curl: (22) The requested URL returned error: 413\n"},
    ],
}
ORDERS = {
    "request_id": "orders",
    "project": "questions",
    "level": "L1",
    "text": "The order table is partitioned by month, since finance closes a month at a time and drops old ones whole.",
    "evidence": [{"source": "adr:12", "text": "Decided: monthly partitions, reviewed with finance on the fourth."}],
}
BOTH = {
    "request_id": "both",
    "project": "questions",
    "level": "L2",
    "text": "Limits that nobody set by hand, such as the ingress body size, explain most requests refused this year.",
}
ASKED = {"project": "questions", "question": "Which ingress setting cured the refused uploads?", "explain": True}


@pytest.fixture(scope="module")
async def shas(loop: Loop) -> dict[str, str]:
    """Two lessons and a synthesis over one of them."""
    found = {}
    for body in (UPLOAD, ORDERS):
        answer = (await loop.post("/memory/accept", body)).json()
        assert answer["status"] == "accepted", answer
        found[body["request_id"]] = answer["sha"]
    answer = (await loop.post("/memory/accept", {**BOTH, "parents": [found["upload"]]})).json()
    assert answer["status"] == "accepted", answer
    return {**found, "both": answer["sha"]}


async def test_a_question_finds_its_memory_and_says_how(loop: Loop, shas: dict[str, str]) -> None:
    """The memory leads, with its evidence; each leg's order is there; the same request repeats the same bytes."""
    response = await loop.post("/memory/query", {**ASKED, "request_id": "asked"})
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["query_id"], body["degraded"]) == (200, "asked", [])
    assert body["hits"][0]["sha"] == shas["upload"]
    assert body["hits"][0]["provenance"][0]["source"] == "pi:run-9"
    for leg in ("symptom", "text"):
        ranks = [one["rank"] for one in body["candidates"] if one["leg"] == leg]
        assert ranks == list(range(1, len(ranks) + 1))
        assert ranks
    again = await loop.post("/memory/query", ASKED, **{"Idempotency-Key": "asked"})
    assert again.content == response.content
    other = await loop.post("/memory/query", {**ASKED, "k": 1}, **{"Idempotency-Key": "asked"})
    assert other.status_code == 409
    assert (await loop.post("/memory/query", {**ASKED, "k": 51})).status_code == 422


async def test_a_decision_without_symptoms_is_found_by_its_text(loop: Loop, shas: dict[str, str]) -> None:
    """What explains no failure is a hit too, since a question need not be about one."""
    question = "How is the order table partitioned, and why?"
    body = (await loop.post("/memory/query", {"project": "questions", "question": question})).json()
    assert body["hits"][0]["sha"] == shas["orders"]
    assert "candidates" not in body


async def test_the_raw_error_finds_its_memory_by_the_symptom_leg(loop: Loop, shas: dict[str, str]) -> None:
    """A line that failed shares no word with the memory, and the symptom leg has it first all the same."""
    question = "413 Request Entity Too Large"
    asked = {"project": "questions", "question": question, "levels": ["L1"], "explain": True}
    body = (await loop.post("/memory/query", asked)).json()
    first = {one["leg"]: one["sha"] for one in reversed(body["candidates"])}
    assert first["symptom"] == shas["upload"]


async def test_the_command_line_asks_too(loop: Loop, shas: dict[str, str]) -> None:
    """One document, or a block a hit and a table; a synthesis names what its lessons rest on; no hit is exit 1."""
    options = ["--project", "questions", "--levels", "L2", "--k", "1", "--explain"]
    question = "Which limits explain refused requests?"
    machine = await loop.mem("query", *options, "--format", "json", "--request-id", "cli", question)
    assert machine.code == 0, machine.err
    (hit,) = machine.document["hits"]
    assert hit["sha"] == shas["both"]
    assert [one["level"] for one in hit["provenance"]] == ["L1", "L0"]
    person = await loop.mem("query", *options, "--request-id", "cli", question)
    assert f"L2  {shas['both'][:12]}  questions" in person.out
    assert "pi:run-9 turn 4" in person.out
    assert "leg      rank  distance" in person.out
    nothing = await loop.mem("query", "--project", "nobody", "--format", "json", question)
    assert (nothing.code, nothing.document["hits"]) == (1, [])
    refused = await loop.mem("query", "--levels", "L9", question)
    assert (refused.code, refused.out) == (2, "")


async def test_a_projection_tells_where_and_when_it_comes_from(loop: Loop, shas: dict[str, str]) -> None:
    """Each line names its origin, and the record's time is that of the journal."""
    shown = await loop.mem("symptoms", "show", shas["upload"][:12], "--format", "json")
    assert shown.code == 0, shown.err
    key = f"projection:{shas['upload']}:{shown.document['prompt_sha']}:{shown.document['model_id']}"
    (record,) = [line for line in (await loop.mem("log", "export")).out.splitlines() if json.dumps(key) in line]
    assert json.dumps(shown.document["recorded_at"]) in record
    assert [one["text"] for one in shown.document["origins"]] == shown.document["lines"]
    (place,) = {(one["source"], one["turn"]) for one in shown.document["origins"] if one["origin"] == "evidence"}
    assert place == ("pi:run-9", 4)
    assert "from evidence" in (await loop.mem("symptoms", "show", shas["upload"][:12])).out
