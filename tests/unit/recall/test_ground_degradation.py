"""Sources of a turn that fail: the context is thinner, a warning says so, and it is never an error."""

from __future__ import annotations

from typing import Any

import pytest

from mem.domain.errors import RequestConflict, Unavailable
from mem.domain.ids import user_scope
from mem.ports import LedgerKey
from mem.recall import grounding
from mem.recall.ground_answer import UNENHANCED, UNREAD
from mem.recall.ground_outcome import Enhanced, EnhancedFound, GroundFound
from tests.unit.recall.ground_kit import USER, GroundWorld
from tests.unit.recall.kit import NPM_LOG, Broken, hang

TESTS = "The tests of this repo need a database."
DOWN = Unavailable("The database does not answer.", "Check it.")
FAULTS = {"timeout": hang, "unavailable": DOWN, "refused": ConnectionRefusedError("refused"), "bug": KeyError("x")}
REASONS = {
    "timeout": "timeout after 0.3 s",
    "unavailable": "The database does not answer. Check it.",
    "refused": "refused",
    "bug": "unexpected KeyError",
}


@pytest.fixture
async def world() -> GroundWorld:
    found = GroundWorld()
    await found.remember(TESTS, log=NPM_LOG)
    await found.remember("Overrides are pinned in the tests.", log=NPM_LOG)
    return found


@pytest.fixture(params=list(FAULTS))
def kind(request) -> str:
    return request.param


def broken(world: GroundWorld, kind: str, *methods: str) -> None:
    world.with_turns(users=Broken(world.users, **dict.fromkeys(methods, FAULTS[kind])))


@pytest.mark.parametrize(
    ("source", "methods"),
    [
        ("snapshot", ["snapshot"]),
        ("vector", ["nearest"]),
        ("metadata", ["words", "labelled"]),
        ("graph", ["neighbours"]),
    ],
)
async def test_one_source_down(world, kind, source, methods):
    """The other sources still find the memories, and the warning names the one that failed."""
    whole = (await world.ground()).diagnostics.source_breakdown.model_dump()
    broken(world, kind, *methods)
    answer = await world.ground(leg_seconds=0.3)
    assert answer.has_usable_context
    assert answer.diagnostics.warnings == [f"{source} could not be read: {REASONS[kind]}"]
    assert answer.diagnostics.source_breakdown.model_dump() == {**whole, source: 0}
    assert whole[source] == 2


async def test_the_embedder_down(world, kind):
    """Without an embedding the vectors are not searched, and the warning says why."""
    world.with_turns(embedder=Broken(world.embedder, embed=FAULTS[kind]))
    answer = await world.ground(leg_seconds=0.3)
    assert answer.has_usable_context
    assert answer.diagnostics.warnings == [f"vector could not be read: the message was not embedded: {REASONS[kind]}"]
    assert answer.diagnostics.source_breakdown.vector == 0


async def test_half_of_a_source_down(world, kind):
    """A source of which one half failed still tells what the other found."""
    broken(world, kind, "labelled")
    told = (await world.ground(leg_seconds=0.3)).diagnostics
    assert told.source_breakdown.metadata == 2
    assert told.warnings == [f"metadata could not be read: {REASONS[kind]}"]


async def test_who_the_user_is_cannot_be_checked(world, kind):
    """The user is taken for known where a memory of the user's was read, and no container is called missing."""
    broken(world, kind, "known")
    answer = await world.ground(leg_seconds=0.3, containers=[{"id": "c"}])
    assert (answer.status, answer.diagnostics.user_found) == ("ok", True)
    assert answer.diagnostics.missing_containers == []
    assert answer.diagnostics.warnings == [f"user could not be checked: {REASONS[kind]}"]


async def test_the_memories_themselves_cannot_be_read(world, kind):
    """Hits of which no text can be read are no context; the answer abstains and says why."""
    broken(world, kind, "remembered")
    answer = await world.ground(leg_seconds=0.3)
    assert (answer.status, answer.has_usable_context, answer.abstained_reason) == ("ok", False, UNREAD)
    assert answer.diagnostics.warnings == [f"memories could not be read: {REASONS[kind]}"]


async def test_every_source_down(world, kind):
    """With the whole store away the answer abstains, names each source, and is no error."""
    broken(world, kind, "known", "snapshot", "nearest", "words", "labelled", "neighbours", "signed", "remembered")
    answer = await world.ground(leg_seconds=0.3)
    assert (answer.status, answer.has_usable_context, answer.abstained_reason) == ("ok", False, UNREAD)
    named = {warning.split()[0] for warning in answer.diagnostics.warnings}
    assert named == {"user", "snapshot", "vector", "metadata"}


async def test_simple_with_every_source_down_says_that_nothing_could_be_read(world, kind):
    """Where all that a mode asks failed, that is the reason, not that nothing was relevant."""
    broken(world, kind, "snapshot", "words", "labelled")
    assert (await world.ground(leg_seconds=0.3, read_mode="simple")).abstained_reason == UNREAD


async def test_the_scorer_down(world, kind):
    """Without scores only what is very near counts, and the warning says so."""
    await world.remember("Butter and sugar are beaten first.")
    world.with_turns(reranker=Broken(world.scores, rerank=FAULTS[kind]))
    answer = await world.ground(leg_seconds=0.3, message=TESTS)
    assert answer.has_usable_context
    assert "Butter" not in answer.context_enhancement
    assert answer.diagnostics.candidate_count == 1
    (warning,) = answer.diagnostics.warnings
    assert warning.endswith(REASONS[kind])


async def test_the_enhancer_breaks(world, monkeypatch):
    """An enhancer that breaks is a warning and a reason to abstain; what was found is told all the same."""

    def extract(*_: Any, **__: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(grounding, "extract", extract)
    answer = await world.ground()
    assert (answer.has_usable_context, answer.abstained_reason) == (False, UNENHANCED)
    assert answer.diagnostics.candidate_count == 2
    assert answer.diagnostics.warnings == ["What was found could not be put into words: unexpected KeyError"]


async def test_a_controller_that_gave_nothing_is_stood_in_for(world):
    """Sentences of the memories themselves take the place of what a controller did not say, with a warning."""
    world.with_turns(controlled=True)
    found = await world.step()
    assert isinstance(found, GroundFound)
    outcome = await world.use_case().finish(EnhancedFound(found=found, made=Enhanced(failure="It declined.")))
    answer = grounding.GroundAnswer.model_validate_json(outcome.body)
    assert (answer.has_usable_context, outcome.trace.enhancer) == (True, grounding.EXTRACTIVE)
    assert answer.diagnostics.warnings == [
        "enhancer could not be asked, and sentences of the memories stand in: It declined."
    ]


async def test_the_ledger_cannot_be_read(world, kind):
    """The turn is answered and stored, with a warning."""
    world.with_turns(ledger=Broken(world.turns.ledger, find=FAULTS[kind]))
    outcome = await world.outcome(leg_seconds=0.3, request_id="r")
    assert outcome.unsettled is None
    assert f"ledger could not be read: {REASONS[kind]}" in outcome.body
    assert LedgerKey("ground", user_scope(USER), "r") in world.state.ledger


async def test_the_ledger_cannot_be_written(world, kind):
    """The answer goes out and is owed to the ledger; its bytes say nothing of it."""
    world.with_turns(ledger=Broken(world.turns.ledger, store=FAULTS[kind]))
    outcome = await world.outcome(leg_seconds=0.3, request_id="r")
    assert outcome.unsettled is not None
    assert (outcome.unsettled.body, outcome.unsettled.request_id) == (outcome.body, "r")
    assert outcome.unsettled.scope == user_scope(USER)
    assert "ledger" not in outcome.body
    assert outcome.trace.degraded == [f"ledger: {REASONS[kind]}"]


async def test_a_conflict_is_the_callers_fault(world):
    """What the ledger refuses is raised, whatever else went on at the time."""
    await world.outcome(request_id="r")
    with pytest.raises(RequestConflict):
        await world.outcome(request_id="r", message="another")
