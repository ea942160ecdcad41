"""QueryMemory on a real server, worker and database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from mem.domain.errors import InvalidRequest, RequestConflict
from mem.domain.markdown import GAP
from mem.ports import LedgerKey
from mem.recall.query_outcome import QueryTrace
from tests.temporal_server import OTHER, Rig, events, eventually, reset, runs_of, scheduled
from tests.workflows.material import LESSON, QUESTION, SECRET, candidate, lookup, question, question_fields
from tests.workflows.ports import Gate, Slow, Switch, Wrapped


async def _stored(rig: Rig, request_id: str = "1") -> bytes | None:
    mark = await (await rig.query_handle(request_id).describe()).memo_value("fingerprint")
    return await rig.ports.ledger.find(LedgerKey("query", rig.project, request_id), mark)


async def _closed(rig: Rig, request_id: str = "1") -> bool:
    return (await rig.query_handle(request_id).describe()).status == WorkflowExecutionStatus.COMPLETED


def _query_ledger(rig: Rig, **replaced: Any) -> Wrapped:
    return Wrapped(rig.ports.query._ports.ledger, **replaced)


async def test_a_retry_storm_is_one_run_that_counts_nothing(rig):
    """Fifty identical calls at once are one run, get the same bytes, and leave journal and counts as they were."""
    async with rig.working(), asyncio.timeout(60):
        accepted = (await rig.memory.accept(candidate(rig))).answer
        before = await rig.journal()
        replies = await asyncio.gather(*(rig.memory.query(question(rig, explain=True)) for _ in range(50)))
        assert len({reply.body for reply in replies}) == 1
        answer = replies[0].answer
        assert [(hit.sha, hit.text) for hit in answer.hits] == [(accepted.sha, LESSON)]
        assert {parent.source for parent in answer.hits[0].provenance} == {"ci:1", "ci:2"}
        assert {one.leg for one in answer.candidates} >= {"symptom", "text"}
        await eventually(lambda: _closed(rig))
        assert await runs_of(rig.temporal, rig.query_handle("1").id) == 1
        assert await _stored(rig) == replies[0].body
        assert await rig.journal() == before
        seen = (await rig.memory.look_up(lookup(rig))).answer.signatures[0].seen_count
        assert seen == 2  # the acceptance and this lookup


async def test_the_closed_run_repeats_its_answer(rig):
    """The same call after the run has closed gets the same bytes, without a worker even."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.query(question(rig))
        await eventually(lambda: _closed(rig))
        with pytest.raises(RequestConflict):
            await rig.memory.query(question(rig, k=7))
    async with asyncio.timeout(10):
        assert (await rig.memory.query(question(rig))).body == first.body


async def test_another_question_conflicts_while_the_run_is_open(rig):
    """Another body under the id of an open run is refused, and the first is answered."""
    find = Gate(rig.ports.query._ports.ledger.find)
    async with rig.working(query_ledger=_query_ledger(rig, find=find)), asyncio.timeout(30):
        first = asyncio.create_task(rig.memory.query(question(rig)))
        await find.entered.wait()
        other = asyncio.create_task(rig.memory.query(question(rig, explain=True)))
        find.opened.set()
        with pytest.raises(RequestConflict):
            await other
        assert (await rig.memory.query(question(rig))).body == (await first).body


async def test_what_temporal_forgot_the_ledger_knows(rig, temporal_server):
    """Where the run is gone, the same body gets the stored bytes whatever was learned since, and another conflicts."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.query(question(rig))
        await rig.memory.accept(candidate(rig))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        with pytest.raises(RequestConflict):
            await later.memory.query(question(rig, k=1))
        assert (await later.memory.query(question(rig))).body == first.body
    assert first.answer.hits == []


async def test_after_expiry_it_is_asked_again(rig, temporal_server):
    """Where run and ledger row are gone, the question is asked anew and sees what is known now."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.query(question(rig))
        await rig.memory.accept(candidate(rig))
    rig.ports.ledger._clock = rig.ports.query._ports.ledger._clock = _Later()
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        assert await rig.ports.ledger.expire() >= 1
        again = await later.memory.query(question(rig))
    assert (len(first.answer.hits), len(again.answer.hits)) == (0, 1)


class _Later:
    def now(self) -> Any:
        return datetime.now(UTC) + timedelta(days=31)


async def test_a_plain_start_is_the_same_request(rig):
    """A start by name with bare JSON does the work of a client's call, and shares its answer and conflicts."""
    async with rig.working(), asyncio.timeout(30):
        handle = await rig.temporal.start_workflow(
            "QueryMemory", question_fields(rig), id=rig.query_handle("1").id, task_queue=rig.task_queue
        )
        result = await handle.result()
        assert (await rig.memory.query(question(rig))).body == result["body"].encode()
        with pytest.raises(RequestConflict):
            await rig.memory.query(question(rig, question="another"))


@pytest.mark.parametrize(
    ("fields", "kind"), [({"k": 51}, "ValidationError"), ({"question": " "}, "InvalidRequest")], ids=["k", "blank"]
)
async def test_a_plain_start_outside_the_contract_fails(rig, fields, kind):
    """A start whose JSON breaks the contract fails at once instead of hanging."""
    async with rig.working(), asyncio.timeout(20):
        handle = await rig.temporal.start_workflow(
            "QueryMemory", question_fields(rig, **fields), id=rig.query_handle("1").id, task_queue=rig.task_queue
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.type == kind


async def test_a_blank_question_starts_nothing(rig):
    """A question that is blank once hidden characters are gone is refused before anything is sent."""
    with pytest.raises(InvalidRequest):
        await rig.memory.query(question(rig, question="\u200b \u202e"))


async def test_the_answer_goes_out_while_the_ledger_is_down(rig):
    """With the ledger down the answer says so, retries get it meanwhile, and exactly it is stored later."""
    find, store = Switch(rig.ports.ledger.find), Switch(rig.ports.ledger.store)
    settle = Switch(rig.ports.ledger.store)
    parts = {
        "query_ledger": _query_ledger(rig, find=find, store=store),
        "ledger": Wrapped(rig.ports.ledger, store=settle),
    }
    async with rig.working(**parts), asyncio.timeout(40):
        first = await rig.memory.query(question(rig))
        assert [each.leg for each in first.answer.degraded] == ["ledger"]
        assert not await _closed(rig)
        assert await rig.query_handle("1").query("answer") == first.body.decode()
        assert (await rig.memory.query(question(rig))).body == first.body
        with pytest.raises(RequestConflict):
            await rig.memory.query(question(rig, k=1))
        assert await _stored(rig) is None
        settle.on = False
        await eventually(lambda: _closed(rig))
        assert settle.failed >= 1
        assert await _stored(rig) == first.body
        assert await scheduled(rig.query_handle("1")) == ["settle_query"]


async def test_a_leg_that_hangs_makes_the_answer_thinner(rig):
    """A vector leg that hangs is named in `degraded`, and the others still answer."""
    nearest = Slow(rig.ports.query._ports.memories.nearest)
    memories = Wrapped(rig.ports.query._ports.memories, nearest=nearest)
    async with rig.working(query_memories=memories, query_leg_seconds=1.5), asyncio.timeout(40):
        await rig.memory.accept(candidate(rig))
        reply = await rig.memory.query(question(rig, question=LESSON))
    assert [(each.leg, each.reason) for each in reply.answer.degraded] == [
        ("symptom", "timeout after 1.5 s"),
        ("text", "timeout after 1.5 s"),
    ]
    assert [hit.text for hit in reply.answer.hits] == [LESSON]


async def test_what_the_ui_shows(rig):
    """Attributes, summary, details and trace tell the story, and nothing in the run shows the question or a secret."""
    async with rig.working(), asyncio.timeout(40):
        accepted = (await rig.memory.accept(candidate(rig))).answer
        reply = await rig.memory.query(question(rig, question=f"{QUESTION} {SECRET}"))
        handle = rig.query_handle("1")
        await eventually(lambda: _closed(rig))
        described = await handle.describe()
        attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
        metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        trace = await handle.query("trace", result_type=QueryTrace)
        history = "".join(str(event) for event in await events(handle))
    assert (attributes["MemProject"], attributes["MemOutcome"]) == (rig.project, "answered")
    assert await described.static_summary() == f"Query L1, L2, project {rig.project}"
    assert metadata.current_details.startswith("**1 hit**")
    assert f"| L1 | `{accepted.sha[:12]}` `{rig.project}` |" in metadata.current_details.replace(GAP, "")
    assert [hit.sha for hit in trace.hits] == [accepted.sha]
    assert trace.hits[0].ranks["text"] == 1
    assert {leg.leg for leg in trace.legs} >= {"symptom", "text", "lexical", "ledger"}
    assert (trace.request_id, trace.project, trace.reranker) == ("1", rig.project, "embedded scorer")
    for shown in (metadata.current_details, str(attributes), str(await described.static_summary())):
        assert QUESTION not in shown
    assert SECRET not in history
    assert any("redacted" in note for note in reply.notes)


async def test_a_reset_run_gives_the_same_bytes(rig):
    """A run that is reset to its beginning answers again with the stored bytes."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.query(question(rig))
        await eventually(lambda: _closed(rig))
        await rig.memory.accept(candidate(rig))
        await reset(rig.temporal, rig.query_handle("1").id)
        result = await rig.query_handle("1").result()
        assert result["body"].encode() == first.body
