"""Questions to a memory that was made of a journal: over HTTP and on the command line, with the bundled models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mem.local import StackOptions, remove_data, running_stack
from tests.e2e.conftest import ROOT, Loop
from tests.folders import new_folder
from tests.forks import Forks
from tests.poimen import NEIGHBOUR, PROJECT, candidates, journal_lines, refused, shas, superseded, syntheses
from tests.poimen_answers import (
    KNOWN,
    ROOT_CAUSES,
    SEVERAL,
    Tables,
    asked,
    check_provenance,
    check_reordered,
    check_superseded,
    check_two_hops,
    levels_of,
)
from tests.postgres import Server
from tests.temporal_server import TemporalServer

UNREAD = "usb 1-1.4: device descriptor read/64, error -71"
LATE = {
    "request_id": "ear-tags",
    "project": PROJECT,
    "level": "L1",
    "text": "Ear tag readers went silent after an update of the barn hub: it turns off USB ports that draw no current; "
    "autosuspend is -1 in the image now.",
    "evidence": [{"source": "pi:ear-tags", "turn": 6, "text": f"kernel: usb 1-1.4: new device\nkernel: {UNREAD}\n"}],
}


@pytest.fixture(scope="module")
async def poimen(postgres_server: Server, temporal_server: TemporalServer, forks: Forks) -> AsyncIterator[Loop]:
    """Worker and gateway over a database that the journal was brought into, as a user restores a backup."""
    home = new_folder("mem-poimen-")
    server, address = postgres_server.create("poimen"), temporal_server.address
    try:
        options = StackOptions(app_dir=ROOT, database_url=server, temporal_address=address)
        async with running_stack(home, options) as stack:
            loop = Loop(home, stack, forks)
            journal = home / "journal.jsonl"
            journal.write_text("".join(journal_lines()), encoding="utf-8")
            rebuilt = await loop.mem("rebuild", "--from-log", str(journal))
            assert rebuilt.code == 0, rebuilt.err
            journal.unlink()
            yield loop
    finally:
        remove_data(home)


@pytest.fixture(scope="module")
def tables(poimen: Loop) -> Tables:
    """What answers are held against."""
    return Tables.read(poimen.stack.database_url)


async def ask(poimen: Loop, question: str, request_id: str, **fields: Any) -> dict[str, Any]:
    """The answer to a question; on a busy machine a leg may be late, and then it is asked again."""
    for attempt in range(5):
        response = await poimen.post("/memory/query", asked(question, f"{request_id}.{attempt}", **fields))
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        if not body["degraded"]:
            return body
    raise AssertionError(body["degraded"])


async def test_a1_known_answer(poimen: Loop) -> None:
    """Why requests over 10 KB failed is told by the lesson of infra-root-causes, first of all hits."""
    body = (await poimen.post("/memory/query", asked(KNOWN, "a1"))).json()
    first = body["hits"][0]
    assert (first["sha"], first["level"]) == (shas()["body-spool-read-only"], "L1")
    assert {one["source"] for one in first["provenance"]} == {ROOT_CAUSES}
    person = await poimen.mem("query", "--project", PROJECT, "--request-id", "a1", KNOWN)
    assert person.code == 0, person.err
    at = [person.out.find(hit["sha"][:12]) for hit in body["hits"]]
    shown = [place for place in at if place >= 0]
    assert at == sorted(shown) + [-1] * (len(at) - len(shown))
    assert f"{len(at) - len(shown)} more that hardly fit" in person.out
    assert at[0] < person.out.find(ROOT_CAUSES) < at[1]


async def test_a2_provenance_resolves(poimen: Loop, tables: Tables) -> None:
    """What each hit says it rests on is in the tables, and is what the edges lead to, down to source and turn."""
    for number, question in enumerate(SEVERAL):
        body = await ask(poimen, question, f"a2-{number}", k=10)
        assert body["hits"]
        check_provenance(tables, body)


async def test_a3_default_excludes_l0(poimen: Loop, tables: Tables) -> None:
    """Unless asked for, evidence stays out, even where the question is a line of it."""
    line = 'open() "/var/cache/nginx/client_temp/0000000012" failed (30: Read-only file system)'
    for number, question in enumerate((*SEVERAL, line)):
        body = await ask(poimen, question, f"a3-{number}", k=50, explain=True)
        assert levels_of(body) <= {"L1", "L2"}
        assert {tables.nodes[sha].level for sha in {one["sha"] for one in body["candidates"]}} <= {"L1", "L2"}


async def test_a4_levels_flag(poimen: Loop, tables: Tables) -> None:
    """Evidence is returned where it is asked for, each with its own source and turn, and what was seen comes first."""
    options = ["--project", PROJECT, "--levels", "L0", "--format", "json"]
    result = await poimen.mem("query", *options, "client_temp Read-only file system")
    assert result.code == 0, result.err
    hits = result.document["hits"]
    assert {hit["level"] for hit in hits} == {"L0"}
    assert hits[0]["provenance"][0]["source"] == ROOT_CAUSES
    check_provenance(tables, result.document)
    only = await ask(poimen, SEVERAL[3], "a4", levels=["L2"])
    assert levels_of(only) == {"L2"}


async def test_a5_rerank_reorders(poimen: Loop) -> None:
    """The order of the hits is the reranker's: what it puts first was not the nearest."""
    question = "Should we give the thumbnail workers more RAM?"
    check_reordered(await ask(poimen, question, "a5", k=10, explain=True))


async def test_a6_project_isolation(poimen: Loop, tables: Tables) -> None:
    """Two projects with lessons on the same subjects never see each other's, in either direction and at any level."""
    for number, question in enumerate((KNOWN, "photos refused with 413", "connection slots are reserved", "OOMKilled")):
        for project in (PROJECT, NEIGHBOUR):
            every = ["L0", "L1", "L2", "R"]
            body = await ask(poimen, question, f"a6-{number}", project=project, levels=every, k=50, explain=True)
            assert body["hits"]
            assert {tables.projects[sha] for sha in tables.named(body)} == {project}


async def test_a7_no_project_errors(poimen: Loop, tmp_path: Path) -> None:
    """Where nothing names a project it is an error that says how to name one, and no search over everything."""
    refused = await poimen.mem("query", KNOWN, folder=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "--project" in refused.err
    unknown = await ask(poimen, KNOWN, "a7", project="nobody", levels=["L0", "L1", "L2"], explain=True)
    assert (unknown["hits"], unknown["candidates"]) == ([], [])
    (tmp_path / ".mem.toml").write_text(f'project = "{PROJECT}"\n', encoding="utf-8")
    named = await poimen.mem("query", "--format", "json", KNOWN, folder=tmp_path)
    assert named.code == 0, named.err
    assert named.document["project"] == PROJECT


async def test_a8_l2_two_hop_provenance(poimen: Loop, tables: Tables) -> None:
    """A synthesis leads through its lessons to the evidence that was handed in with them, each source once."""
    for one in syntheses():
        hits = (await ask(poimen, one.text, f"a8-{one.id}", levels=["L2"], k=3))["hits"]
        assert hits[0]["sha"] == shas()[one.id]
        for hit in hits:
            check_two_hops(tables, hit)


async def test_the_same_request_gives_the_same_bytes(poimen: Loop) -> None:
    """From the command line twice and over HTTP, whatever the time between."""
    options = ["--project", PROJECT, "--k", "3", "--request-id", "again", "--format", "json"]
    first, second = [await poimen.mem("query", *options, KNOWN) for _ in range(2)]
    assert (first.code, first.out) == (0, second.out)
    assert (await poimen.post("/memory/query", asked(KNOWN, "again", k=3))).text == first.out.rstrip("\n")


async def test_what_was_superseded_gives_way_to_its_successor(poimen: Loop) -> None:
    """Asked in its very words, an old lesson is never a hit, and the one in its place says what it supersedes."""
    for old, new in superseded().items():
        body = await ask(poimen, candidates()[old].text, f"old-{old}", k=50)
        check_superseded(body, old)
        assert body["hits"][0]["sha"] == shas()[new]


async def test_what_was_refused_is_found_nowhere(poimen: Loop) -> None:
    """Neither text nor evidence of a refused candidate is a node or a hit at any level, asked for in its very words."""
    sources = [record["source"] for one in refused() for record in one.evidence]
    texts = [one.text for one in refused()]
    assert poimen.rows("SELECT sha FROM mem.memory_node WHERE source = ANY(%s) OR text = ANY(%s)", sources, texts) == []
    for one in refused():
        body = await ask(poimen, one.text, one.id, levels=["L0", "L1", "L2", "R"], k=50)
        assert one.text not in {hit["text"] for hit in body["hits"]}
        assert not {entry["source"] for hit in body["hits"] for entry in hit["provenance"]} & set(sources)


async def test_a_rebuild_answers_the_same(poimen: Loop) -> None:
    """The journal comes out as it went in; what is accepted later is found alike before a rebuild and after it."""
    assert (await poimen.mem("log", "export")).out == "".join(journal_lines())
    accepted = await poimen.post("/memory/accept", LATE)
    assert (accepted.json()["status"], accepted.json()["pending"]) == ("accepted", []), accepted.text
    before = await answers(poimen, "before")
    for body in before[-2:]:
        assert body["hits"][0]["sha"] == accepted.json()["sha"]
        assert {one["leg"] for one in body["candidates"] if one["sha"] == accepted.json()["sha"]} >= {"text", "symptom"}
    rebuilt = await poimen.mem("rebuild", "--from-log")
    assert rebuilt.code == 0, rebuilt.err
    assert await answers(poimen, "after") == before


async def answers(poimen: Loop, when: str) -> list[dict[str, Any]]:
    """What is answered to several questions, each leg's order included, without the ids."""
    several = (*SEVERAL, "Why did the ear tag readers go silent?", UNREAD)
    bodies = [await ask(poimen, one, f"{when}-{number}", explain=True) for number, one in enumerate(several)]
    return [{**body, "query_id": ""} for body in bodies]
