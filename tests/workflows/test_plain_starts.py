"""Workflows that somebody starts past every door: their words stay in their input."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from temporalio.client import WorkflowFailureError

from tests.temporal_server import Rig, events
from tests.workflows.material import SECRET, candidate_fields, lookup_fields, question_fields
from worker import WORKFLOWS


async def test_a_plain_start_tells_nothing_of_its_words(rig: Rig) -> None:
    """A secret in a tool gets into no search attribute and no table; one in a name, or in what is wrong, is refused.

    No failure quotes it.
    """
    starts = [
        ("AcceptMemory", candidate_fields(rig, "a", tool=SECRET)),
        ("LookUpContext", lookup_fields(rig, "b", tool=SECRET)),
        ("LookUpContext", lookup_fields(rig, SECRET)), ("LookUpContext", lookup_fields(rig, "c", scope=SECRET)),
        ("AcceptMemory", candidate_fields(rig, "d", visibility="user", user_id=SECRET)),
        ("QueryMemory", question_fields(rig, "e", project=SECRET)),
    ]  # fmt: skip
    kinds = []
    async with rig.working(), asyncio.timeout(60):
        for number, (workflow, fields) in enumerate(starts):
            name = f"plain:{rig.project}:{number}"
            handle = await rig.temporal.start_workflow(workflow, fields, id=name, task_queue=rig.task_queue)
            with suppress(WorkflowFailureError):
                await handle.result()
            described = (await handle.describe()).raw_description
            assert SECRET.encode() not in described.SerializeToString()
            last = (await events(handle))[-1]
            assert SECRET.encode() not in last.SerializeToString()
            failure = last.workflow_execution_failed_event_attributes.failure
            kinds.append(failure.application_failure_info.type)
    assert kinds == ["", "", "InvalidRequest", "ValidationError", "InvalidRequest", "InvalidRequest"]
    assert SECRET not in str([record.data for record in await rig.journal()])


async def test_a_start_without_a_message_or_with_two_fails_clearly(rig: Rig) -> None:
    """Whichever the workflow is, the run ends failed and says what it takes; no task of it is repeated for ever."""
    async with rig.working(), asyncio.timeout(60):
        for workflow in WORKFLOWS:
            name = str(workflow.__name__)
            for given, told in ((), "no input"), (({}, {}), "2 inputs"):
                handle = await rig.temporal.start_workflow(
                    name, args=given, id=f"plain:{rig.project}:{name}:{len(given)}", task_queue=rig.task_queue
                )
                with pytest.raises(WorkflowFailureError) as failed:
                    await handle.result()
                assert f"{name} was started with {told}. Start it with one" in str(failed.value.cause)
