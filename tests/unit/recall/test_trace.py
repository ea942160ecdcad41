"""The trace: who scored, what came near, what was dropped, bounded whatever the answer holds."""

from __future__ import annotations

import pytest

from mem.domain.errors import Unavailable
from mem.domain.nodes import StoredNode
from mem.parsing import extract
from mem.ports import Candidate
from mem.recall.floors import floors
from mem.recall.misses import TOLD, missed_lessons, missed_reference, nearest
from mem.recall.trace import LISTED
from tests.unit.recall.kit import NPM_LOG, NPM_SYMPTOM, Scores, World

NOVEL = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree for vue@3.4.0\n"
FLOOR = floors()
SIGNATURE = extract(NPM_LOG)[0]


@pytest.fixture
def world() -> World:
    return World()


def candidate(sha: str, *, project: str = "p", coarse: bool = False, **found: float) -> Candidate:
    similarities = {f"{kind}_similarity": found.get(kind) for kind in ("symptom", "text", "lexical")}
    node = StoredNode(level="L1", project=project, text=sha, stored_sha=sha)
    return Candidate(node=node, symptom="", exact=False, coarse=coarse, same_tool=False, **similarities)


async def test_the_nearest_misses_are_told_with_their_floors(world):
    """What the floor kept out stands in the trace with its score, lessons and reference by how near they came."""
    far = await world.remember("Far off.", symptom=NPM_SYMPTOM)
    near = await world.remember("Near miss.", symptom=NPM_SYMPTOM, project="q")
    chunk = await world.document("npm ERR! code ERESOLVE unable to resolve dependency tree: what peers are")
    world.with_ports(reranker=Scores({"Near": 0.14, "Far": 0.05, "what peers are": 0.5}))
    outcome = await world.outcome(signature_source=NOVEL)
    assert [(each.tier, each.sha, each.project) for each in outcome.trace.misses] == [
        (2, near, "q"), (3, chunk, None), (2, far, "p"),
    ]  # fmt: skip
    assert {each.measure for each in outcome.trace.misses} == {"rerank"}
    assert [(each.score, each.floor) for each in outcome.trace.misses] == [
        (0.14, FLOOR.lesson), (0.5, FLOOR.reference), (0.05, FLOOR.lesson),
    ]  # fmt: skip
    assert outcome.trace.near_misses == 2
    assert str(near) not in outcome.body


async def test_what_is_told_is_no_miss(world):
    """A lesson of the answer is not among what was left out, nor is one that only the budget dropped."""
    await world.remember("Use overrides.", log=NPM_LOG, symptom=NPM_SYMPTOM)
    await world.remember("Use yarn.", symptom=NPM_SYMPTOM)
    world.with_ports(reranker=Scores())
    trace = (await world.outcome(signature_source=NPM_LOG, budget=1)).trace
    assert (trace.misses, [each.tier for each in trace.dropped]) == ([], [2])


@pytest.mark.parametrize(
    ("one", "score", "told"),
    [
        (candidate("a", symptom=0.1, text=0.15), 0.49, ("text", 0.15, FLOOR.near)),
        (candidate("a", symptom=0.41, text=0.2), 0.2, ("rerank", 0.2, FLOOR.lesson)),
        (candidate("a", lexical=0.17), 0.2, ("rerank", 0.2, FLOOR.lesson_lexical)),
        (candidate("a", symptom=0.1, coarse=True), 0.2, ("rerank", 0.2, FLOOR.lesson)),
        (candidate("a", text=0.3), 0.4, ("rerank", 0.4, FLOOR.lesson_text)),
        (candidate("a", text=0.3), None, ("text", 0.3, FLOOR.text)),
        (candidate("a", symptom=0.6, text=0.3, lexical=0.1), None, ("symptom", 0.6, FLOOR.symptom)),
        (candidate("a"), 0.2, ("rerank", 0.2, FLOOR.lesson)),
    ],
)
def test_the_measure_that_stood_most_in_the_way_is_told(one, score, told):
    """Of the best similarity and the probability the one farther below its floor; a coarse key is similarity."""
    (miss,) = missed_lessons([one], None if score is None else [score], set(), FLOOR)
    assert (miss.measure, miss.score, miss.floor) == told


def test_what_nothing_measured_is_no_miss():
    """A candidate without a single score says nothing."""
    assert missed_lessons([candidate("a")], None, set(), FLOOR) == []


def test_only_the_nearest_are_told_whatever_their_order():
    """A bounded number, by their distance from the floor, then by sha."""
    many = [candidate(f"{number:02}", symptom=0.5) for number in range(30)]
    scores = [0.12 if number % 2 else 0.08 for number in range(30)]
    misses = missed_lessons(many, scores, {"01"}, FLOOR)
    assert [each.sha for each in misses] == ["03", "05", "07", "09", "11"]
    assert misses == missed_lessons(many[::-1], scores[::-1], {"01"}, FLOOR)
    chunks = missed_reference([candidate("r", project="*", text=0.39)], [0.9], set(), FLOOR)
    assert [(each.tier, each.project, each.measure) for each in chunks] == [(3, None, "text")]
    assert [each.sha for each in nearest([*misses, *chunks])] == ["r", "03", "05", "07", "09"]
    assert len(nearest([*misses, *chunks])) == TOLD


async def test_who_scored_is_told(world):
    """The reranker is named where it scored, and not where it failed or where there was nothing to score."""
    assert (await world.outcome(signature_source=NPM_LOG)).trace.reranker is None
    await world.remember("Use overrides.", log=NPM_LOG)
    assert (await world.outcome(signature_source=NPM_LOG)).trace.reranker == "fake-reranker-1"
    world.break_part("reranker", rerank=Unavailable("It is away.", "Wait."))
    trace = (await world.outcome(signature_source=NPM_LOG)).trace
    assert (trace.reranker, trace.degraded) == (None, ["rerank: It is away. Wait."])


async def test_a_repeated_answer_is_told_as_one(world):
    """Its trace names the request and the stored answer, and has no leg but the one that found it."""
    await world.remember("Use overrides.", log=NPM_LOG)
    first = (await world.outcome(request_id="r", signature_source=NPM_LOG)).trace
    again = (await world.outcome(request_id="r", signature_source=NPM_LOG)).trace
    assert (again.project, again.request_id, again.replayed, first.replayed) == ("p", "r", True, False)
    assert (again.tier, again.tool, again.lessons) == (1, "npm", first.lessons)
    assert [(leg.leg, leg.step) for leg in again.legs] == [("ledger", "answered before?")]


async def test_the_trace_is_bounded(world):
    """Exact hits may be many; the trace lists the first of them, however long their texts are."""
    for number in range(LISTED + 5):
        await world.remember(f"{number} " + "word " * 900, log=NPM_LOG)
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert (len(outcome.trace.lessons), outcome.trace.signatures) == (LISTED, [SIGNATURE.sig_sha])
    assert len(outcome.trace.model_dump_json()) < 10_000 < len(outcome.body)


async def test_times_are_of_each_step_and_of_the_whole(world):
    """No step took longer than all, which is in the trace and not in the answer."""
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert 0 <= max(leg.milliseconds for leg in outcome.trace.legs) <= outcome.trace.milliseconds
    assert "milliseconds" not in outcome.body


async def test_a_reason_has_no_secret(world):
    """What a part says of its failure is redacted before it is answered, traced or logged."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    world.break_part("skills", nearest=Unavailable(f"{secret} was refused.", "Mend it."))
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert "[redacted" in outcome.trace.degraded[0]
    assert secret not in outcome.model_dump_json()
