"""The read modes differ in what they ask, how wide, and how far."""

from __future__ import annotations

from typing import Any

import pytest

from mem.recall.ground_modes import MODES, hits_of
from tests.unit.recall.ground_kit import GroundWorld
from tests.unit.recall.kit import NPM_LOG, Broken

TWO = "How do the tests work? They want a database of some sort."
TESTS = "The tests of this repo need a database."


@pytest.fixture
async def world() -> GroundWorld:
    found = GroundWorld()
    await found.remember(TESTS, symptom="tests failed without a database", log=NPM_LOG)
    return found


async def calls_of(world: GroundWorld, **fields: Any) -> list[str]:
    users = Broken(world.users)
    embedder = Broken(world.embedder)
    world.with_turns(users=users, embedder=embedder)
    await world.outcome(**fields)
    return sorted([*users.calls, *embedder.calls])


async def test_simple_embeds_nothing_and_follows_no_edge(world):
    """The simple mode asks summary, words and labels alone."""
    calls = await calls_of(world, read_mode="simple")
    assert calls == ["known", "labelled", "remembered", "snapshot", "words"]
    told = (await world.ground(read_mode="simple")).diagnostics.source_breakdown
    assert (told.vector, told.graph) == (0, 0)
    assert told.snapshot == told.metadata == 1


async def test_balanced_asks_the_vectors_and_one_hop(world):
    """The balanced mode embeds the message once, and follows the edges of the best once."""
    calls = await calls_of(world, read_mode="balanced", message=TWO)
    assert (calls.count("embed"), calls.count("nearest"), calls.count("neighbours")) == (1, 1, 1)


async def test_deep_reads_each_sentence_and_symptoms_and_goes_on(world):
    """The deep mode searches with each sentence among texts and symptoms, and follows edges from what it found."""
    other = await world.remember("Overrides are pinned.", log=NPM_LOG)
    calls = await calls_of(world, read_mode="deep", message=TWO)
    assert calls.count("nearest") == 2 * 3
    assert calls.count("neighbours") >= 1
    outcome = await world.outcome(read_mode="deep")
    assert "graph" in next(one.sources for one in outcome.trace.memories if one.sha == other)


async def test_deep_goes_two_hops():
    """What is tied to a neighbour alone is found by the deep mode only."""
    chain = GroundWorld()
    parent = await chain.remember(TESTS)
    middle = await chain.remember("A container for each run is what keeps them apart", level="L2", parents=[parent])
    far = await chain.remember("Ports are chosen anew by each process", level="L2", parents=[middle])
    chain.with_turns(users=Broken(chain.users, nearest=_nothing, labelled=_nothing, snapshot=_nothing))
    found = {}
    for mode in ("balanced", "deep"):
        outcome = await chain.outcome(read_mode=mode)
        found[mode] = {one.sha for one in outcome.trace.memories if "graph" in one.sources}
    assert middle in found["balanced"]
    assert far in found["deep"] - found["balanced"]


async def _nothing(*_: Any, **__: Any) -> list[Any]:
    return []


async def test_each_mode_is_wider_than_the_one_before():
    """For the same budget a source gives more hits from mode to mode."""
    widths = [hits_of(MODES[mode], 30) for mode in ("simple", "balanced", "deep")]
    assert widths == sorted(set(widths))
