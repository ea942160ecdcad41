"""Questions on the real stack: over HTTP and on the command line, explained and repeated."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
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
    options = ["--project", "questions", "--levels", "l2", "--k", "1", "--explain"]
    question = "Which limits explain refused requests?"
    machine = await loop.mem("query", *options, "--format", "json", "--request-id", "cli", question)
    assert (machine.code, machine.err) == (0, "")
    (hit,) = machine.document["hits"]
    assert hit["sha"] == shas["both"]
    assert [one["level"] for one in hit["provenance"]] == ["L1", "L0"]
    (fate,) = machine.document["reranked"]
    assert (fate["sha"], fate["score"], fate["before"], fate["after"], fate["cut"]) == (
        shas["both"], hit["score"], 1, 1, None,
    )  # fmt: skip
    person = await loop.mem("query", *options, "--request-id", "cli", question)
    assert person.out.startswith("1 hit for query cli in project questions\n\n1.  ")
    assert f"  L2  {shas['both'][:12]}  questions\n    Limits that nobody set by hand" in person.out
    assert "pi:run-9 turn 4\n" in person.out
    assert "candidate " in person.out
    assert "\x1b" not in person.out
    nothing = await loop.mem("query", "--project", "questions", "--format", "json", "xylophone quartz jigsaw")
    assert (nothing.code, nothing.document["hits"]) == (1, [])
    refused = await loop.mem("query", "--levels", "L9", "--project", "questions", question)
    assert (refused.code, refused.out) == (2, "")


async def test_a_log_can_be_the_question(loop: Loop, shas: dict[str, str]) -> None:
    """Piped in, it finds what explains it."""
    asked = ["query", "-", "--project", "questions", "--levels", "L1", "--format", "json"]
    result = await loop.mem(*asked, stdin=b"curl: (22) The requested URL returned error: 413\n")
    assert result.document["hits"][0]["sha"] == shas["upload"], result.err


async def test_the_folder_says_which_project_is_asked(loop: Loop, shas: dict[str, str], tmp_path: Path) -> None:
    """A file before the repository's remote before its folder; outside of any the error says how to name one."""
    question = ["query", "Which ingress setting cured the refused uploads?", "--format", "json"]
    bare = {"HOME": str(tmp_path)}
    outside = await loop.mem(*question, folder=tmp_path, env=bare)
    assert (outside.code, outside.out) == (2, "")
    assert "--project" in outside.err
    repo = tmp_path / "questions"
    subprocess.run(["git", "init", "-q", repo], check=True)
    (repo / "src").mkdir()
    for folder in (repo, repo / "src"):
        found = await loop.mem(*question, folder=folder, env=bare)
        assert found.document["hits"][0]["sha"] == shas["upload"]
        assert found.err.startswith(f"project: questions (folder {repo})\nrequest id: made-")
    subprocess.run(["git", "-C", repo, "remote", "add", "origin", "git@example.test:team/nobody.git"], check=True)
    assert (await loop.mem(*question, folder=repo, env=bare)).err.startswith("project: nobody (remote origin of ")
    (tmp_path / ".mem.toml").write_text('project = "questions"\n', encoding="utf-8")
    found = await loop.mem(*question, folder=repo / "src", env={**bare, "PATH": ""})
    assert found.document["hits"][0]["sha"] == shas["upload"]


async def test_a_lookup_needs_no_project(loop: Loop, tmp_path: Path) -> None:
    """What failed is looked up in all of them, from wherever it is asked."""
    result = await loop.mem("lookup", "--tool", "npm", folder=tmp_path, env={"HOME": str(tmp_path)})
    assert result.code in (0, 1)
    assert result.err.startswith("project: default (no git repository and no .mem.toml from ")
    assert result.out


async def test_an_unknown_project_is_an_error_on_the_command_line(loop: Loop, shas: dict[str, str]) -> None:
    """It names the project that may be meant; over HTTP it is an answer without hits."""
    result = await loop.mem("query", "Why is it so?", "--project", "question", "--format", "json")
    body = (await loop.post("/memory/query", {"project": "question", "question": "Why is it so?"})).json()
    assert (result.code, body["hits"]) == (1, [])
    # Whatever the other tests of this stack share with all projects was searched, and found not near.
    assert "the memory holds nothing of project 'question'" in result.err.replace("The memory", "the memory")
    assert "near that name: questions" in result.err


async def test_an_answer_is_opened_again_without_asking(loop: Loop, shas: dict[str, str]) -> None:
    """The bytes that HTTP gave, and as text what the command printed, from the database alone."""
    asked = await loop.post("/memory/query", {**ASKED, "request_id": "shown"})
    alone = {"MEM_HOME": "/nowhere", "MEM_DATABASE_URL": loop.stack.database_url}
    shown = await loop.mem("query", "--show", "shown", "--project", "questions", "--format", "json", env=alone)
    assert (shown.code, shown.out, shown.err) == (0, asked.text + "\n", "")
    options = [ASKED["question"], "--project", "questions", "--explain", "--request-id", "shown"]
    printed = await loop.mem("query", *options)
    person = await loop.mem("query", "--show", "shown", "--project", "questions")
    assert person.out == printed.out
    gone = await loop.mem("query", "--show", "never", "--project", "questions")
    assert (gone.code, gone.out) == (1, "")
    assert gone.err.startswith("error: No answer to a query 'never' of project 'questions' is recorded. Name the ")
    assert await loop.temporal("workflow", "describe", "-w", "query:questions:shown") == 0


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
