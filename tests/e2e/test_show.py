"""One memory at each door, and skills from their files to a lookup, on the real stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mem.reading import open_reader
from tests.e2e.conftest import Loop

LOG = "# depot/winch\n./winch/brake.go:{line}:4: undefined: brakeAll\n"
LESSON: dict[str, Any] = {
    "request_id": "winch-lesson",
    "project": "winch",
    "level": "L1",
    "text": "brakeAll lives in a file that the build tag hydraulic guards: compile the winch package with that tag.",
    "evidence": [{"source": "ci:77", "turn": 3, "text": LOG.format(line=8)}],
}


@pytest.fixture(scope="module")
async def lesson(loop: Loop) -> dict[str, Any]:
    """What came of an accepted lesson, after its failure was met again in another project."""
    accepted = (await loop.post("/memory/accept", LESSON)).json()
    assert accepted["status"] == "accepted", accepted
    seen = {"request_id": "winch-seen", "project": "quay", "signature_source": LOG.format(line=99)}
    assert (await loop.post("/memory/context", seen)).status_code == 200
    return accepted


async def get(loop: Loop, sha: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=loop.stack.http, timeout=300) as client:
        return await client.get(f"/memory/{sha}")


async def test_every_door_shows_the_same_memory(loop: Loop, lesson: dict[str, Any]) -> None:
    """HTTP, command line and Python give one document, which holds what the acceptance said and what came later."""
    sha = lesson["sha"]
    response = await get(loop, sha[:12])
    body = response.json()
    assert (response.status_code, body["sha"], body["text"]) == (200, sha, LESSON["text"])
    assert (body["projection"], body["vectors"]) == (lesson["projection"], lesson["vectors"])
    assert body["accepted"]["request_id"] == "winch-lesson"
    (signature,) = body["signatures"]
    assert {name: signature[name] for name in ("sig_sha", "tool", "rule")} == lesson["signatures"][0]
    assert [(one["project"], one["seen_count"]) for one in signature["sightings"]] == [("quay", 1), ("winch", 1)]
    assert [(one["source"], one["turn"], one["title"]) for one in body["parents"]] == [("ci:77", 3, "# depot/winch")]
    machine = await loop.mem("show", sha[:12].upper(), "--format", "json")
    assert (machine.code, machine.err, machine.out.encode()) == (0, "", response.content + b"\n")
    async with open_reader(loop.stack.database_url) as reader:
        assert (await reader.show(sha)).model_dump_json().encode() == response.content
    told = await loop.mem("show", sha)
    assert told.out.startswith(f"L1 {sha[:12]}, winch\n{sha}\naccepted ")
    assert "seen twice on " in told.out


async def test_an_edge_leads_to_its_other_end(loop: Loop, lesson: dict[str, Any]) -> None:
    """The evidence names the lesson that it carries, and has the log whole."""
    (parent,) = (await get(loop, lesson["sha"])).json()["parents"]
    below = (await get(loop, parent["sha"])).json()
    assert (below["level"], below["text"]) == ("L0", LESSON["evidence"][0]["text"])
    assert [one["sha"] for one in below["children"]] == [lesson["sha"]]


async def test_asking_counts_nothing_and_what_is_shown_outlives_a_rebuild(loop: Loop, lesson: dict[str, Any]) -> None:
    """The same bytes again, after all tables were made anew, too."""
    before = (await get(loop, lesson["sha"])).content
    rebuilt = await loop.mem("rebuild", "--from-log")
    assert rebuilt.code == 0, rebuilt.err
    assert (await get(loop, lesson["sha"])).content == before


async def test_what_is_not_for_everybody_and_what_was_rejected_are_not_found(loop: Loop) -> None:
    """A memory of a user is there, and its sha known, and it is told of as one that never was."""
    mine = {**LESSON, "request_id": "winch-mine", "visibility": "user", "user_id": "ann"}
    sha = (await loop.post("/memory/accept", mine)).json()["sha"]
    assert loop.rows("SELECT visibility FROM mem.memory_node WHERE sha = %s", sha) == [("user",)]
    private, nowhere = await get(loop, sha), await get(loop, "0" * 64)
    assert (private.status_code, private.headers["content-type"]) == (404, "application/problem+json")
    assert private.text.replace(sha, "0" * 64) == nowhere.text
    refused = await loop.mem("show", sha, "--format", "json")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"error: No memory begins with {sha}. Check the sha.\n"


async def test_what_is_no_sha_is_refused(loop: Loop) -> None:
    """A problem document over HTTP, one line and exit code 2 on the command line."""
    response = await get(loop, "latest")
    assert (response.status_code, response.json()["title"]) == (422, "InvalidRequest")
    refused = await loop.mem("show", "latest")
    assert (refused.code, refused.out, refused.err) == (2, "", "error: 'latest' is no sha. Give 4 to 64 hex digits.\n")


async def test_skills_are_imported_found_removed_and_rebuilt(loop: Loop, tmp_path: Path) -> None:
    """A folder comes in as it is; what was removed is in no lookup, and the journal tells it all."""
    for name, about in (("dock-signs", "Read the signs of a dock."), ("dock-crew", "Call the crew of a dock.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(
            f"\ufeff---\r\ndescription: >\r\n  {about}\r\nlicense: MIT\r\n---\r\nSteps.\r\n".encode()
        )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("no front matter\n", encoding="utf-8")
    for changed in (True, False):
        added = await loop.mem("skill", "add", str(tmp_path), "--project", "dock", "--format", "json")
        assert [one["changed"] for one in added.document["skills"]] == [changed] * 2, added.err
        assert (added.code, len(added.document["refused"])) == (1, 1)

    async def found(request_id: str) -> set[str]:
        asked = {"request_id": request_id, "project": "dock", "task": "Call the crew of a dock, read the dock's signs."}
        return {one["name"] for one in (await loop.post("/memory/context", asked)).json()["skills"]}

    assert {"dock-crew", "dock-signs"} <= await found("skills-1")
    removed = await loop.mem("skill", "remove", "dock-crew", "--project", "dock")
    assert (removed.code, removed.out) == (0, "dock-crew: removed\n")
    assert "dock-crew" not in await found("skills-2")
    checked = await loop.mem("rebuild", "--from-log", "--check", "--format", "json")
    assert "skill" not in {table["table"] for table in checked.document["tables"] if table["differing"]}
    assert (await loop.mem("rebuild", "--from-log")).code == 0
    listed = (await loop.mem("skill", "list", "--project", "dock", "--format", "json")).document["skills"]
    assert [one["name"] for one in listed if one["project"] == "dock"] == ["dock-signs"]
    assert (await loop.mem("skill", "add", str(tmp_path), "--project", "dock")).code == 1
    assert "dock-crew" in await found("skills-3")
    assert json.loads((await loop.mem("skill", "list", "--format", "json")).out)["skills"]
