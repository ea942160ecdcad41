"""The main job on the real stack: accept, find again, repeat, restart, delete."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mem.client import MemoryClient
from mem.domain.lookup import ContextRequest
from tests.e2e.conftest import FORGOTTEN, Loop

CALLERS = 50

RESOLVER = """\
{stamp}$ pip install -r requirements.txt
{stamp}Processing {folder}/wheels/gridlib-3.1.0-py3-none-any.whl
{stamp}ERROR: Cannot install gridlib==3.1.0 and chartkit==1.4.0 because these package versions have conflicting \
dependencies.
{stamp}
{stamp}The conflict is caused by:
{stamp}    gridlib 3.1.0 depends on corelib>=2
{stamp}    chartkit 1.4.0 depends on corelib<2
{stamp}
{stamp}ERROR: ResolutionImpossible: for help visit the documentation of the resolver
"""

LESSON: dict[str, Any] = {
    "request_id": "lesson",
    "project": "plots",
    "level": "L1",
    "text": "chartkit still holds corelib below 2; upgrade it to 2.x together with gridlib, in one constraints file.",
    "evidence": [{"source": "ci:811", "turn": 4, "text": RESOLVER.format(stamp="", folder="/home/ci/plots")}],
}


@pytest.fixture(scope="module")
async def accepted(loop: Loop) -> dict[str, Any]:
    """The lesson, accepted once for all tests of this file."""
    response = await loop.post("/memory/accept", LESSON)
    assert response.status_code == 200, response.text
    return dict(response.json())


def other_rendering() -> str:
    return RESOLVER.format(stamp="2026-11-29T10:11:12.1234567Z ", folder="/builds/x9f/repo")


async def test_an_accepted_memory_has_both_vectors_a_projection_and_signatures(accepted: dict[str, Any]) -> None:
    """An accepted memory with a failure in its evidence is findable in every way when the answer is given."""
    assert accepted["status"] == "accepted"
    assert accepted["vectors"] == ["text", "symptom"]
    assert accepted["pending"] == []
    assert "gridlib" in accepted["projection"]["text"]
    assert {signature["tool"] for signature in accepted["signatures"]} >= {"pip"}


async def test_a_known_failure_in_another_rendering_is_tier_1_for_another_project(
    loop: Loop, accepted: dict[str, Any]
) -> None:
    """The same failure in other paths and times, asked from another project, is an exact hit."""
    body = {"request_id": "known", "project": "elsewhere", "signature_source": other_rendering()}
    answer = (await loop.post("/memory/context", body)).json()
    assert answer["tier"] == 1
    assert answer["lessons"][0]["sha"] == accepted["sha"]
    assert answer["lessons"][0]["parents"][0]["source"] == "ci:811"
    assert answer["lessons"][0]["seen_count"] == 2
    assert answer["degraded"] == []


async def test_50_identical_calls_end_in_one_workflow_one_occurrence_and_one_body(
    loop: Loop, accepted: dict[str, Any]
) -> None:
    """A retry storm counts once, runs once, and every caller gets the same bytes."""
    body = {"request_id": "storm", "project": "stormy", "signature_source": other_rendering()}
    responses = await asyncio.gather(*(loop.post("/memory/context", body) for _ in range(CALLERS)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    counted = loop.rows("SELECT count(*) FROM mem.occurrence WHERE project = 'stormy'")[0][0]
    assert counted == len(responses[0].json()["signatures"])
    assert loop.rows("SELECT count(*) FROM mem.journal WHERE key = 'lookup:context:stormy:storm'") == [(1,)]
    assert await _runs(loop, "context:stormy:storm") == 1


async def test_bytes_outlive_a_restart(loop: Loop, accepted: dict[str, Any]) -> None:
    """The stored bytes come back from a stack that was restarted, and another body conflicts before and after."""
    body = {"request_id": "restarted", "project": "keeper", "signature_source": other_rendering()}
    other = {**body, "task": "something else"}
    first = await loop.post("/memory/context", body)
    assert (await loop.post("/memory/context", other)).status_code == 409
    await loop.restart()
    assert (await loop.post("/memory/context", body)).content == first.content
    conflict = await loop.post("/memory/context", other)
    assert conflict.status_code == 409
    assert conflict.headers["content-type"] == "application/problem+json"
    assert (await loop.post("/memory/accept", LESSON)).json() == accepted
    assert (await loop.post("/memory/accept", {**LESSON, "text": "Another lesson entirely."})).status_code == 409


async def test_bytes_outlive_the_deletion_of_the_workflow(loop: Loop) -> None:
    """With its workflow deleted a lookup gives the same bytes and counts nothing; another body conflicts."""
    async with asyncio.timeout(300):
        while await loop.temporal("workflow", "describe", "-w", "context:keeper:kept") == 0:
            await asyncio.sleep(1)
    assert (await loop.post("/memory/context", {**FORGOTTEN, "task": "something else"})).status_code == 409
    assert (await loop.post("/memory/context", FORGOTTEN)).content == loop.forgotten_body
    assert loop.rows("SELECT count(*) FROM mem.journal WHERE key = 'lookup:context:keeper:kept'") == [(1,)]
    assert {
        n for (n,) in loop.rows("SELECT count(*) FROM mem.occurrence WHERE project = 'keeper' GROUP BY sig_sha")
    } == {1}


async def test_python_programs_get_the_same_bytes_as_http(loop: Loop, accepted: dict[str, Any]) -> None:
    """MemoryClient and the gateway are two doors to one answer."""
    request = ContextRequest(request_id="two-doors", project="doors", signature_source=other_rendering())
    client = await MemoryClient.connect(
        address=loop.stack.temporal.address, namespace=loop.stack.temporal.namespace, task_queue="mem"
    )
    reply = await client.look_up(request)
    response = await loop.post("/memory/context", json.loads(request.model_dump_json(exclude_unset=True)))
    assert response.content == reply.body


async def _runs(loop: Loop, workflow_id: str) -> int:
    """How many runs a workflow id has had; visibility lags a little behind."""
    client = await MemoryClient.connect(address=loop.stack.temporal.address, namespace=loop.stack.temporal.namespace)
    async with asyncio.timeout(120):
        while True:
            count = await client._client.count_workflows(f"WorkflowId = '{workflow_id}'")
            if count.count:
                return count.count
            await asyncio.sleep(0.2)
