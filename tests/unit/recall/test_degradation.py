"""Legs that fail: the answer is thinner, says so, and is never an error."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from mem.domain.errors import ModelMismatch, RequestConflict
from mem.domain.lookup import OPERATION
from mem.ports import LedgerKey, Reach, Seen, Settlement
from mem.recall.legs import LEG_SECONDS, MAX_REASON, TOTAL_SECONDS, Legs, _TimeUpError
from tests.unit.recall.faults import DOWN, FAULTS, REASONS
from tests.unit.recall.kit import NPM_LOG, Scores, World, hang, texts
from tests.unit.recall.test_look_up import DOC, FIX, full_house

LEG = 0.3


def legs_of(body: dict[str, Any]) -> list[str]:
    return [each["leg"] for each in body["degraded"]]


@pytest.fixture
async def world() -> World:
    found = World()
    await full_house(found)
    return found


@pytest.fixture(params=list(FAULTS))
def fault(request) -> Any:
    return request.param


async def ask(world: World, **fields: Any) -> dict[str, Any]:
    return await world.look_up(leg_seconds=LEG, **{"signature_source": NPM_LOG, **fields})


async def test_without_signatures_the_similar_is_still_told(world, fault):
    """The exact memory comes in tier 2 by its symptom; the failure is counted, but not claimed to be known or new."""
    world.break_part("failures", known=FAULTS[fault])
    body = await ask(world)
    assert body["degraded"] == [{"leg": "signatures", "reason": REASONS[fault]}]
    assert (body["tier"], FIX in texts(body, 2), len(texts(body, 3))) == (2, True, 1)
    assert [(each["known"], each["seen_count"]) for each in body["signatures"]] == [(None, 2)]


async def test_without_coarse_signatures_the_exact_ones_are_still_told(world, fault):
    """One question of the signature leg failing does not take the other's answer."""
    world.break_part("failures", coarse=FAULTS[fault])
    body = await ask(world)
    assert (body["tier"], legs_of(body), body["signatures"][0]["known"]) == (1, ["signatures"], True)


async def test_without_the_links_of_a_tool_its_name_is_searched(world, fault):
    """A bare tool name falls back to texts, and says which leg is missing."""
    await world.remember("npm")
    world.break_part("memories", by_tool=FAULTS[fault])
    body = await ask(world, signature_source=None, tool="npm")
    assert ("npm" in texts(body), legs_of(body)) == (True, ["signatures"])


@pytest.mark.parametrize(("kind", "other"), [("symptom", "text"), ("text", "symptom")])
async def test_without_one_kind_of_vector_the_other_serves(world, fault, kind, other):
    """Either vector leg may fail alone, for lessons and for reference."""
    nearest = world.ports.memories.nearest

    async def half(asked, levels, *rest):
        if asked != kind or "R" in levels:
            return await nearest(asked, levels, *rest)
        if isinstance(FAULTS[fault], BaseException):
            raise FAULTS[fault]
        return await hang()

    await world.remember(NPM_LOG.replace("\n", " "))
    world.break_part("memories", nearest=half)
    body = await ask(world)
    assert body["degraded"] == [{"leg": kind, "reason": REASONS[fault]}]
    assert (body["tier"], texts(body, 1), len(texts(body, 3))) == (1, [FIX], 1)
    assert {each["matched_kind"] for each in body["lessons"] if each["tier"] == 2} == {other}


async def test_without_any_vector_words_stand_in(world, fault):
    """Both vector legs down: the lexical leg answers, and the reference leg is down with them."""
    world.break_part("memories", nearest=FAULTS[fault])
    body = await ask(world)
    assert legs_of(body) == ["reference", "symptom", "text"]
    assert texts(body, 2) == ["Vue wants the same pin."]
    assert {each["matched_kind"] for each in body["lessons"][1:]} == {"text"}


async def test_without_the_embedder_words_stand_in_everywhere(world, fault):
    """Lessons and reference are found by trigrams, which are their recall score; skills need vectors."""
    world.break_part("embedder", embed=FAULTS[fault])
    body = await ask(world)
    assert body["degraded"] == [{"leg": "embedding", "reason": REASONS[fault]}]
    assert [each["tier"] for each in body["lessons"]] == [1, 2, 3]
    assert {each["matched_kind"] for each in body["lessons"][1:]} == {"text"}
    assert all(0.3 <= each["scores"]["recall"] <= 1 for each in body["lessons"][1:])
    assert body["skills"] == []


async def test_without_the_reranker_recall_orders(world, fault):
    """Scores are null, tiers stay as they are, and what is over the floors of similarity is told."""
    world.break_part("reranker", rerank=FAULTS[fault])
    body = await ask(world)
    assert body["degraded"] == [{"leg": "rerank", "reason": REASONS[fault]}]
    assert [each["tier"] for each in body["lessons"]] == [1, 2, 3]
    assert {(each["score"], each["scores"]["rerank"]) for each in body["lessons"]} == {(None, None)}


async def test_a_reranker_that_failed_is_not_asked_again(world, fault):
    """The time that a second question would take belongs to the legs behind it."""
    part = world.break_part("reranker", rerank=FAULTS[fault])
    body = await ask(world)
    assert (len(texts(body, 3)), part.calls) == (1, ["rerank"])


async def test_without_skills_the_rest_is_whole(world, fault):
    """A skills leg that fails gives `[]` and a note, and takes nothing else with it."""
    whole = await ask(world)
    world.break_part("skills", nearest=FAULTS[fault])
    body = await ask(world)
    assert (body["skills"], body["degraded"]) == ([], [{"leg": "skills", "reason": REASONS[fault]}])
    assert texts(body) == texts(whole)


async def test_without_reference_the_memories_are_whole(world, fault):
    """The reference leg fails alone."""
    nodes = world.ports.memories.nodes

    async def broken(shas):
        if isinstance(FAULTS[fault], BaseException):
            raise FAULTS[fault]
        return await hang(nodes, shas)

    world.break_part("memories", nodes=broken)
    body = await ask(world)
    assert body["degraded"] == [{"leg": "reference", "reason": REASONS[fault]}]
    assert [each["tier"] for each in body["lessons"]] == [1, 2]


async def test_without_lineages_nothing_known_is_claimed(world, fault):
    """Where hits cannot be read every leg that had some is named, and whether the failure is known stays open."""
    world.break_part("memories", lineages=FAULTS[fault])
    body = await ask(world)
    assert legs_of(body) == ["signatures", "symptom", "text"]
    assert (body["tier"], body["signatures"][0]["known"]) == (3, None)


async def test_without_parents_a_lesson_is_still_told(world, fault):
    """Where it comes from is lost, and that is said."""
    world.break_part("memories", parents=FAULTS[fault])
    body = await ask(world)
    assert (body["tier"], legs_of(body), body["lessons"][0]["parents"]) == (1, ["text"], [])


async def test_a_log_that_cannot_be_read_does_not_take_the_task_with_it(world, fault, monkeypatch):
    """Extraction is a part of the signature leg: it may fail or hang, and the task is answered."""
    broken = FAULTS[fault]

    def reading(text):
        if isinstance(broken, BaseException):
            raise broken
        time.sleep(LEG * 2)
        return []

    monkeypatch.setattr("mem.recall.query.Reading", reading)
    await world.remember("upgrade npm by hand")
    body = await ask(world, task="upgrade npm by hand")
    assert body["degraded"] == [{"leg": "signatures", "reason": REASONS[fault]}]
    assert (body["tier"], "upgrade npm by hand" in texts(body), body["signatures"]) == (2, True, [])
    alone = await ask(world)
    assert (alone["tier"], alone["abstained_reason"]) == (
        None,
        "Nothing was found, but not all was searched: signatures failed.",
    )


async def test_nothing_found_is_told_apart_from_nothing_searched(fault):
    """Where legs failed and nothing was found the reason names them, rather than say that nothing is known."""
    world = World()
    world.break_part("memories", nearest=FAULTS[fault], lexical=FAULTS[fault])
    body = await ask(world)
    assert legs_of(body) == ["lexical", "reference", "symptom", "text"]
    assert body["abstained_reason"] == (
        "Nothing was found, but not all was searched: lexical, reference, symptom, text failed."
    )


async def test_everything_down_is_an_answer_too(world, fault):
    """With every part failing there is a body with a reason, uncounted and to be stored later."""
    for name in ("memories", "failures", "ledger", "skills", "embedder", "reranker"):
        part = getattr(world.ports, name)
        methods = [each for each in dir(type(part)) if not each.startswith("_") and each not in {"model_id", "vector"}]
        world.break_part(name, **dict.fromkeys(methods, FAULTS[fault]))
    outcome = await world.outcome(signature_source=NPM_LOG, leg_seconds=LEG)
    body = json.loads(outcome.body)
    assert (body["tier"], body["lessons"], body["skills"]) == (None, [], [])
    assert set(legs_of(body)) >= {"embedding", "ledger", "lexical", "signatures"}
    assert [(each["known"], each["seen_count"]) for each in body["signatures"]] == [(None, None)]
    assert outcome.unsettled is not None
    assert outcome.unsettled.body == outcome.body


async def test_a_bug_costs_its_leg_alone_and_is_logged_with_its_stack(world):
    """What nobody foresaw shows its type in the answer, and everything else about it in the log."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    world.break_part("skills", nearest=AttributeError(f"no attribute for {secret}"))
    with structlog.testing.capture_logs() as logged:
        body = await ask(world)
    assert body["degraded"] == [{"leg": "skills", "reason": "unexpected AttributeError"}]
    assert [(each["event"], each["leg"], each["log_level"]) for each in logged] == [("leg broke", "skills", "error")]
    assert "AttributeError: no attribute for [redacted:github-token]" in logged[0]["stack"]
    assert "_skills" in logged[0]["stack"]


@pytest.mark.parametrize(
    "scores", [[], [0.9] * 99, [float("nan")] * 2, [float("inf")] * 2], ids=["none", "many", "nan", "inf"]
)
async def test_a_reranker_that_answers_nonsense_has_failed(world, scores):
    """Too few or too many scores, or what is no number, is as good as no reranker."""

    async def rerank(query, candidates):
        return scores

    world.break_part("reranker", rerank=rerank)
    body = await ask(world)
    assert legs_of(body) == ["rerank"]
    assert [each["score"] for each in body["lessons"]] == [None, None, None]


@pytest.mark.parametrize("count", [0, 2])
async def test_an_embedder_that_answers_nonsense_has_failed(world, count):
    """Another number of vectors than of texts is as good as no embedder."""

    async def embed(texts):
        return [world.embedder.vector("x")] * count

    world.break_part("embedder", embed=embed)
    assert legs_of(await ask(world)) == ["embedding"]


async def test_vectors_of_another_model_degrade(world):
    """A mismatch of models costs the vector legs, not the answer."""
    world.break_part("memories", nearest=ModelMismatch("The index is for another model.", "Rebuild it."))
    body = await ask(world)
    assert (body["tier"], legs_of(body)) == (1, ["reference", "symptom", "text"])


async def test_a_reason_is_one_short_line():
    """Whatever an error says, the answer quotes no more than a line of it."""
    legs = Legs()
    legs.degrade("text", "first\n\nsecond " + "x" * 1000)
    (only,) = legs.degraded
    assert only.reason.startswith("first second xxx")
    assert len(only.reason) == MAX_REASON


async def test_the_first_reason_of_a_leg_stands():
    """A leg that fails twice is named once."""
    legs = Legs()
    legs.degrade("text", "first")
    legs.degrade("text", "second")
    legs.degrade("skills", "third")
    assert [(each.leg, each.reason) for each in legs.degraded] == [("skills", "third"), ("text", "first")]


async def test_an_error_named_timeout_is_not_taken_for_the_limit():
    """A part that itself reports a timeout at once is told in its own words."""
    legs = Legs()

    async def at_once():
        raise TimeoutError("the peer timed out")

    assert await legs.run("text", "step", at_once(), "default") == "default"
    assert legs.degraded[0].reason == "the peer timed out"


async def test_the_limits_are_those_of_the_contract():
    """Each leg has two seconds, the whole six."""
    assert (LEG_SECONDS, TOTAL_SECONDS) == (2.0, 6.0)


async def test_the_whole_deadline_holds_however_many_legs_are_slow(world):
    """With every part hanging the answer is there in time, and its reasons name limits, never what was left of them."""
    for name in ("memories", "failures", "ledger", "skills", "embedder", "reranker"):
        part = getattr(world.ports, name)
        methods = [each for each in dir(type(part)) if not each.startswith("_") and each not in {"model_id", "vector"}]
        world.break_part(name, **dict.fromkeys(methods, hang))
    body = await world.look_up(signature_source=NPM_LOG, leg_seconds=0.4, total_seconds=1.2)
    allowed = {"timeout after 0.4 s", "timeout: the whole lookup may take 1.2 s"}
    assert {each["reason"] for each in body["degraded"]} == allowed


async def test_what_all_legs_are_granted_together_is_the_whole(monkeypatch):
    """However many legs use up all that they get, one after another, it comes to no more than six seconds."""
    now = 0.0

    async def use_up(seconds, work):
        nonlocal now
        now += seconds
        await work
        raise _TimeUpError

    monkeypatch.setattr("mem.recall.legs.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("mem.recall.legs._within", use_up)
    legs = Legs()
    for _ in range(13):  # more than any lookup runs in a row
        await legs.run("text", "step", asyncio.sleep(0), None)
    assert 5.9 < now < 6.0 + 1e-6


async def test_a_leg_after_the_end_still_has_a_moment():
    """What is at hand is put together even when the time is used up; what is not is given up at once."""
    legs = Legs(leg_seconds=0.05, total_seconds=0.06)
    await legs.run("embedding", "step", hang(), None)
    assert await legs.run("text", "step", asyncio.sleep(0, "at hand"), None) == "at hand"
    assert await legs.run("skills", "step", hang(), "default") == "default"


async def test_legs_that_need_nothing_of_each_other_run_at_once(world):
    """Keys are looked for while the query is embedded, and symptoms, texts and skills together: all of them meet."""
    early, late = asyncio.Barrier(3), asyncio.Barrier(3)

    def meeting(barrier, real):
        async def method(*args, **kwargs):
            if args[:2] != ("text", ("R",)):  # reference comes later, and alone
                await barrier.wait()
            return await real(*args, **kwargs)

        return method

    ports = world.ports
    known, coarse, embed = (
        meeting(early, one) for one in (ports.failures.known, ports.failures.coarse, ports.embedder.embed)
    )
    near, skills = meeting(late, ports.memories.nearest), meeting(late, ports.skills.nearest)
    world.break_part("failures", known=known, coarse=coarse)
    world.break_part("embedder", embed=embed)
    world.break_part("memories", nearest=near)
    world.break_part("skills", nearest=skills)
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["degraded"], body["tier"]) == ([], 1)


async def test_without_the_ledger_the_answer_goes_out_to_be_stored_later(world, fault):
    """The answer says so, counts what was seen before and itself, and is left to be settled."""
    world.break_part("ledger", find=FAULTS[fault], settle=FAULTS[fault])
    before = dict(world.state.occurrences)
    outcome = await world.outcome(request_id="r", signature_source=NPM_LOG, leg_seconds=LEG)
    body = json.loads(outcome.body)
    assert body["degraded"] == [{"leg": "ledger", "reason": REASONS[fault]}]
    assert (body["tier"], body["lessons"][0]["seen_count"], body["signatures"][0]["seen_count"]) == (1, 2, 2)
    assert world.state.occurrences == before
    assert outcome.unsettled is not None
    assert (outcome.unsettled.project, outcome.unsettled.request_id, outcome.unsettled.federated) == ("p", "r", True)
    assert outcome.unsettled.fingerprint == outcome.fingerprint
    assert [each.sig_sha for each in outcome.unsettled.sightings] == [body["signatures"][0]["sig_sha"]]


async def test_counts_that_cannot_be_read_are_null(world):
    """With the ledger and the counts down nothing is claimed about how often, though what is known is told."""
    world.break_part("ledger", settle=DOWN)
    world.break_part("failures", seen=DOWN)
    body = await ask(world)
    assert (body["tier"], legs_of(body)) == (1, ["ledger"])
    assert (body["lessons"][0]["seen_count"], body["lessons"][0]["last_seen"]) == (None, None)
    assert [(each["known"], each["seen_count"]) for each in body["signatures"]] == [(True, None)]


async def test_a_ledger_that_cannot_be_read_may_still_be_written(world):
    """Only finding failed: the answer is settled, once, and a retry gets those bytes."""
    real = world.ports.ledger
    world.break_part("ledger", find=DOWN)
    first = await world.outcome(request_id="r", signature_source=NPM_LOG)
    world.with_ports(ledger=real)
    again = await world.outcome(request_id="r", signature_source=NPM_LOG)
    assert (first.unsettled, again.body) == (None, first.body)
    assert legs_of(json.loads(first.body)) == ["ledger"]


async def test_bytes_that_may_be_committed_are_never_changed(world):
    """A settlement that rendered and then failed keeps its very bytes, since they may stand in the ledger already."""
    rendered: list[bytes] = []
    ledger = world.ports.ledger

    async def lost(settlement, render):
        def once(seen):
            rendered.append(render(seen))
            return rendered[-1]

        await ledger.settle(settlement, once)
        raise DOWN

    world.break_part("ledger", settle=lost)
    outcome = await world.outcome(request_id="r", signature_source=NPM_LOG)
    assert outcome.body.encode() == rendered[-1]
    assert (legs_of(json.loads(outcome.body)), json.loads(outcome.body)["signatures"][0]["seen_count"]) == ([], 2)
    assert outcome.unsettled is not None
    assert await ledger.find(LedgerKey(OPERATION, "p", "r"), outcome.fingerprint) == outcome.body.encode()


async def test_an_answer_stored_by_another_attempt_wins(world):
    """Where the ledger turns out to hold an answer already, that one is given, not the one just made."""

    async def stored(settlement, render):
        made = render({one.sig_sha: Seen(7, "2026-01-01") for one in settlement.sightings})
        return made.replace(b'"seen_count":7', b'"seen_count":6')

    world.break_part("ledger", settle=stored)
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert json.loads(outcome.body)["signatures"][0]["seen_count"] == 6
    assert outcome.unsettled is None


async def test_a_conflict_at_settlement_is_a_conflict(world):
    """Another body that was answered meanwhile under this id is the caller's fault, not the ledger's."""
    world.break_part("ledger", find=DOWN, settle=RequestConflict("Used before.", "Choose a new id."))
    with pytest.raises(RequestConflict):
        await world.outcome(signature_source=NPM_LOG)


async def test_what_is_settled_names_request_reach_and_sightings(world):
    """One settlement carries the key, the fingerprint, each signature of the log, and the reach of failures."""
    taken: list[Settlement] = []
    ledger = world.ports.ledger

    async def settle(settlement, render):
        taken.append(settlement)
        return await ledger.settle(settlement, render)

    world.break_part("ledger", settle=settle)
    for scope, federated in ((None, True), ("project", False)):
        outcome = await world.outcome(
            request_id=f"r-{scope}", signature_source=NPM_LOG, **({"scope": scope} if scope else {})
        )
        settlement = taken[-1]
        assert settlement.key == LedgerKey("context", "p", f"r-{scope}")
        assert settlement.fingerprint == outcome.fingerprint
        assert settlement.reach == Reach("p", federated)
        assert [one.tool for one in settlement.sightings] == ["npm"]


async def test_the_trace_tells_the_story_of_an_answer(world):
    """Legs with their faults, lessons with their scores, drops and tiers: what the Temporal UI shows."""
    world.break_part("skills", nearest=DOWN)
    outcome = await world.outcome(signature_source=NPM_LOG, budget=1)
    body, trace = json.loads(outcome.body), outcome.trace
    assert trace.tier == body["tier"] == 1
    assert [(each.tier, each.sha) for each in trace.lessons] == [
        (each["tier"], each["sha"]) for each in body["lessons"]
    ]
    assert {each.leg for each in trace.legs} >= {"ledger", "embedding", "signatures", "symptom", "text"}
    assert [each.note for each in trace.legs if each.leg == "skills"] == [str(DOWN)]
    assert trace.degraded == [f"skills: {DOWN}"]
    assert (trace.used, trace.limit) == (body["budget"]["used"], body["budget"]["limit"])
    assert [each.model_dump(exclude_none=True) for each in trace.dropped] == body["budget"]["dropped"] != []


async def test_reference_is_left_alone_where_the_budget_is_full(world):
    """Tier 3 runs only where the tiers above leave room; it never displaces them."""
    part = world.break_part("memories")
    body = await world.look_up(signature_source=NPM_LOG, budget=1)
    assert (body["tier"], texts(body, 3), body["budget"]["dropped"][0]["tier"]) == (1, [], 2)
    assert part.calls.count("nearest") == 2


async def test_reference_is_looked_for_where_nothing_else_was_found(world):
    """With no lesson there is room for reference, be the budget ever so small; what does not fit is told."""
    lonely = World()
    lonely.with_ports(reranker=Scores())
    sha = await lonely.document(DOC)
    body = await lonely.look_up(signature_source=NPM_LOG, budget=1)
    assert (body["tier"], body["abstained_reason"]) == (None, "What was found does not fit the budget.")
    assert [(each["tier"], each["sha"]) for each in body["budget"]["dropped"]] == [(3, sha)]
