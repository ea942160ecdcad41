"""A run of every workflow explains itself in the Temporal UI, from its start until after it is closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowFailureError, WorkflowHandle

from mem.domain.ids import REGENERATE_WORKFLOW_ID, rebuild_workflow_id, replay_workflow_id
from mem.domain.markdown import GAP
from tests.temporal_server import USER, Rig, events, eventually
from tests.workflows.material import (
    LOG,
    MESSAGE,
    QUESTION,
    RAW_LINE,
    SECRET,
    candidate,
    candidate_fields,
    lookup,
    lookup_fields,
    own,
    question,
    question_fields,
    turn,
    turn_fields,
)
from tests.workflows.ports import Refusing, Switch, Wrapped

OUTCOMES = {
    "accept": "accepted",
    "rejected": "rejected",
    "look_up": "answered",
    "query": "answered",
    "ground": "answered",
    "derive": "done",
    "replay": "same",
    "regenerate": "same",
}
QUERIES = {
    "accept": ["status"],
    "rejected": ["status"],
    "look_up": ["context", "trace"],
    "query": ["answer", "trace"],
    "ground": ["context", "trace"],
    "derive": ["progress"],
    "replay": ["progress"],
    "regenerate": ["progress"],
}
PLAIN: dict[str, tuple[str, Any]] = {
    "AcceptMemory": ("accepted", candidate_fields),
    "LookUpContext": ("answered", lookup_fields),
    "QueryMemory": ("answered", question_fields),
    "GroundContext": ("not_found", turn_fields),
    "RebuildProjections": ("same", lambda rig, _: {"check": True}),
}


async def test_a_closed_run_tells_its_story_and_answers_queries(rig: Rig) -> None:
    """What was asked stands on each run from its start, each step says what it is for, and a worker that never saw the
    run gives the details and the queries of it."""
    async with rig.working(), asyncio.timeout(60):
        handles = await _one_of_each(rig)
        for handle in handles.values():
            await eventually(lambda handle=handle: _closed(handle))
    async with rig.working(), asyncio.timeout(60):
        for name, handle in handles.items():
            described = await handle.describe()
            assert await described.static_summary(), name
            details = str(await described.static_details()).replace(GAP, "")
            assert "| what | value |" in details, name
            assert (await _attributes(handle))["MemOutcome"] == OUTCOMES[name]
            told = (await _metadata(handle)).current_details
            for query in QUERIES[name]:
                assert await handle.query(query), f"{name} does not answer {query}"
            history = await events(handle)
            assert {b"MemOutcome"} <= {key.encode() for key in _started(history)}, name
            assert _unsummarised(history) == [], name
            assert "| `" in told.split("**Steps**")[1], name
            for text in (details, str(await _attributes(handle)), handle.id, *_summaries(history)):
                for raw in (RAW_LINE, LOG.splitlines()[0], MESSAGE, QUESTION, USER, SECRET):
                    assert raw not in text, f"{name}: {raw}"


async def test_a_plain_start_tells_the_same(rig: Rig) -> None:
    """A run that no client of ours started is found and understood as well, and what looks like a secret in a name is
    not indexed."""
    async with rig.working(), asyncio.timeout(60):
        for kind, (outcome, fields) in PLAIN.items():
            given = fields(rig, "plain") | ({"tool": SECRET} if kind == "LookUpContext" else {})
            handle = await _start(rig, kind, given)
            await handle.result()
            attributes, told = await _attributes(handle), (await _metadata(handle)).current_details
            assert attributes["MemOutcome"] == outcome
            assert ("MemProject" in attributes) == ("project" in given)
            assert "| what | value |" in told, kind
            assert SECRET not in f"{attributes}{told}"


@pytest.mark.parametrize("kind", PLAIN)
async def test_a_broken_input_fails_in_words_without_the_input(rig: Rig, kind: str) -> None:
    """The failure of a run whose input cannot be read names the fields, in one bounded line, and quotes no value."""
    raw = f"{RAW_LINE} {SECRET} " * 200
    broken = {"request_id": 7, "user_id": [raw], "text": {"x": raw}, "page": raw, "project": raw, "message": 3}
    async with rig.working(), asyncio.timeout(30):
        handle = await _start(rig, kind, broken)
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        (failed,) = [
            event.workflow_execution_failed_event_attributes.failure
            for event in await events(handle)
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED
        ]
    assert failed.application_failure_info.type == "ValidationError"
    assert 0 < len(failed.message) <= 500
    assert "\n" not in failed.message
    assert "page" in failed.message or "request_id" in failed.message
    assert (failed.stack_trace, failed.HasField("cause")) == ("", False)
    assert RAW_LINE not in str(failed)


async def test_what_is_at_work_is_told_while_it_is(rig: Rig) -> None:
    """The details name the step that a run waits for and since when; the server says with what it failed last."""
    away = Switch(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=away)), asyncio.timeout(60):
        reply = await rig.memory.accept(candidate(rig, wait="durable"))
        handle = rig.accept_handle("1")
        await eventually(lambda: _failing(handle))
        told = (await _metadata(handle)).current_details
        assert reply.answer.sha is not None
        assert told.startswith(f"**accepted**, memory `{reply.answer.sha}`")
        assert "| `embed_text` | Embed the memory and its evidence | at work since " in told
        assert "*Pending Activities*" in told
        assert "| `record_candidate` | Put the candidate into the journal | done after " in told
        away.on = False
        await handle.result()
        assert "at work" not in (await _metadata(handle)).current_details


async def test_a_controller_that_refuses_is_told(rig: Rig) -> None:
    """The run says how often it asked and is found as degraded; its timers say what they are for."""
    refusing = Wrapped(rig.ports.projector, project=Refusing(rig.ports.projector.project, times=2))
    async with rig.working(projector=refusing), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig))
        handle = rig.accept_handle("1")
        await eventually(lambda: _closed(handle))
        assert (await _attributes(handle))["MemDegraded"] == ["controller"]
        assert "the last time of asking | done after" in (await _metadata(handle)).current_details
        history = await events(handle)
    assert _unsummarised(history) == []
    assert len([one for one in history if one.event_type == EventType.EVENT_TYPE_TIMER_STARTED]) >= 2


async def test_rebuilds_are_found_by_what_came_of_them(rig: Rig) -> None:
    """A check that differs says so, and a run that goes on as a new one tells what it was asked."""
    async with rig.working(), asyncio.timeout(60):
        for number in range(3):
            await rig.memory.accept(candidate(rig, str(number), text=f"{candidate(rig).text} Case {number}."))
        async with rig.ports.memories._pool.connection() as connection:
            await connection.execute("delete from mem.signature_link")
        await rig.memory.rebuild(check=True)
        checked = rig.temporal.get_workflow_handle(rebuild_workflow_id(1, check=True))
        assert (await _attributes(checked))["MemOutcome"] == "differs"
        going_on = await _start(rig, "RebuildProjections", {"page": 1, "batches": 2})
        await going_on.result()
        last = rig.temporal.get_workflow_handle(going_on.id)
        assert (await _attributes(last))["MemOutcome"] == "done"
        assert "| writes | what comes out |" in (await _metadata(last)).current_details


async def _one_of_each(rig: Rig) -> dict[str, WorkflowHandle[Any, Any]]:
    """One run of each kind, in an order in which each finds something."""
    held = own(rig, evidence=[{"source": "ci", "text": f"{LOG}token {SECRET}\n"}])
    await rig.memory.accept(held)
    await rig.memory.accept(candidate(rig, "no", text="ok"))
    await rig.memory.look_up(lookup(rig))
    await rig.memory.query(question(rig))
    await rig.memory.ground(turn(rig))
    await rig.memory.rebuild()
    await rig.memory.replay(check=True)
    await rig.memory.regenerate()
    made = {
        "derive": rebuild_workflow_id(1, check=False),
        "replay": replay_workflow_id(check=True),
        "regenerate": REGENERATE_WORKFLOW_ID,
    }
    return {
        "accept": rig.accept_handle("1"),
        "rejected": rig.accept_handle("no"),
        "look_up": rig.context_handle("1"),
        "query": rig.query_handle("1"),
        "ground": rig.ground_handle("1"),
    } | {name: rig.temporal.get_workflow_handle(each) for name, each in made.items()}


async def _start(rig: Rig, kind: str, fields: Any) -> WorkflowHandle[Any, Any]:
    return await rig.temporal.start_workflow(kind, fields, id=f"plain:{rig.project}:{kind}", task_queue=rig.task_queue)


async def _closed(handle: WorkflowHandle[Any, Any]) -> bool:
    return (await handle.describe()).close_time is not None


async def _failing(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether the server can say with what a pending step failed."""
    pending = (await handle.describe()).raw_description.pending_activities
    return any("The database is away." in step.last_failure.message for step in pending)


async def _attributes(handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
    return {pair.key.name: pair.value for pair in (await handle.describe()).typed_search_attributes}


async def _metadata(handle: WorkflowHandle[Any, Any]) -> WorkflowMetadata:
    found: WorkflowMetadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    found.current_details = found.current_details.replace(GAP, "")
    return found


def _started(history: list[HistoryEvent]) -> list[str]:
    return list(history[0].workflow_execution_started_event_attributes.search_attributes.indexed_fields)


def _summaries(history: list[HistoryEvent]) -> list[str]:
    return [each.user_metadata.summary.data.decode() for each in history if each.user_metadata.HasField("summary")]


def _unsummarised(history: list[HistoryEvent]) -> list[str]:
    """The steps and timers that say nothing of what they are for."""
    kinds = {EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, EventType.EVENT_TYPE_TIMER_STARTED}
    return [
        EventType.Name(each.event_type)
        for each in history
        if each.event_type in kinds and not each.user_metadata.HasField("summary")
    ]
