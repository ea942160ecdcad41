"""GroundContext on a real server, worker and database."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from mem.domain.errors import ControllerRefused, InvalidRequest, RequestConflict
from mem.domain.grounding import ScopeLevel
from mem.domain.ids import ground_workflow_id, user_scope
from mem.domain.markdown import GAP
from mem.ports import LedgerKey
from mem.recall.enhancement import Enhancement, Relevant, Statement
from mem.recall.ground_outcome import GroundTrace
from tests.temporal_server import OTHER, USER, Rig, events, eventually, reset, runs_of, scheduled
from tests.workflows.material import MESSAGE, SECRET, own, turn, turn_fields
from tests.workflows.ports import Gate, LostAcknowledgement, Slow, Switch, Wrapped


async def _stored(rig: Rig, request_id: str = "1") -> bytes | None:
    mark = await (await rig.ground_handle(request_id).describe()).memo_value("fingerprint")
    return await rig.ports.ledger.find(LedgerKey("ground", user_scope(rig.user()), request_id), mark)


async def _closed(rig: Rig, request_id: str = "1") -> bool:
    return (await rig.ground_handle(request_id).describe()).status == WorkflowExecutionStatus.COMPLETED


def _ground_ledger(rig: Rig, **replaced: Any) -> Wrapped:
    return Wrapped(rig.ports.ground._ports.ledger, **replaced)


async def test_a_retry_storm_is_one_run_that_counts_nothing(rig):
    """Fifty identical turns at once are one run, get the same bytes, and leave the journal as it was."""
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.accept(own(rig))
        before = await rig.journal()
        replies = await asyncio.gather(*(rig.memory.ground(turn(rig)) for _ in range(50)))
        assert len({reply.body for reply in replies}) == 1
        answer = replies[0].answer
        assert (answer.status, answer.has_usable_context) == ("ok", True)
        assert "excludes react 19" in answer.context_enhancement
        assert answer.diagnostics.source_breakdown.model_dump() == {
            "snapshot": 1, "vector": 1, "metadata": 1, "graph": 0,
        }  # fmt: skip
        await eventually(lambda: _closed(rig))
        assert await runs_of(rig.temporal, rig.ground_handle("1").id) == 1
        assert await _stored(rig) == replies[0].body
        assert await rig.journal() == before


async def test_the_closed_run_repeats_its_answer(rig):
    """The same call after the run has closed gets the same bytes, without a worker even; another body conflicts."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.ground(turn(rig))
        assert first.answer.status == "not_found"
        await eventually(lambda: _closed(rig))
        with pytest.raises(RequestConflict):
            await rig.memory.ground(turn(rig, read_mode="deep"))
        # Of other rights, it is another run, and tells nothing of this one.
        assert (await rig.memory.ground(turn(rig), readable=[rig.project])).body == first.body
        assert await runs_of(rig.temporal, ground_workflow_id(rig.user(), "1", [rig.project])) == 1
    async with asyncio.timeout(10):
        assert (await rig.memory.ground(turn(rig))).body == first.body


async def test_another_message_conflicts_while_the_run_is_open(rig):
    """Another body under the id of an open run is refused, and the first is answered."""
    find = Gate(rig.ports.ground._ports.ledger.find)
    async with rig.working(ground_ledger=_ground_ledger(rig, find=find)), asyncio.timeout(30):
        first = asyncio.create_task(rig.memory.ground(turn(rig)))
        await find.entered.wait()
        other = asyncio.create_task(rig.memory.ground(turn(rig, message="another")))
        find.opened.set()
        with pytest.raises(RequestConflict):
            await other
        assert (await rig.memory.ground(turn(rig))).body == (await first).body


async def test_a_turn_survives_the_death_of_its_worker(rig, temporal_server, database_url, forks):
    """A worker that is killed once it has stored the answer is followed by another, which repeats the stored bytes."""
    environment = {
        "PATH": os.defpath, "MEM_DATABASE_URL": database_url, "MEM_DATABASE_POOL": "2",
        "MEM_TASK_QUEUE": rig.task_queue, "TEMPORAL_ADDRESS": temporal_server.address,
    }  # fmt: skip
    async with rig.working(), asyncio.timeout(30):
        await rig.memory.accept(own(rig))
    async with asyncio.timeout(300):
        asked = asyncio.create_task(rig.memory.ground(turn(rig)))
        killed = forks.start("tests.faults.killing_worker:work", "ground_context", "after", environment=environment)
        assert (await killed.ended()).code == -signal.SIGKILL
        async with rig.working():
            first = await asked
            stored = await _stored(rig)
            assert first.body == stored
            assert (await rig.memory.ground(turn(rig))).body == stored
    assert first.answer.has_usable_context


async def test_a_commit_whose_acknowledgement_is_lost(rig):
    """Bytes that may have been committed before the ledger fell silent are the bytes that go out."""
    store = LostAcknowledgement(rig.ports.ledger.store, times=1)
    async with rig.working(ground_ledger=_ground_ledger(rig, store=store), ground_leg_seconds=2.0), asyncio.timeout(30):
        first = await rig.memory.ground(turn(rig))
        assert store.failed == 1
        assert await _stored(rig) == first.body
        await eventually(lambda: _closed(rig))
        assert (await rig.memory.ground(turn(rig))).body == first.body


async def test_what_temporal_forgot_the_ledger_knows(rig, temporal_server):
    """Where the run is gone, the same body gets the stored bytes whatever was learned since, and another conflicts."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.ground(turn(rig))
        await rig.memory.accept(own(rig))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        with pytest.raises(RequestConflict):
            await later.memory.ground(turn(rig, message="another"))
        assert (await later.memory.ground(turn(rig))).body == first.body
    assert first.answer.status == "not_found"


async def test_after_expiry_it_is_asked_again(rig, temporal_server):
    """Where run and ledger row are gone, the turn is grounded anew in what is known now."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.ground(turn(rig))
        await rig.memory.accept(own(rig))
    rig.ports.ledger._clock = rig.ports.ground._ports.ledger._clock = _Later()
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        assert await rig.ports.ledger.expire() >= 1
        again = await later.memory.ground(turn(rig))
    assert (first.answer.status, again.answer.has_usable_context) == ("not_found", True)


class _Later:
    def now(self) -> Any:
        return datetime.now(UTC) + timedelta(days=31)


async def test_a_plain_start_is_the_same_request(rig):
    """A start by name with bare JSON does the work of a client's call, and shares its answer and conflicts."""
    async with rig.working(), asyncio.timeout(30):
        await rig.memory.accept(own(rig))
        handle = await rig.temporal.start_workflow(
            "GroundContext", turn_fields(rig), id=rig.ground_handle("1").id, task_queue=rig.task_queue
        )
        result = await handle.result()
        assert (await rig.memory.ground(turn(rig))).body == result["body"].encode()
        with pytest.raises(RequestConflict):
            await rig.memory.ground(turn(rig, message="another"))


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"read_mode": "wild"}, "ValidationError"), ({"message": " "}, "InvalidRequest")],
    ids=["mode", "blank"],
)
async def test_a_plain_start_outside_the_contract_fails_and_names_nobody(rig, fields, kind):
    """A start whose JSON breaks the contract fails at once, and its failure holds neither user nor message."""
    async with rig.working(), asyncio.timeout(20):
        handle = await rig.temporal.start_workflow(
            "GroundContext", turn_fields(rig, **fields), id=rig.ground_handle("1").id, task_queue=rig.task_queue
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.type == kind
        assert USER not in str(failed.value.cause)
        assert MESSAGE not in str(failed.value.cause)


async def test_a_blank_message_starts_nothing(rig):
    """A message that is blank once hidden characters are gone is refused before anything is sent."""
    with pytest.raises(InvalidRequest):
        await rig.memory.ground(turn(rig, message="\u200b \u202e"))


async def test_the_answer_goes_out_while_the_ledger_is_down(rig):
    """With the ledger down the answer says so, retries get it meanwhile, and exactly it is stored later."""
    find, store = Switch(rig.ports.ledger.find), Switch(rig.ports.ledger.store)
    settle = Switch(rig.ports.ledger.store)
    parts = {
        "ground_ledger": _ground_ledger(rig, find=find, store=store),
        "ledger": Wrapped(rig.ports.ledger, store=settle),
    }
    async with rig.working(**parts), asyncio.timeout(40):
        first = await rig.memory.ground(turn(rig))
        assert "ledger could not be read: The database is away. Wait for it." in first.answer.diagnostics.warnings
        assert not await _closed(rig)
        assert await rig.ground_handle("1").query("context") == first.body.decode()
        assert (await rig.memory.ground(turn(rig))).body == first.body
        with pytest.raises(RequestConflict):
            await rig.memory.ground(turn(rig, message="another"))
        assert await _stored(rig) is None
        settle.on = False
        await eventually(lambda: _closed(rig))
        assert settle.failed >= 1
        assert await _stored(rig) == first.body
        assert await scheduled(rig.ground_handle("1")) == ["settle_ground"]


async def test_a_source_that_hangs_makes_the_context_thinner(rig):
    """Vectors that hang are named in a warning, and the other sources still answer."""
    users = Wrapped(rig.ports.ground._ports.users, nearest=Slow(rig.ports.ground._ports.users.nearest))
    async with rig.working(ground_users=users, ground_leg_seconds=1.5), asyncio.timeout(40):
        await rig.memory.accept(own(rig))
        reply = await rig.memory.ground(turn(rig))
    assert reply.answer.diagnostics.warnings == ["vector could not be read: timeout after 1.5 s"]
    assert reply.answer.diagnostics.source_breakdown.vector == 0


async def test_what_the_ui_shows(rig):
    """Attributes, summary, details and trace tell the story; no user, container, message or secret is shown."""
    containers = [{"id": "thread-abc", "type": "thread"}]
    async with rig.working(), asyncio.timeout(40):
        accepted = (await rig.memory.accept(own(rig))).answer
        asked = turn(rig, message=f"{MESSAGE} {SECRET}", containers=containers, scope_level="user_global_container")
        reply = await rig.memory.ground(asked)
        handle = rig.ground_handle("1")
        await eventually(lambda: _closed(rig))
        described = await handle.describe()
        attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
        metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        trace = await handle.query("trace", result_type=GroundTrace)
        history = "".join(str(event) for event in await events(handle))
    assert attributes["MemOutcome"] == "answered"
    assert "MemProject" not in attributes
    assert await described.static_summary() == "Ground a turn, balanced, user_global_container"
    assert metadata.current_details.startswith("**1 used, 1 relevant of 1 scored, evidence ")
    assert f"| L1 | `{accepted.sha[:12]}` `{rig.project}` |" in metadata.current_details.replace(GAP, "")
    assert [(one.sha, one.used) for one in trace.memories] == [(accepted.sha, True)]
    assert {leg.leg for leg in trace.legs} >= {"snapshot", "vector", "metadata", "graph", "rerank", "ledger"}
    assert (trace.request_id, trace.reranker, trace.enhancer) == ("1", "embedded scorer", "extractive")
    assert reply.answer.diagnostics.missing_containers == ["thread-abc"]
    shown = (metadata.current_details, str(attributes), str(await described.static_summary()), handle.id)
    for told in (*shown, trace.model_dump_json()):
        for word in (USER, "thread-abc", MESSAGE):
            assert word not in told
    assert SECRET not in history
    assert any("redacted" in note for note in reply.notes)


async def test_a_reset_run_gives_the_same_bytes(rig):
    """A run that is reset to its beginning answers again with the stored bytes."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.ground(turn(rig))
        await eventually(lambda: _closed(rig))
        await rig.memory.accept(own(rig))
        await reset(rig.temporal, rig.ground_handle("1").id)
        result = await rig.ground_handle("1").result()
        assert result["body"].encode() == first.body


class Controller:
    """Says one sentence of the first memory, or refuses; counts how often it was asked."""

    model_id = "scripted"

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.asked = 0

    async def enhance(
        self, message: str, memories: Sequence[Relevant], limit: int, *, scope: ScopeLevel
    ) -> Enhancement | None:
        del message, limit, scope
        self.asked += 1
        if self.refuses:
            raise ControllerRefused("The model declined.", "Ask again.")
        said = Statement("It is pinned.", (memories[0].sha,))
        return Enhancement("One memory concerns this.", (said,), (memories[0].sha,))


async def test_a_controller_makes_the_context_where_one_is_configured(rig):
    """What the controller says goes out, asked once for any number of equal calls, and never where nothing passes."""
    controller = Controller()
    async with rig.working(ground_controlled=True, enhancer=controller), asyncio.timeout(60):
        await rig.memory.accept(own(rig))
        nothing = await rig.memory.ground(turn(rig, "lunch", message="Shall we have lunch at noon?"))
        assert (nothing.answer.has_usable_context, controller.asked) == (False, 0)
        replies = await asyncio.gather(*(rig.memory.ground(turn(rig)) for _ in range(5)))
        assert (len({reply.body for reply in replies}), controller.asked) == (1, 1)
        assert "It is pinned." in replies[0].answer.context_enhancement
        await eventually(lambda: _closed(rig))
        trace = await rig.ground_handle("1").query("trace", result_type=GroundTrace)
        assert trace.enhancer == "scripted"
        assert await scheduled(rig.ground_handle("1")) == ["enhance_context"]
        assert await _stored(rig) == replies[0].body


async def test_a_controller_that_refuses_is_stood_in_for(rig):
    """Sentences of the memories go out with a warning, and nobody waits for the controller again."""
    controller = Controller(refuses=True)
    async with rig.working(ground_controlled=True, enhancer=controller), asyncio.timeout(60):
        await rig.memory.accept(own(rig))
        reply = await rig.memory.ground(turn(rig))
    assert controller.asked == 1
    assert "excludes react 19" in reply.answer.context_enhancement
    assert reply.answer.diagnostics.warnings == [
        "enhancer could not be asked, and sentences of the memories stand in: The model declined. Ask again."
    ]
