"""Each leg, made slow: what comes in time counts in full, and what comes too late not at all."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mem.domain.errors import Unavailable
from mem.domain.lookup import OPERATION
from mem.ports import LedgerKey, Reach, Settlement
from mem.recall.legs import Legs
from tests.unit.recall.kit import NPM_LOG, World, counted
from tests.unit.recall.test_look_up import full_house

LEG = 0.3
DOWN = Unavailable("The part is away.", "Wait.")

LEGS: dict[str, tuple[str, str]] = {
    "signatures": ("failures", "known"),
    "symptom": ("memories", "nearest"),
    "text": ("memories", "nearest"),
    "lexical": ("memories", "lexical"),
    "rerank": ("reranker", "rerank"),
    "skills": ("skills", "nearest"),
    "reference": ("memories", "nearest"),
    "embedding": ("embedder", "embed"),
    "ledger": ("ledger", "settle"),
}
"""By what each leg fails alone."""


class Late:
    """Work that nobody can cancel: it goes on when its leg has given up, and ends once it is released."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.begun = 0
        self.ended = 0

    async def of(self, work: Callable[[], Any]) -> Any:
        self.begun += 1
        while not self.released.is_set():
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                continue
        try:
            return await work()
        finally:
            self.ended += 1


@pytest.fixture
def late() -> Iterator[Late]:
    work = Late()
    yield work
    work.released.set()


@pytest.fixture
async def world() -> World:
    found = World()
    await full_house(found)
    return found


def disturb(world: World, leg: str, fault: Callable[[Callable[[], Any]], Any]) -> None:
    """Let the method behind a leg do what `fault` makes of it, and every other leg its work."""
    part, method = LEGS[leg]
    real = getattr(getattr(world.ports, part), method)

    async def disturbed(*arguments: Any) -> Any:
        if part == "memories" and leg != (
            "reference" if "R" in arguments[1] else "lexical" if method == "lexical" else arguments[0]
        ):
            return await real(*arguments)
        return await fault(lambda: real(*arguments))

    if leg == "lexical":
        world.break_part("embedder", embed=DOWN)
    world.break_part(part, **{method: disturbed})


def _asking(method: str, arguments: tuple[Any, ...]) -> str:
    """Which leg calls a method of the memories."""
    if "R" in arguments[1]:
        return "reference"
    return "lexical" if method == "lexical" else str(arguments[0])


async def twice(world: World, **fields: Any) -> list[dict[str, Any]]:
    """Two identical requests at once."""
    asked = [world.look_up(signature_source=NPM_LOG, leg_seconds=LEG, **fields) for _ in range(2)]
    return list(await asyncio.gather(*asked))


@pytest.mark.parametrize("leg", LEGS)
async def test_a_leg_that_is_late_costs_no_more_than_itself(world, late, leg):
    """It is named with a reason that says nothing of measured times; afterwards all is as if it had never been."""
    healthy = await world.look_up(signature_source=NPM_LOG)
    sound = world.ports
    disturb(world, leg, late.of)
    first, second = await twice(world)
    others = [{"leg": "embedding", "reason": str(DOWN)}] if leg == "lexical" else []
    assert first["degraded"] == [*others, {"leg": leg, "reason": "timeout after 0.3 s"}]
    assert counted(first) == counted(second)
    if leg in ("skills", "ledger"):
        assert counted(first["lessons"]) == counted(healthy["lessons"])
    late.released.set()
    while late.ended < late.begun:
        await asyncio.sleep(0.01)
    world.ports = sound
    again = await world.look_up(signature_source=NPM_LOG)
    assert counted(again) == counted(healthy)
    # Once for each request that was counted; of those whose ledger was late none was.
    requests = 2 if leg == "ledger" else 4
    assert again["signatures"][0]["seen_count"] == 1 + requests


@pytest.mark.parametrize("leg", LEGS)
async def test_what_is_slow_and_comes_in_time_counts_in_full(world, leg):
    """A leg that answers before its limit gives the answer of a quick one."""

    async def slow(work: Any) -> Any:
        await asyncio.sleep(0.02)
        return await work()

    if leg == "lexical":
        world.break_part("embedder", embed=DOWN)
    healthy = await world.look_up(signature_source=NPM_LOG)
    disturb(world, leg, slow)
    assert counted(await world.look_up(signature_source=NPM_LOG)) == counted(healthy)


async def test_a_settlement_that_renders_too_late_leaves_nothing(world, late):
    """What would be stored after its leg was given up is not what went out; so nothing is, until what went out is."""
    ledger = world.ports.ledger
    disturb(world, "ledger", late.of)
    before = dict(world.state.occurrences)
    outcome = await world.outcome(request_id="r", signature_source=NPM_LOG, leg_seconds=LEG)
    late.released.set()
    while not late.ended:
        await asyncio.sleep(0.01)
    assert world.state.occurrences == before
    assert await ledger.find(LedgerKey(OPERATION, "p", "r"), outcome.fingerprint) is None
    stored = await _settle_later(world, ledger, outcome)
    assert stored == outcome.body.encode()
    world.with_ports(ledger=ledger)
    assert (await world.outcome(request_id="r", signature_source=NPM_LOG)).body == outcome.body


async def test_a_settlement_that_commits_too_late_leaves_what_went_out(world, late):
    """Bytes that were made in time and are stored after the leg was given up are the bytes that went out."""
    ledger = world.ports.ledger

    async def committing(settlement: Settlement, render: Any) -> bytes:
        seen = await world.ports.failures.seen(settlement.keys, settlement.reach)
        made = render(seen)
        return bytes(await late.of(lambda: ledger.settle(settlement, lambda _: made)))

    world.break_part("ledger", settle=committing)
    outcome = await world.outcome(request_id="r", signature_source=NPM_LOG, leg_seconds=LEG)
    assert json.loads(outcome.body)["degraded"] == []
    late.released.set()
    while not late.ended:
        await asyncio.sleep(0.01)
    assert await _settle_later(world, ledger, outcome) == outcome.body.encode()
    world.with_ports(ledger=ledger)
    assert (await world.outcome(request_id="r", signature_source=NPM_LOG)).body == outcome.body
    sig_sha = json.loads(outcome.body)["signatures"][0]["sig_sha"]
    assert (await world.ports.failures.seen([sig_sha], Reach("p", federated=False)))[sig_sha].times == 2


async def _settle_later(world: World, ledger: Any, outcome: Any) -> bytes:
    owed = outcome.unsettled
    settlement = Settlement(
        LedgerKey(OPERATION, "p", "r"), owed.fingerprint, tuple(owed.sightings), Reach("p", federated=True),
        tuple(owed.returned),
    )  # fmt: skip
    return bytes(await ledger.settle(settlement, lambda _: owed.body.encode()))


async def test_work_that_cannot_be_cancelled_is_not_waited_for(late):
    """A leg ends at its limit though its work goes on, and what that work ends with concerns nobody."""
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(str(context)))
    try:
        legs = Legs(leg_seconds=0.3)
        async with asyncio.timeout(5):
            assert await legs.run("text", "step", late.of(_broken), "default") == "default"
        assert [each.reason for each in legs.degraded] == ["timeout after 0.3 s"]
        late.released.set()
        while not late.ended:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        gc.collect()
    finally:
        asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []


async def _broken() -> None:
    raise DOWN


async def test_a_leg_that_cancels_itself_has_failed():
    """A cancellation from within is a fault of the leg; it does not end the lookup."""

    async def cancelling() -> None:
        raise asyncio.CancelledError

    legs = Legs()
    assert await legs.run("text", "step", cancelling(), "default") == "default"
    assert [each.reason for each in legs.degraded] == ["The step was cancelled from within. Look at the worker's log."]


async def test_a_lookup_that_is_cancelled_takes_its_legs_along(world):
    """Whoever cancels a lookup leaves no leg at work."""
    ended = asyncio.Event()

    async def waiting(*_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    world.break_part("failures", known=waiting)
    asking = asyncio.create_task(world.outcome(signature_source=NPM_LOG, leg_seconds=60.0))
    await asyncio.sleep(0.2)
    asking.cancel()
    async with asyncio.timeout(5):
        await ended.wait()
        await asyncio.wait([asking])
    assert asking.cancelled()
