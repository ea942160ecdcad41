"""The step of an acceptance that puts the memory of a user into the user's summary, on a real server and database."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.accepting import AcceptAnswer
from mem.ports import Audience
from tests.temporal_server import Rig, eventually, scheduled
from tests.workflows.material import LESSON, LOG, candidate
from tests.workflows.ports import Gate, LostAcknowledgement, Switch, Wrapped

ANN = Audience("ann", "user")
OF_ANN = {"user_id": "ann", "visibility": "user"}
ANEW = "Pin the peer range of @types/react through `overrides`; forcing the install breaks the build of the docs."


async def _lines(rig: Rig) -> dict[str, str]:
    return dict(await rig.ports.users.snapshot(ANN))


async def test_the_memory_of_a_user_enters_the_summary_and_leaves_it_when_superseded(rig):
    """One step more than other memories have, a duplicate none; what supersedes takes the place."""
    async with rig.working(), asyncio.timeout(40):
        first = (await rig.memory.accept(candidate(rig, "1", **OF_ANN))).answer
        assert await _lines(rig) == {first.sha: LESSON}
        await rig.memory.accept(candidate(rig, "2", text=LESSON.upper(), **OF_ANN))
        await rig.memory.accept(candidate(rig, "3"))
        second = (await rig.memory.accept(candidate(rig, "4", text=ANEW, supersedes=[first.sha], **OF_ANN))).answer
        steps = [await scheduled(rig.accept_handle(request_id)) for request_id in "1234"]
    assert ["refresh_snapshot" in each for each in steps] == [True, False, False, True]
    assert (second.status, list(await _lines(rig))) == ("accepted", [second.sha])


async def test_a_durable_answer_names_the_summary_as_pending(rig):
    gate = Gate(rig.ports.users.refresh_snapshot)
    async with rig.working(users=Wrapped(rig.ports.users, refresh_snapshot=gate)), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig, wait="durable", **OF_ANN))
        assert "refresh_snapshot" in reply.answer.pending
        await gate.entered.wait()
        told = AcceptAnswer.model_validate_json(await rig.accept_handle("1").query("status"))
        assert "refresh_snapshot" in told.pending
        gate.opened.set()
        whole = (await rig.memory.accept(candidate(rig, wait="all", **OF_ANN))).answer
    assert whole.pending == []
    assert list(await _lines(rig)) == [whole.sha]


@pytest.mark.parametrize("kind", [Switch, LostAcknowledgement])
async def test_a_summary_that_fails_is_tried_again(rig, kind, monkeypatch):
    """Whether it was written or not, it is there once in the end."""
    monkeypatch.setattr(LostAcknowledgement, "hangs", False)
    failing = kind(rig.ports.users.refresh_snapshot, times=2)
    async with rig.working(users=Wrapped(rig.ports.users, refresh_snapshot=failing)), asyncio.timeout(40):
        answer = (await rig.memory.accept(candidate(rig, **OF_ANN))).answer
    assert (failing.failed, answer.pending, list(await _lines(rig))) == (2, [], [answer.sha])


async def test_memories_of_one_user_that_come_at_once_are_all_in_the_summary(rig):
    texts = [f"{LESSON} Seen in {place}." for place in ("the docs", "the release job", "staging")]
    async with rig.working(), asyncio.timeout(40):
        evidence = [{"source": "ci:1", "text": LOG}]
        replies = await asyncio.gather(
            *(
                rig.memory.accept(candidate(rig, str(number), text=text, evidence=evidence, **OF_ANN))
                for number, text in enumerate(texts)
            )
        )
        await eventually(lambda: _all_there(rig, {reply.answer.sha or "" for reply in replies}))
    assert [reply.answer.status for reply in replies] == ["accepted"] * 3


async def _all_there(rig: Rig, shas: set[str]) -> bool:
    return set(await _lines(rig)) == shas
