"""Failures that nobody has written a lesson for, on the real stack: looked up, listed at each door, and explained."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from mem.domain.gaps import GapsRequest
from mem.reading import open_reader
from tests.e2e.conftest import Loop

COMPILER = "# depot/crane\n./crane/hoist.go:{line}:9: undefined: liftAll\n"
MISSING = """\
Traceback (most recent call last):
  File "/srv/{place}/main.py", line {line}, in <module>
    import craneplan
ModuleNotFoundError: No module named 'craneplan'
"""
LESSON: dict[str, Any] = {
    "request_id": "gaps-lesson",
    "project": "depot-lessons",
    "level": "L1",
    "text": "liftAll is generated code that is not committed: run the generator before compiling the crane package.",
    "evidence": [{"source": "ci:301", "turn": 2, "text": COMPILER.format(line=12)}],
}


@pytest.fixture(scope="module")
async def looked_up(loop: Loop) -> None:
    """One failure seen by two projects, three times in all, and one seen once."""
    logs = [
        ("depot", "1", COMPILER.format(line=7)),
        ("depot", "2", COMPILER.format(line=9)),
        ("harbour", "1", COMPILER.format(line=31)),
        ("depot", "3", MISSING.format(line=4, place="a")),
    ]
    for project, request_id, log in logs:
        body = {"request_id": f"gaps-{request_id}", "project": project, "signature_source": log}
        response = await loop.post("/memory/context", body)
        assert (response.status_code, response.json()["degraded"]) == (200, [])


async def get(loop: Loop, query: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=loop.stack.http, timeout=300) as client:
        return await client.get(f"/memory/gaps{query}")


async def test_all_doors_tell_the_same_gaps(loop: Loop, looked_up: None) -> None:
    """HTTP, command line and Python give one answer, and asking counts nothing."""
    response = await get(loop, "?project=depot&since=1d")
    assert response.status_code == 200, response.text
    body = response.json()
    assert [(gap["tool"], gap["seen_count"]) for gap in body["gaps"]] == [("go", 2), ("python", 1)]
    assert body["gaps"][0]["message"] == "undefined: liftAll"
    assert body["gaps"][0]["first_seen"] == body["gaps"][0]["last_seen"] >= body["since"]
    machine = await loop.mem("gaps", "--project", "depot", "--since", "1d", "--format", "json")
    assert (machine.code, machine.document, machine.err) == (0, body, "")
    async with open_reader(loop.stack.database_url) as reader:
        answer = await reader.gaps(GapsRequest(project="depot", since="1d"))
    assert answer.model_dump(mode="json") == body
    assert (await get(loop, "?project=depot&since=1d")).content == response.content


async def test_the_sums_are_over_projects(loop: Loop, looked_up: None) -> None:
    """Without a project all of them count, and are named, the one that saw it most first."""
    found = {gap["message"]: gap for gap in (await get(loop, "?tool=go&limit=1000")).json()["gaps"]}
    crane = found["undefined: liftAll"]
    assert (crane["seen_count"], crane["projects"]) == (3, ["depot", "harbour"])


async def test_a_person_reads_a_table(loop: Loop, looked_up: None) -> None:
    """Counts, days, names and what failed, with nothing that steers a terminal."""
    told = await loop.mem("gaps", "--project", "depot", "--tool", "python")
    assert told.code == 0, told.err
    assert told.out.startswith("1 failure was seen in project depot of tool python that no memory explains\n")
    assert "No module named 'craneplan'" in told.out
    assert "\x1b" not in told.out


async def test_a_lesson_closes_the_gap_for_all(loop: Loop, looked_up: None) -> None:
    """Once it is accepted, under whatever project, the failure is none any more; the other one still is."""
    accepted = (await loop.post("/memory/accept", LESSON)).json()
    assert accepted["status"] == "accepted", accepted
    assert [gap["tool"] for gap in (await get(loop, "?project=depot")).json()["gaps"]] == ["python"]
    nothing = await loop.mem("gaps", "--project", "harbour", "--format", "json")
    assert (nothing.code, nothing.document["total"], nothing.document["gaps"]) == (1, 0, [])
    told = await loop.mem("gaps", "--project", "harbour")
    assert (told.code, told.out) == (1, "no gap: no failure was seen in project harbour that no memory explains\n")


async def test_gaps_outlive_a_rebuild_from_the_journal(loop: Loop, looked_up: None) -> None:
    """Counts and days follow from the journal, the first day too."""
    before = (await get(loop, "?limit=1000")).content
    assert (await loop.mem("rebuild", "--from-log", "--check")).code == 0
    rebuilt = await loop.mem("rebuild", "--from-log")
    assert rebuilt.code == 0, rebuilt.err
    assert (await get(loop, "?limit=1000")).content == before


async def test_what_cannot_be_asked_is_refused(loop: Loop) -> None:
    """A problem document over HTTP, one line and exit code 2 on the command line."""
    response = await get(loop, "?limit=0")
    assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
    refused = await loop.mem("gaps", "--since", "yesterday", "--format", "json")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: since: ")
