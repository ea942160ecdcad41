"""Callers that come again: late, after giving up, or after somebody took their run away."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from mem.domain.errors import RequestConflict
from mem.domain.lookup import ContextAnswer
from mem.ports import LedgerKey, Reach
from tests.temporal_server import OTHER, Rig, eventually, reset
from tests.workflows.material import candidate, lookup
from tests.workflows.ports import Gate, Switch, Wrapped


class _Later:
    """A clock of the month after next."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=60)


async def _times_seen(rig: Rig, body: bytes) -> int:
    sig_sha = ContextAnswer.model_validate_json(body).signatures[0].sig_sha
    return (await rig.ports.failures.seen([sig_sha], Reach(rig.project, federated=False)))[sig_sha].times


async def _status(rig: Rig) -> WorkflowExecutionStatus | None:
    return (await rig.context_handle("1").describe()).status


async def test_after_run_and_row_are_gone_the_journal_still_knows_the_request(rig, temporal_server):
    """A retry is computed again, with what is known by then, and counts nothing; another body is a conflict still."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await rig.memory.accept(candidate(rig))
    assert first.answer.tier is None
    rig.ports.ledger._clock = rig.ports.look_up._ports.ledger._clock = _Later()
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        assert await rig.ports.ledger.expire() == 3  # the lookup, and the acceptance for either wait
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, budget=100))
        again = await later.memory.look_up(lookup(rig))
        assert (again.answer.tier, again.answer.degraded) == (1, [])
        assert (await later.memory.look_up(lookup(rig))).body == again.body
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, budget=100))
    assert await _times_seen(rig, first.body) == 2  # the lookup and the acceptance
    assert len(await rig.journal("lookup")) == 1


async def test_a_caller_that_gave_up_finds_the_answer_when_it_comes_again(rig):
    """The run goes on without its caller, and answers the same call later, counted once."""
    gate = Gate(rig.ports.ledger.find)
    async with rig.working(look_up_ledger=Wrapped(rig.ports.look_up._ports.ledger, find=gate)), asyncio.timeout(30):
        call = asyncio.create_task(rig.memory.look_up(lookup(rig)))
        await gate.entered.wait()
        call.cancel()
        await asyncio.wait([call])
        gate.opened.set()
        result = await rig.context_handle("1").result()
        again = await rig.memory.look_up(lookup(rig))
        assert again.body == result["body"].encode()
        assert again.answer.degraded == []
        assert gate.calls == 1
    assert await _times_seen(rig, again.body) == 1


async def test_cancelling_a_run_that_has_answered_changes_nothing(rig):
    """A cancellation that comes after the answer takes nothing back."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.look_up(lookup(rig))
        await eventually(lambda: _is(rig, WorkflowExecutionStatus.COMPLETED))
        await rig.context_handle("1").cancel()
        assert await _status(rig) == WorkflowExecutionStatus.COMPLETED
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
    assert await _times_seen(rig, first.body) == 1


async def test_a_run_that_is_terminated_owing_the_ledger(rig, temporal_server):
    """Temporal repeats its answer as long as it knows it; once it does not, the request is computed and counts once."""
    async with rig.working(**_owing(rig)), asyncio.timeout(40):
        first = await rig.memory.look_up(lookup(rig))
        assert [each.leg for each in first.answer.degraded] == ["ledger"]
        await rig.context_handle("1").terminate(reason="for the test")
        assert (await rig.memory.look_up(lookup(rig))).body == first.body
    assert await _times_seen(rig, first.body) == 0
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        again = await later.memory.look_up(lookup(rig))
        assert again.answer.degraded == []
        assert (await later.memory.look_up(lookup(rig))).body == again.body
    assert await _times_seen(rig, again.body) == 1


async def test_a_run_that_is_reset_owing_the_ledger(rig):
    """It answers anew, since its answer was stored nowhere; from then on that is the answer, and it counts once."""
    parts = _owing(rig)
    async with rig.working(**parts), asyncio.timeout(40):
        first = await rig.memory.look_up(lookup(rig))
        assert [each.leg for each in first.answer.degraded] == ["ledger"]
        await reset(rig.temporal, rig.context_handle("1").id)
        await eventually(lambda: _is(rig, WorkflowExecutionStatus.COMPLETED))
        again = await rig.memory.look_up(lookup(rig))
        assert again.answer.degraded == []
        mark = await (await rig.context_handle("1").describe()).memo_value("fingerprint")
        assert await rig.ports.ledger.find(LedgerKey("context", rig.project, "1"), mark) == again.body
    assert await _times_seen(rig, again.body) == 1


def _owing(rig: Rig) -> dict[str, Any]:
    """Ports with which the first answer goes out unsettled, and is not settled later."""
    settle = Switch(rig.ports.look_up._ports.ledger.settle, times=1)
    return {
        "look_up_ledger": Wrapped(rig.ports.look_up._ports.ledger, settle=settle),
        "ledger": Wrapped(rig.ports.ledger, settle=Switch(rig.ports.ledger.settle)),
    }


async def _is(rig: Rig, status: WorkflowExecutionStatus) -> bool:
    return await _status(rig) == status
