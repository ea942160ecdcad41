"""Rebuilds: each task, each way in which it can go."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.signatures import ALGO
from tests.replay.histories import record
from tests.temporal_server import Rig
from tests.workflows.material import LESSON, candidate
from tests.workflows.ports import Refusing, Wrapped

pytestmark = pytest.mark.slow

REBUILDS = {
    "rebuild_done": {},
    "rebuild_checked": {"check": True, "algo": ALGO},
    "rebuild_continued": {"page": 1, "batches": 2},
    "rebuild_replayed": {"task": "replay", "page": 50},
    "rebuild_compared": {"task": "replay", "page": 50, "check": True},
    "rebuild_replay_continued": {"task": "replay", "page": 5, "batches": 2},
    "rebuild_proposed": {"task": "regenerate"},
    "rebuild_applied": {"task": "regenerate", "apply": True},
    "rebuild_proposing_continued": {"task": "regenerate", "page": 1, "batches": 2},
    "rebuild_settling_continued": {"task": "regenerate", "page": 2, "batches": 3},
}
LESSONS = [LESSON, f"{LESSON} Seen 3 times.", f"{LESSON} Seen 4 times."]


@pytest.fixture
async def filled(rig, monkeypatch, request) -> Rig:
    """A rig with three memories, whose replays end after each page."""
    monkeypatch.setattr("activities.replay_journal.STRETCH_SECONDS", -1.0)
    rig.project = f"replay-{request.node.name.removeprefix('test_')}"
    async with rig.working(), asyncio.timeout(60):
        for number, text in enumerate(LESSONS):
            await rig.memory.accept(candidate(rig, f"filled-{number}", text=text))
    return rig


async def test_rebuilds(filled: Rig) -> None:
    """Each task, done, only checked, and going on as a new run."""
    async with filled.working(), asyncio.timeout(120):
        for name, fields in REBUILDS.items():
            await _rebuild(filled, name, fields)


async def test_a_projector_that_refuses(filled: Rig) -> None:
    """A projection that is refused is counted as that."""
    refusing = Wrapped(filled.ports.projector, project=Refusing(filled.ports.projector.project))
    async with filled.working(projector=refusing), asyncio.timeout(60):
        report = await _rebuild(filled, "rebuild_regenerate_degraded", {"task": "regenerate"})
        assert report["refused"] == len(LESSONS), report


async def _rebuild(rig: Rig, name: str, fields: dict) -> dict:
    handle = await rig.temporal.start_workflow(
        "RebuildProjections", fields, id=f"replay:{name}", task_queue=rig.task_queue
    )
    report = await handle.result()
    await record(name, rig.temporal.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id))
    return report
