"""The context of a turn over fakes: what is found, what passes the gate, and what the answer says of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mem.domain.errors import InvalidRequest, RequestConflict
from mem.domain.ids import user_scope
from mem.ports import LedgerKey
from mem.recall import grounding
from mem.recall.ground_answer import UNKNOWN_USER
from mem.recall.ground_outcome import GroundFound
from mem.recall.strength import ABSTAINED
from tests.unit.recall.ground_kit import MESSAGE, USER, GroundWorld
from tests.unit.recall.kit import NPM_LOG

TESTS = "The tests of this repo need a database: set MEM_TEST_URL first."
CAKE = "Butter and sugar are beaten before the eggs go in."


@pytest.fixture
def world() -> GroundWorld:
    return GroundWorld()


async def test_relevant_memories_become_a_block(world):
    """A relevant memory is told in the block, counted in each source that found it, and its strength is given."""
    await world.remember(TESTS)
    answer = await world.ground()
    assert (answer.status, answer.has_usable_context, answer.abstained_reason) == ("ok", True, None)
    assert "set MEM_TEST_URL first" in answer.context_enhancement
    assert answer.context_enhancement.startswith("<contextenhancement>\n  <scope>user_global</scope>")
    told = answer.diagnostics
    assert (told.candidate_count, told.used_memory_count, told.user_found) == (1, 1, True)
    assert told.source_breakdown.model_dump() == {"snapshot": 1, "vector": 1, "metadata": 1, "graph": 0}
    assert told.evidence_strength > 0
    assert (told.scope_applied, told.read_mode, told.missing_containers, told.warnings) == (
        "user_global", "balanced", [], [],
    )  # fmt: skip


async def test_the_answer_has_the_fields_of_the_contract_and_no_other(world):
    """The body holds what the contract names, in its order."""
    await world.remember(TESTS)
    body = json.loads((await world.outcome()).body)
    assert list(body) == [
        "status", "has_usable_context", "context_enhancement", "abstained_reason", "diagnostics",
    ]  # fmt: skip
    assert list(body["diagnostics"]) == [
        "scope_applied", "read_mode", "user_found", "candidate_count", "used_memory_count", "missing_containers",
        "source_breakdown", "evidence_strength", "warnings",
    ]  # fmt: skip


async def test_an_unknown_user_is_no_error(world):
    """Somebody who owns nothing is not found, whatever is known by others, and nothing is told."""
    await world.remember(TESTS, owner="another")
    answer = await world.ground(containers=[{"id": "c"}])
    assert (answer.status, answer.has_usable_context, answer.context_enhancement) == ("not_found", False, "")
    assert answer.abstained_reason == UNKNOWN_USER
    told = answer.diagnostics
    assert (told.user_found, told.candidate_count, told.missing_containers, len(told.warnings)) == (False, 0, ["c"], 1)
    assert set(told.source_breakdown.model_dump().values()) == {0}


async def test_a_user_of_projects_that_may_not_be_read_is_unknown(world):
    """Rights restrict a user's own memories too."""
    await world.remember(TESTS, project="secret")
    assert (await world.ground(readable=["open"])).status == "not_found"
    assert (await world.ground(readable=["secret"])).has_usable_context


class Spied:
    """Counts the calls of the enhancer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self._real = grounding.extract
        monkeypatch.setattr(grounding, "extract", self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self._real(*args, **kwargs)


async def test_where_nothing_passes_the_gate_no_enhancer_runs(world, monkeypatch):
    """Hits that do not concern the message are counted nowhere, and the enhancer is not even called."""
    await world.remember(CAKE)
    spied = Spied(monkeypatch)
    world.scores.by_word = {"Butter": 0.01}
    answer = await world.ground()
    assert spied.calls == 0
    assert (answer.has_usable_context, answer.context_enhancement) == (False, "")
    assert (answer.status, answer.abstained_reason) == ("ok", ABSTAINED)
    told = answer.diagnostics
    assert (told.candidate_count, told.used_memory_count, told.evidence_strength) == (0, 0, 0.0)
    assert set(told.source_breakdown.model_dump().values()) == {0}
    await world.remember(TESTS)
    assert (await world.ground()).has_usable_context
    assert spied.calls == 1


async def test_where_nothing_passes_the_gate_no_controller_is_asked(world):
    """With a controller the step ends with the answer; where something passes it ends with what to ask."""
    world.with_turns(controlled=True)
    await world.remember(CAKE)
    world.scores.by_word = {"Butter": 0.01}
    assert not isinstance(await world.step(), GroundFound)
    await world.remember(TESTS)
    found = await world.step()
    assert isinstance(found, GroundFound)
    assert [one.text for one in found.relevant] == [TESTS]


async def test_what_does_not_concern_the_message_is_counted_nowhere(world):
    """Among the diagnostics is what passed the gate alone, whatever the sources found."""
    await world.remember(TESTS)
    for number in range(5):
        await world.remember(f"{CAKE} {number}")
    world.scores.by_word = {"Butter": 0.01}
    outcome = await world.outcome()
    told = json.loads(outcome.body)["diagnostics"]
    assert told["candidate_count"] == 1
    assert max(told["source_breakdown"].values()) == 1
    assert outcome.trace.found["vector"] == 6


async def test_missing_containers_are_told_once_each_in_the_order_asked(world):
    """A container that no memory of the user carries is missing, whatever another user's memory carries."""
    await world.remember(TESTS, visibility="container", container="here")
    await world.remember(CAKE, owner="another", visibility="container", container="theirs")
    asked = ["theirs", "nowhere", "here", "theirs", "alpha"]
    answer = await world.ground(containers=[{"id": one} for one in asked])
    assert answer.diagnostics.missing_containers == ["theirs", "nowhere", "alpha"]


@pytest.mark.parametrize(
    ("scope", "seen"),
    [("user", {"own", "private"}), ("user_global", {"own", "private", "global"}),
     ("user_global_container", {"own", "private", "global", "thread"})],
)  # fmt: skip
async def test_a_scope_sees_what_it_names(world, scope, seen):
    """Each scope reads its own kinds of memories, and none reads another user's private ones."""
    text = "The tests of this repo are {}."
    await world.remember(text.format("own"))
    await world.remember(text.format("private"), visibility="user")
    await world.remember(text.format("global"), owner="another")
    await world.remember(text.format("thread"), visibility="container", container="t")
    await world.remember(text.format("elsewhere"), visibility="container", container="u")
    await world.remember(text.format("theirs"), owner="another", visibility="user")
    await world.remember(text.format("alien"), owner="another", visibility="container", container="t")
    world.with_turns(controlled=True)
    found = await world.step(scope_level=scope, containers=[{"id": "t"}])
    assert isinstance(found, GroundFound)
    assert {one.text.split()[-1].strip(".") for one in found.relevant} == seen


async def test_no_more_candidates_are_scored_than_the_budget_names(world):
    """The scorer gets at most `max_candidate_memories`."""
    for number in range(12):
        await world.remember(f"{TESTS} {number}")
    outcome = await world.outcome(budgets={"max_candidate_memories": 5})
    assert outcome.trace.scored == 5
    assert json.loads(outcome.body)["diagnostics"]["candidate_count"] == 5


async def test_a_budget_that_holds_nothing_is_a_reason_to_abstain(world):
    """Where no statement fits, the answer says so, and still what was found."""
    await world.remember(TESTS)
    answer = await world.ground(budgets={"max_output_tokens": 1})
    assert (answer.has_usable_context, answer.context_enhancement) == (False, "")
    assert "max_output_tokens" in (answer.abstained_reason or "")
    assert (answer.diagnostics.candidate_count, answer.diagnostics.used_memory_count) == (1, 0)


async def test_a_memory_with_the_very_failure_of_the_message_is_found_by_the_graph(world):
    """A message that holds a failure finds the lessons that its signature points at, though no word is shared."""
    sha = await world.remember("Pin it through overrides.", log=NPM_LOG)
    outcome = await world.outcome(message=f"Please help.\n{NPM_LOG}")
    assert "graph" in next(one for one in outcome.trace.memories if one.sha == sha).sources


async def test_neighbours_of_the_best_are_found_by_the_graph(world):
    """Lessons that share a signature with a candidate count as found by the graph."""
    await world.remember(TESTS, log=NPM_LOG)
    await world.remember("Overrides are pinned.", log=NPM_LOG)
    assert (await world.ground()).diagnostics.source_breakdown.graph == 2


async def test_the_same_request_gets_the_same_bytes(world):
    """A repeated request is answered from the ledger, whatever was learned since, and another body conflicts."""
    await world.remember(TESTS)
    first = await world.outcome(request_id="r")
    await world.remember(f"{TESTS} Twice.")
    again = await world.outcome(request_id="r")
    assert (again.body, again.trace.replayed, first.trace.replayed) == (first.body, True, False)
    with pytest.raises(RequestConflict):
        await world.outcome(request_id="r", read_mode="deep")


async def test_requests_at_once_get_the_bytes_that_were_stored_first(world):
    """Of two runs of one request the first to store decides for both."""
    await world.remember(TESTS)
    request = world.request(request_id="r")
    first, second = await asyncio.gather(*(world.use_case()(request) for _ in range(2)))
    assert first.body == second.body


async def test_callers_of_other_rights_never_meet(world):
    """A stored answer is never given to who may read other projects, nor does a conflict tell that somebody asked."""
    await world.remember(TESTS)
    for readable in (None, ["p"], ["q", "p"], []):
        await world.outcome(request_id="r", readable=readable)
        assert LedgerKey("ground", user_scope(USER, readable), "r") in world.state.ledger
        with pytest.raises(RequestConflict):
            await world.outcome(request_id="r", readable=readable, read_mode="deep")
    assert len(world.state.ledger) == 4


async def test_the_ledger_names_no_user(world):
    """The answer is stored under the hash of the user."""
    await world.remember(TESTS)
    await world.outcome(request_id="r")
    assert LedgerKey("ground", user_scope(USER), "r") in world.state.ledger


async def test_a_blank_message_is_refused(world):
    """A message that says nothing is the caller's fault."""
    with pytest.raises(InvalidRequest):
        await world.step(message=" \n ")


async def test_a_distilled_message_is_told_in_a_warning(world):
    """Who sent a long message learns that it was not read as a whole."""
    await world.remember(TESTS)
    answer = await world.ground(original_bytes=70_000)
    assert answer.diagnostics.warnings == ["The message of 70000 bytes was distilled to its telling parts."]


async def test_the_trace_names_neither_user_nor_container_nor_message(world):
    """What is logged and shown holds hashes, names of projects and scores alone."""
    await world.remember(TESTS, visibility="container", container="thread-abc")
    outcome = await world.outcome(containers=[{"id": "thread-abc"}], scope_level="user_global_container")
    told = outcome.trace.model_dump_json()
    for word in (USER, "thread-abc", MESSAGE, TESTS):
        assert word not in told
    assert outcome.trace.scope == user_scope(USER)[:16]
