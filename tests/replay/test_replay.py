"""Runs that were recorded under earlier versions of the workflows still replay.

Where a change to a workflow breaks one, guard the change with `workflow.patched`, so that open runs survive it; then
record again with `MEM_RECORD_HISTORIES=1 pytest tests/replay`, which adds to what is replayed and replaces equal names.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle, WorkflowHistory
from temporalio.worker import Replayer

from mem.clients.temporal.converter import data_converter
from mem.domain.errors import RequestConflict
from mem.domain.signatures import ALGO
from tests.replay.scrub import scrubbed
from tests.temporal_server import OTHER, Rig, events, eventually
from tests.workflows.material import LESSON, candidate, candidate_fields, lookup, question
from tests.workflows.ports import Gate, Refusing, Switch, Wrapped
from worker import WORKFLOWS, workflow_runner

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))
NAMES = {
    "accept_accepted", "accept_rejected", "accept_duplicate", "accept_durable", "accept_plain", "accept_refused",
    "accept_of_a_user", "accept_of_a_user_unsummarised",  # the latter of before there were summaries
    "look_up_answered", "look_up_unsettled", "look_up_conflict",
    "query_answered", "query_unsettled", "query_conflict", "rebuild_done", "rebuild_checked", "rebuild_continued",
    "rebuild_replayed", "rebuild_compared", "rebuild_replay_continued", "rebuild_proposed", "rebuild_applied",
    "rebuild_proposing_continued", "ground_answered", "ground_abstained", "ground_degraded", "ground_not_found",
    "ground_unsettled", "ground_conflict", "ground_enhanced", "ground_stood_in",
}  # fmt: skip

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
}


def load(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_replay(path):
    """Today's workflows take every decision of a recorded run again."""
    replayer = Replayer(workflows=WORKFLOWS, workflow_runner=workflow_runner(), data_converter=data_converter())
    async with asyncio.timeout(20):
        await replayer.replay_workflow(load(path))


def test_every_kind_of_run_is_recorded():
    """There is a history of each way in which a run can go, and it went that way."""
    assert {path.stem for path in HISTORIES} >= NAMES
    ends = {path.stem: load(path).events[-1].event_type for path in HISTORIES}
    failed = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED
    assert [name for name, end in ends.items() if end == failed] == [
        "ground_conflict",
        "look_up_conflict",
        "query_conflict",
    ]


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_nothing_of_the_machine_is_in_it(path):
    """A committed history names no host, process or path."""
    text = path.read_text(encoding="utf-8")
    assert scrubbed(json.loads(text)) == json.loads(text)
    assert socket.gethostname() not in text
    assert not re.search(r"\d+@|/(?:home|root|work|usr|tmp|Users)/", text)


@pytest.mark.skipif("MEM_RECORD_HISTORIES" not in os.environ, reason="records only when asked to")
async def test_record(rig, temporal_server, monkeypatch):
    """Each kind of run is made once more and written down."""
    monkeypatch.setattr("activities.replay_journal.STRETCH_SECONDS", -1.0)
    rig.project = "replay"
    put_vectors, settle = Gate(rig.ports.memories.put_vectors), Switch(rig.ports.ledger.settle, times=2)
    put_vectors.opened.set()
    async with (
        rig.working(memories=Wrapped(rig.ports.memories, put_vectors=put_vectors)),
        asyncio.timeout(60),
    ):
        await rig.memory.accept(candidate(rig, "accepted"))
        await rig.memory.accept(candidate(rig, "rejected", text="ok"))
        await rig.memory.accept(candidate(rig, "duplicate", text=LESSON.upper()))
        put_vectors.opened.clear()
        await rig.memory.accept(candidate(rig, "durable", text=f"{LESSON} Twice.", wait="durable"))
        put_vectors.opened.set()
        plain = candidate_fields(rig, "plain", text=f"{LESSON} Seen 3 times.")
        await rig.temporal.start_workflow("AcceptMemory", plain, id="accept:replay:plain", task_queue=rig.task_queue)
        mine = {"text": f"{LESSON} Mine.", "user_id": "user-123", "visibility": "user"}
        await rig.memory.accept(candidate(rig, "of_a_user", **mine))
        for name in ("accepted", "rejected", "duplicate", "durable", "plain", "of_a_user"):
            await write(f"accept_{name}", rig.accept_handle(name))
        await rig.memory.look_up(lookup(rig, "answered"))
        await write("look_up_answered", rig.context_handle("answered"))
        await rig.memory.query(question(rig, "answered", explain=True))
        await write("query_answered", rig.query_handle("answered"))
        for name, fields in REBUILDS.items():
            handle = await rig.temporal.start_workflow(
                "RebuildProjections", fields, id=f"replay:{name}", task_queue=rig.task_queue
            )
            await handle.result()
            first = rig.temporal.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
            await write(name, first)
    refusing = Wrapped(rig.ports.projector, project=Refusing(rig.ports.projector.project, times=2))
    async with rig.working(projector=refusing), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig, "refused", text=f"{LESSON} A fourth time."))
        await write("accept_refused", rig.accept_handle("refused"))
    ledger = Wrapped(rig.ports.look_up._ports.ledger, settle=Switch(rig.ports.ledger.settle))
    settling = Wrapped(rig.ports.ledger, settle=settle)
    parts = {"look_up_ledger": ledger, "query_ledger": _not_storing(rig), "ledger": settling}
    async with rig.working(**parts), asyncio.timeout(60):
        await rig.memory.look_up(lookup(rig, "unsettled"))
        await write("look_up_unsettled", rig.context_handle("unsettled"))
        await rig.memory.query(question(rig, "unsettled"))
        await write("query_unsettled", rig.query_handle("unsettled"))
    later: Rig = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(60):
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, "answered", budget=100))
        await write("look_up_conflict", later.context_handle("answered"))
        with pytest.raises(RequestConflict):
            await later.memory.query(question(rig, "answered", k=1))
        await write("query_conflict", later.query_handle("answered"))


def _not_storing(rig: Rig) -> Wrapped:
    ledger = rig.ports.query._ports.ledger
    return Wrapped(ledger, store=Switch(ledger.store))


async def write(name: str, handle: WorkflowHandle) -> None:
    async def closed() -> bool:
        return (await handle.describe()).close_time is not None

    await eventually(closed)
    history = WorkflowHistory(handle.id, await events(handle))
    path = Path(__file__).parent / "histories" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(scrubbed(json.loads(history.to_json())), indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
