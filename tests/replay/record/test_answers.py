"""Lookups and queries: each way in which one can go."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import RequestConflict
from tests.replay.histories import record
from tests.temporal_server import OTHER, Rig
from tests.workflows.material import candidate, lookup, question
from tests.workflows.ports import Switch, Wrapped

pytestmark = pytest.mark.slow


async def test_lookups_and_queries(rig: Rig, temporal_server) -> None:
    """Abstained, answered, without a part, owing the ledger, and another body under the same request id."""
    rig.project = "replay-answers"
    async with rig.working(), asyncio.timeout(60):
        await _ask(rig, "abstained")
        await rig.memory.accept(candidate(rig, "found"))
        await _ask(rig, "answered")
    memories = rig.ports.look_up._ports.memories
    broken = Wrapped(memories, nearest=Switch(memories.nearest))
    async with rig.working(look_up_memories=broken, query_memories=broken), asyncio.timeout(60):
        await _ask(rig, "degraded")
    async with rig.working(**_not_storing(rig)), asyncio.timeout(60):
        await _ask(rig, "unsettled")
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(60):
        with pytest.raises(RequestConflict):
            await later.memory.look_up(lookup(rig, "answered", budget=100))
        with pytest.raises(RequestConflict):
            await later.memory.query(question(rig, "answered", k=1))
        await record("look_up_conflict", later.context_handle("answered"))
        await record("query_conflict", later.query_handle("answered"))


async def _ask(rig: Rig, name: str) -> None:
    looked = await rig.memory.look_up(lookup(rig, name))
    asked = await rig.memory.query(question(rig, name, explain=True))
    for answer, found in ((looked.answer, looked.answer.lessons), (asked.answer, asked.answer.hits)):
        assert bool(answer.degraded) == (name == "degraded") or name == "unsettled"
        assert bool(found) or name != "answered"
        assert not found or name != "abstained"
    await record(f"look_up_{name}", rig.context_handle(name))
    await record(f"query_{name}", rig.query_handle(name))


def _not_storing(rig: Rig) -> dict[str, Wrapped]:
    looking, asking = rig.ports.look_up._ports.ledger, rig.ports.query._ports.ledger
    return {
        "look_up_ledger": Wrapped(looking, settle=Switch(rig.ports.ledger.settle)),
        "query_ledger": Wrapped(asking, store=Switch(asking.store)),
        "ledger": Wrapped(rig.ports.ledger, settle=Switch(rig.ports.ledger.settle, times=2)),
    }
