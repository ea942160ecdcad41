"""LookUpContext on a real server, worker and database."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from mem.client import MemoryClient
from mem.domain.errors import ConfigurationError, RequestConflict, Unavailable
from mem.domain.lookup import ContextAnswer
from mem.domain.markdown import GAP
from mem.ports import LedgerKey, Reach
from mem.recall.outcome import Trace
from tests.temporal_server import OTHER, Rig, events, eventually, reset, runs_of
from tests.workflows.material import LOG, RAW_LINE, SECRET, lookup, lookup_fields
from tests.workflows.ports import Gate, LostAcknowledgement, Misconfigured, Slow, Switch, Wrapped


def _ledger_away(rig: Rig, settle: Callable[..., Any]) -> dict[str, Any]:
    """Ports with which an answer goes out unsettled, to be settled through `settle`."""
    look_up_settle = Switch(rig.ports.ledger.settle)
    return {
        "look_up_ledger": Wrapped(rig.ports.look_up._ports.ledger, settle=look_up_settle),
        "ledger": Wrapped(rig.ports.ledger, settle=settle),
    }


async def _stored(rig: Rig, fingerprint: str, request_id: str = "1") -> bytes | None:
    return await rig.ports.ledger.find(LedgerKey("context", rig.project, request_id), fingerprint)


async def _fingerprint(rig: Rig, request_id: str = "1") -> str:
    return await (await rig.context_handle(request_id).describe()).memo_value("fingerprint")


async def _times_seen(rig: Rig, body: bytes) -> int:
    sig_sha = ContextAnswer.model_validate_json(body).signatures[0].sig_sha
    return (await rig.ports.failures.seen([sig_sha], Reach(rig.project, federated=False)))[sig_sha].times


async def _status(rig: Rig, request_id: str = "1") -> WorkflowExecutionStatus | None:
    return (await rig.context_handle(request_id).describe()).status


async def _closed(rig: Rig, request_id: str = "1") -> bool:
    return await _status(rig, request_id) == WorkflowExecutionStatus.COMPLETED


async def test_a_retry_storm_is_one_run_and_one_occurrence(rig):
    """Fifty identical calls at once are one workflow and one occurrence, and all get the same bytes."""
    async with rig.working(), asyncio.timeout(40):
        replies = await asyncio.gather(*(rig.memory.look_up(lookup(rig)) for _ in range(50)))
        assert len({reply.body for reply in replies}) == 1
        assert await _times_seen(rig, replies[0].body) == 1
        assert len(await rig.journal("lookup")) == 1
        await eventually(lambda: _closed(rig))
        assert await runs_of(rig.temporal, rig.context_handle("1").id) == 1
        assert await _stored(rig, await _fingerprint(rig)) == replies[0].body


async def test_the_closed_run_repeats_its_answer(rig):
    """The same call after the workflow has closed gets the same bytes, without a worker even."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _closed(rig))
    async with asyncio.timeout(10):
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
    assert await _times_seen(rig, first.body) == 1


async def test_another_body_conflicts_while_the_run_is_open(rig):
    """Another body under the id of an open run is a conflict, which leaves no trace in its history."""
    settle = Gate(rig.ports.ledger.settle)
    async with rig.working(**_ledger_away(rig, settle)), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await settle.entered.wait()
        with pytest.raises(RequestConflict):
            await rig.memory.look_up(lookup(rig, task="another body"))
        assert await _status(rig) == WorkflowExecutionStatus.RUNNING
        settle.opened.set()
        await eventually(lambda: _closed(rig))
        kinds = [event.event_type for event in await events(rig.context_handle("1"))]
        assert kinds.count(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED) == 1
        assert await _stored(rig, await _fingerprint(rig)) == first.body


async def test_another_body_conflicts_before_there_is_an_answer(rig):
    """Another body that comes while the first is being answered is a conflict; the first is answered."""
    find = Gate(rig.ports.ledger.find)
    async with rig.working(look_up_ledger=Wrapped(rig.ports.look_up._ports.ledger, find=find)), asyncio.timeout(30):
        first = asyncio.create_task(rig.memory.look_up(lookup(rig)))
        await find.entered.wait()
        other = asyncio.create_task(rig.memory.look_up(lookup(rig, task="another body")))
        find.opened.set()
        with pytest.raises(RequestConflict):
            await other
        assert (await rig.memory.look_up(lookup(rig))).body == (await first).body


async def test_another_body_conflicts_with_a_closed_run(rig):
    """Another body under the id of a closed run is a conflict, and counts nothing."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _closed(rig))
        with pytest.raises(RequestConflict):
            await rig.memory.look_up(lookup(rig, budget=100))
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
    assert await _times_seen(rig, first.body) == 1


async def test_what_temporal_forgot_the_ledger_knows(rig, temporal_server):
    """Where the workflow is gone, the same body gets the stored bytes and counts nothing, and another one conflicts."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, budget=100))
        assert (await later.memory.look_up(lookup(rig))).body == first.body
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, budget=100))
    assert await _times_seen(rig, first.body) == 1
    assert len(await rig.journal("lookup")) == 1


async def test_a_refused_run_does_not_refuse_the_rightful_owner(rig, temporal_server):
    """While a run of another body waits to be refused by the ledger, a retry of the first body still gets its bytes."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    gate = Gate(rig.ports.ledger.find)
    async with later.working(look_up_ledger=Wrapped(rig.ports.look_up._ports.ledger, find=gate)), asyncio.timeout(30):
        other = asyncio.create_task(later.memory.look_up(lookup(rig, budget=100)))
        await gate.entered.wait()
        retry = asyncio.create_task(later.memory.look_up(lookup(rig)))
        gate.opened.set()
        with pytest.raises(RequestConflict):
            await other
        assert (await retry).body == first.body


@pytest.mark.slow
async def test_deleted_from_temporal(rig):
    """After the workflow was deleted from Temporal a retry gets the same bytes, and another body is a conflict."""
    async with rig.working(), asyncio.timeout(120):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _closed(rig))
        handle = rig.context_handle("1")
        await rig.temporal.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=rig.temporal.namespace, workflow_execution=WorkflowExecution(workflow_id=handle.id)
            )
        )

        async def gone() -> bool:
            try:
                await handle.describe()
            except RPCError as error:
                return error.status == RPCStatusCode.NOT_FOUND
            return False

        await eventually(gone, seconds=90)
        with pytest.raises(RequestConflict):
            await rig.memory.look_up(lookup(rig, budget=100))
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
        assert await _times_seen(rig, first.body) == 1


async def test_a_plain_start_is_the_same_request(rig):
    """A start by name with bare JSON does the work of a client's call, and shares its answer and conflicts."""
    async with rig.working(), asyncio.timeout(30):
        handle = await rig.temporal.start_workflow(
            "LookUpContext", lookup_fields(rig), id=f"context:{rig.project}:1", task_queue=rig.task_queue
        )
        result = await handle.result()
        assert (await rig.memory.look_up(lookup(rig))).body == result["body"].encode()
        with pytest.raises(RequestConflict):
            await rig.memory.look_up(lookup(rig, task="another body"))
        assert await _times_seen(rig, result["body"].encode()) == 1


async def test_a_plain_start_with_a_wrong_field_fails(rig):
    """A start whose JSON does not fit the contract fails at once instead of hanging."""
    async with rig.working(), asyncio.timeout(20):
        handle = await rig.temporal.start_workflow(
            "LookUpContext", {"request_id": "1"}, id=f"context:{rig.project}:1", task_queue=rig.task_queue
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.type == "ValidationError"


async def test_the_update_never_came(rig):
    """A workflow whose starter died before sending the update completes by itself, stored and counted."""
    async with rig.working(), asyncio.timeout(30):
        await rig.temporal.start_workflow(
            "LookUpContext", lookup_fields(rig), id=f"context:{rig.project}:1", task_queue=rig.task_queue
        )
        await eventually(lambda: _closed(rig))
    assert len(await rig.journal("lookup")) == 1


async def test_the_answer_goes_out_while_the_ledger_is_down(rig):
    """With the ledger down the answer says so, retries get it meanwhile, and exactly it is stored and counted later."""
    settle = Switch(rig.ports.ledger.settle)
    async with rig.working(**_ledger_away(rig, settle)), asyncio.timeout(40):
        first = await rig.memory.look_up(lookup(rig))
        assert [each.leg for each in first.answer.degraded] == ["ledger"]
        assert first.answer.signatures[0].seen_count == 1
        assert await _status(rig) == WorkflowExecutionStatus.RUNNING
        assert await rig.context_handle("1").query("context") == first.body.decode()
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
        with pytest.raises(RequestConflict):
            await rig.memory.look_up(lookup(rig, budget=100))
        assert await _stored(rig, await _fingerprint(rig)) is None
        settle.on = False
        await eventually(lambda: _closed(rig))
        assert settle.failed >= 1
        assert await _stored(rig, await _fingerprint(rig)) == first.body
        assert await _times_seen(rig, first.body) == 1
        assert (await rig.memory.look_up(lookup(rig))).body == first.body


async def test_a_commit_whose_acknowledgement_is_lost(rig):
    """Bytes that may have been committed before the ledger fell silent are the bytes that go out."""
    settle = LostAcknowledgement(rig.ports.ledger.settle, times=1)
    ledger = Wrapped(rig.ports.look_up._ports.ledger, settle=settle)
    async with rig.working(look_up_ledger=ledger, look_up_leg_seconds=2.0), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        assert settle.failed == 1
        assert await _stored(rig, await _fingerprint(rig)) == first.body
        await eventually(lambda: _closed(rig))
        assert await _times_seen(rig, first.body) == 1
        assert len(await rig.journal("lookup")) == 1
        assert (await rig.memory.look_up(lookup(rig))).body == first.body


async def test_a_leg_that_times_out_makes_the_answer_thinner(rig):
    """A leg that hangs is named in `degraded`, and the other legs still answer."""
    skills = Wrapped(rig.ports.look_up._ports.skills, nearest=Slow(rig.ports.skills.nearest))
    async with rig.working(look_up_skills=skills, look_up_leg_seconds=1.5), asyncio.timeout(30):
        reply = await rig.memory.look_up(lookup(rig))
        assert [(each.leg, each.reason) for each in reply.answer.degraded] == [("skills", "timeout after 1.5 s")]
        assert reply.answer.skills == []
        assert reply.answer.signatures[0].seen_count == 1


async def test_terminated_before_the_answer(rig):
    """A caller whose run is terminated learns it by a named error, and a retry is answered by a new run."""
    gate = Gate(rig.ports.ledger.find)
    async with rig.working(look_up_ledger=Wrapped(rig.ports.look_up._ports.ledger, find=gate)), asyncio.timeout(40):
        first = asyncio.create_task(rig.memory.look_up(lookup(rig)))
        await gate.entered.wait()
        await rig.context_handle("1").terminate(reason="for the test")
        with pytest.raises(Unavailable, match="for the test"):
            await first
        gate.opened.set()
        reply = await rig.memory.look_up(lookup(rig))
        assert await _times_seen(rig, reply.body) == 1


async def test_cancelled_before_the_answer(rig):
    """A caller whose run is cancelled learns it by a named error, which no retry is given again."""
    slow = Slow(rig.ports.ledger.find)
    ledger = Wrapped(rig.ports.look_up._ports.ledger, find=slow)
    async with rig.working(look_up_ledger=ledger, look_up_leg_seconds=30.0), asyncio.timeout(60):
        first = asyncio.create_task(rig.memory.look_up(lookup(rig)))
        await eventually(lambda: _true(slow.failed))
        await rig.context_handle("1").cancel()
        with pytest.raises(Unavailable, match="cancelled"):
            await first
        slow.on = False
        reply = await rig.memory.look_up(lookup(rig))
        assert await _times_seen(rig, reply.body) == 1


async def test_cancelled_while_the_ledger_is_down(rig):
    """A run that owes the ledger an answer pays it even when it is cancelled."""
    settle = Switch(rig.ports.ledger.settle)
    async with rig.working(**_ledger_away(rig, settle)), asyncio.timeout(40):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _true(settle.failed))
        await rig.context_handle("1").cancel()
        settle.on = False
        await eventually(lambda: _closed(rig))
        assert await _stored(rig, await _fingerprint(rig)) == first.body


async def test_a_failure_that_passes_is_not_repeated(rig):
    """A run that failed for want of configuration does not speak for a retry once that is mended."""
    look_up = Misconfigured(rig.ports.look_up)
    async with rig.working(look_up=look_up), asyncio.timeout(30):
        for _ in range(2):
            with pytest.raises(ConfigurationError, match="not migrated"):
                await rig.memory.look_up(lookup(rig))
        assert look_up.failed == 2
        look_up.on = False
        assert (await rig.memory.look_up(lookup(rig))).answer.degraded == []


async def test_queries_on_open_and_closed_runs(rig):
    """`context` and `trace` tell the answer and its story while the run is open and after it has closed."""
    gate = Gate(rig.ports.ledger.settle)
    async with rig.working(**_ledger_away(rig, gate)), asyncio.timeout(40):
        reply = await rig.memory.look_up(lookup(rig))
        handle = rig.context_handle("1")
        for open_run in (True, False):
            assert (await _status(rig) == WorkflowExecutionStatus.RUNNING) is open_run
            assert await handle.query("context") == reply.body.decode()
            trace = await handle.query("trace", result_type=Trace)
            assert trace.degraded == ["ledger: The database is away. Wait for it."]
            assert {leg.leg for leg in trace.legs} >= {"signatures", "symptom", "text", "skills", "ledger"}
            gate.opened.set()
            await eventually(lambda: _closed(rig))


async def test_what_the_ui_shows(rig):
    """Search attributes, summary and details tell the story, and nothing in the run shows a secret."""
    async with rig.working(), asyncio.timeout(30):
        request = lookup(rig, tool="npm", signature_source=f"{LOG}token {SECRET}\n")
        reply = await rig.memory.look_up(request)
        handle = rig.context_handle("1")
        await eventually(lambda: _closed(rig))
        described = await handle.describe()
        attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
        metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        history = "".join(str(event) for event in await events(handle))
    assert attributes["MemProject"] == rig.project
    assert attributes["MemTool"] == "npm"
    assert attributes["MemTier"] == "none"
    assert attributes["MemOutcome"] == "abstained"
    assert attributes["MemSignature"] == [reply.answer.signatures[0].sig_sha]
    assert await described.static_summary() == f"Look up failure and tool, project {rig.project}"
    assert metadata.current_details.startswith("**no tier**")
    assert "| signatures |" in metadata.current_details.replace(GAP, "")
    assert f"request `1`, project `{rig.project}`, tool `npm`" in metadata.current_details
    for shown in (metadata.current_details, str(attributes), str(await described.static_summary())):
        assert RAW_LINE not in shown
        assert "npm ERR!" not in shown
    assert SECRET not in history
    assert any("redacted" in note for note in reply.notes)


async def test_no_worker(rig):
    """Without a worker the call ends with a named error within its deadline."""
    async with asyncio.timeout(6):
        with pytest.raises(Unavailable, match="worker"):
            await rig.memory.look_up(lookup(rig), deadline=2.0)
        with pytest.raises(Unavailable, match="No worker polls"):
            await rig.memory.check()


async def test_no_server():
    """Without a server the error names the address."""
    async with asyncio.timeout(15):
        with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1\b"):
            await MemoryClient.connect(address="127.0.0.1:1", namespace="default")


async def test_a_caller_that_gives_up_is_let_go(rig):
    """Cancelling a call whose update waits for the worker ends it at once."""
    gate = Gate(rig.ports.ledger.find)
    async with rig.working(look_up_ledger=Wrapped(rig.ports.look_up._ports.ledger, find=gate)), asyncio.timeout(30):
        call = asyncio.create_task(rig.memory.look_up(lookup(rig)))
        await gate.entered.wait()
        call.cancel()
        done, _ = await asyncio.wait([call], timeout=2)
        assert done
        assert call.cancelled()
        gate.opened.set()


async def test_no_future_is_left_unlooked_at(rig):
    """Calls that fail, conflict or time out leave nothing for asyncio to complain about."""
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(str(context)))
    try:
        async with asyncio.timeout(30):
            with pytest.raises(Unavailable):
                await rig.memory.look_up(lookup(rig, "a"), deadline=0.5)
            async with rig.working():
                await rig.memory.look_up(lookup(rig))
                await eventually(lambda: _closed(rig))
                with pytest.raises(RequestConflict):
                    await rig.memory.look_up(lookup(rig, budget=100))
        gc.collect()
        await asyncio.sleep(0)
    finally:
        loop.set_exception_handler(None)
    assert complaints == []


async def test_many_other_bodies_at_once(rig):
    """Thirty other bodies under the id of an open run are thirty conflicts, and its own callers get their bytes."""
    settle = Gate(rig.ports.ledger.settle)
    async with rig.working(**_ledger_away(rig, settle)), asyncio.timeout(40):
        first = await rig.memory.look_up(lookup(rig))
        await settle.entered.wait()
        others = [rig.memory.look_up(lookup(rig, budget=number)) for number in range(1, 31)]
        retries = [rig.memory.look_up(lookup(rig)) for _ in range(10)]
        outcomes = await asyncio.gather(*others, *retries, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes[:30]} == {RequestConflict}
        assert {reply.body for reply in outcomes[30:]} == {first.body}
        settle.opened.set()


async def test_a_reset_run_gives_the_same_bytes(rig):
    """A run that is reset to its beginning answers again with the stored bytes and counts nothing."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _closed(rig))
        await reset(rig.temporal, rig.context_handle("1").id)
        result = await rig.context_handle("1").result()
        assert result["body"].encode() == first.body
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
    assert await _times_seen(rig, first.body) == 1


async def _true(value: object) -> bool:
    return bool(value)
