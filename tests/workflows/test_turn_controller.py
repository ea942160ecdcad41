"""A controller behind users' turns, over HTTP: asked where something is relevant, and stood in for where it fails."""

from __future__ import annotations

import asyncio

import pytest

from tests.openai_server import context, failing, symptoms, verdict
from tests.workflows.material import own, turn
from tests.workflows.test_controller import rig, server

__all__ = ["rig", "server"]


@pytest.fixture(autouse=True)
def _scripted(server) -> None:
    server.script("gate", verdict(accept=True))
    server.script("symptom", symptoms("npm ERR! code ERESOLVE"))


async def test_a_controller_puts_a_turn_into_words_and_is_not_asked_where_nothing_is_relevant(rig, server):
    """What it says goes out where a memory passes the gate; where none does, no request reaches it at all."""
    said = ("Pin it through `overrides` instead of forcing the install.", [1])
    server.script("ground", context("The peer range of @types/react excludes react 19.", said))
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.accept(own(rig))
        nothing = (await rig.memory.ground(turn(rig, "lunch", message="Shall we have lunch at noon?"))).answer
        assert (nothing.has_usable_context, server.asked("ground")) == (False, [])
        told = (await rig.memory.ground(turn(rig))).answer
        assert (told.has_usable_context, told.diagnostics.warnings) == (True, [])
        assert "instead of forcing the install" in told.context_enhancement
        assert len(server.asked("ground")) == 1


async def test_a_controller_that_fails_at_a_turn_is_stood_in_for(rig, server):
    """Sentences of the memories go out in its place, with a warning."""
    server.script("ground", failing(400, message="I will not"))
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.accept(own(rig))
        told = (await rig.memory.ground(turn(rig))).answer
    assert "excludes react 19" in told.context_enhancement
    warning = told.diagnostics.warnings[0]
    assert warning.startswith("enhancer could not be asked, and sentences of the memories stand in: ")
