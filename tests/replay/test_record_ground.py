"""Recording the runs of users' turns, as `test_replay` does the others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

import pytest

from mem.domain.errors import ControllerRefused, RequestConflict
from mem.domain.grounding import ScopeLevel
from mem.recall.enhancement import Enhancement, Relevant, Statement
from tests.replay.test_replay import write
from tests.temporal_server import OTHER, Rig
from tests.workflows.material import own, turn
from tests.workflows.ports import Switch, Wrapped


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


@pytest.mark.skipif("MEM_RECORD_HISTORIES" not in os.environ, reason="records only when asked to")
async def test_record(rig: Rig, temporal_server) -> None:
    """Each kind of turn is made once more and written down."""
    rig.project = "replay"
    users = rig.ports.ground._ports.users
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "not_found"))
        await write("ground_not_found", rig.ground_handle("not_found"))
        await rig.memory.accept(own(rig))
        await rig.memory.ground(turn(rig, "answered"))
        await write("ground_answered", rig.ground_handle("answered"))
        await rig.memory.ground(turn(rig, "abstained", message="Shall we have lunch at noon?"))
        await write("ground_abstained", rig.ground_handle("abstained"))
    broken = Wrapped(users, nearest=Switch(users.nearest), words=Switch(users.words))
    async with rig.working(ground_users=broken), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "degraded"))
        await write("ground_degraded", rig.ground_handle("degraded"))
    stored = rig.ports.ground._ports.ledger
    ledger = Wrapped(stored, store=Switch(stored.store))
    async with rig.working(ground_ledger=ledger), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "unsettled"))
        await write("ground_unsettled", rig.ground_handle("unsettled"))
    enhancer = ScriptedEnhancer()
    async with rig.working(ground_controlled=True, enhancer=enhancer), asyncio.timeout(60):
        await rig.memory.ground(turn(rig, "enhanced"))
        await write("ground_enhanced", rig.ground_handle("enhanced"))
        enhancer.refuses = True
        await rig.memory.ground(turn(rig, "stood_in"))
        await write("ground_stood_in", rig.ground_handle("stood_in"))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(60):
        with pytest.raises(RequestConflict):
            await later.memory.ground(turn(rig, "answered", read_mode="deep"))
        await write("ground_conflict", later.ground_handle("answered"))
