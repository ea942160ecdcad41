"""The turns of users: each way in which one can go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from mem.domain.errors import ControllerRefused, RequestConflict
from mem.domain.grounding import ScopeLevel
from mem.recall.enhancement import Enhancement, Relevant, Statement
from tests.replay.histories import record
from tests.temporal_server import OTHER, Rig
from tests.workflows.material import own, turn
from tests.workflows.ports import Switch, Wrapped

pytestmark = pytest.mark.slow


class ScriptedEnhancer:
    """A controller that says one sentence, or refuses."""

    model_id = "scripted"

    def __init__(self) -> None:
        self.refuses = False

    async def enhance(
        self, message: str, memories: Sequence[Relevant], limit: int, *, scope: ScopeLevel
    ) -> Enhancement | None:
        del message, limit, scope
        if self.refuses:
            raise ControllerRefused("The model declined.", "Ask again.")
        said = Statement("React 19 is excluded by the peer range.", (memories[0].sha,))
        return Enhancement("One memory concerns this.", (said,), (memories[0].sha,))


async def test_turns(rig: Rig, temporal_server) -> None:
    """Each kind of turn goes as it is recorded."""
    rig.project = "replay-turns"
    users = rig.ports.ground._ports.users
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "not_found"))
        await record("ground_not_found", rig.ground_handle("not_found"))
        await rig.memory.accept(own(rig))
        await rig.memory.ground(turn(rig, "answered"))
        await record("ground_answered", rig.ground_handle("answered"))
        await rig.memory.ground(turn(rig, "abstained", message="Shall we have lunch at noon?"))
        await record("ground_abstained", rig.ground_handle("abstained"))
    broken = Wrapped(users, nearest=Switch(users.nearest), words=Switch(users.words))
    async with rig.working(ground_users=broken), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "degraded"))
        await record("ground_degraded", rig.ground_handle("degraded"))
    stored = rig.ports.ground._ports.ledger
    ledger = Wrapped(stored, store=Switch(stored.store))
    async with rig.working(ground_ledger=ledger), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "unsettled"))
        await record("ground_unsettled", rig.ground_handle("unsettled"))
    enhancer = ScriptedEnhancer()
    async with rig.working(ground_controlled=True, enhancer=enhancer), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "enhanced"))
        await record("ground_enhanced", rig.ground_handle("enhanced"))
        enhancer.refuses = True
        await rig.memory.ground(turn(rig, "stood_in"))
        await record("ground_stood_in", rig.ground_handle("stood_in"))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(60):
        with pytest.raises(RequestConflict):
            await later.memory.ground(turn(rig, "answered", read_mode="deep"))
        await record("ground_conflict", later.ground_handle("answered"))
