"""A query over fakes: legs and their order, rank, succession, provenance, reach and repetition."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mem.domain.errors import InvalidRequest, RequestConflict, Unavailable
from mem.domain.nodes import Node
from mem.ports import AppendPlan, VectorHit, WordHit
from mem.testing import FakeMemories
from tests.unit.recall.kit import NPM_LOG, NPM_SYMPTOM, Scores, World

WHY = "Why does kong refuse large uploads?"
ANSWER = "kong buffers large uploads and refuse them: set proxy-body-size to zero."


@pytest.fixture
def world() -> World:
    return World()


def shas(body) -> list[str]:
    return [hit["sha"] for hit in body["hits"]]


def ranked(body, leg: str) -> list[tuple[int, str]]:
    """The candidates of one leg, in the order in which they are listed."""
    return [(one["rank"], one["sha"]) for one in body["candidates"] if one["leg"] == leg]


async def test_an_answer_has_the_shape_of_the_contract(world):
    """Each field is there under its name, and candidates only where they were asked for."""
    sha = await world.remember(ANSWER, log="413 Request Entity Too Large")
    body = await world.query(WHY, request_id="q")
    assert list(body) == ["query_id", "project", "hits", "degraded"]
    assert (body["query_id"], body["project"], body["degraded"]) == ("q", "p", [])
    (hit,) = body["hits"]
    (parent,) = hit.pop("provenance")
    assert (parent["level"], parent["source"], parent["turn"]) == ("L0", "pi:1", 12)
    scores = hit.pop("scores")
    assert hit == {
        "sha": sha, "level": "L1", "project": "p", "score": scores["rerank"], "text": ANSWER, "supersedes": [],
    }  # fmt: skip
    assert 0 < scores["recall"] <= 1
    explained = await world.query(WHY, explain=True)
    assert list(explained) == [*body, "candidates", "reranked"]
    assert all(set(one) == {"sha", "leg", "rank", "distance"} for one in explained["candidates"])


async def test_the_legs_are_told_in_their_own_order(world):
    """Each leg counts from 1 by growing distance, whatever the reranker makes of it."""
    near = await world.remember("kong refuse large uploads", symptom="413 entity too large")
    far = await world.remember("kong refuse other things at night", symptom="kong refuse large uploads")
    world.with_ports(reranker=Scores({"night": 0.9}, other=0.1))
    body = await world.query("kong refuse large uploads", explain=True)
    assert shas(body) == [far, near]
    assert ranked(body, "text") == [(1, near), (2, far)]
    assert ranked(body, "symptom")[0] == (1, far)
    assert {one["leg"] for one in body["candidates"]} == {"symptom", "text", "lexical"}
    for leg in ("symptom", "text", "lexical"):
        distances = [one["distance"] for one in body["candidates"] if one["leg"] == leg]
        assert distances == sorted(distances)
    assert next(one["distance"] for one in body["candidates"] if one["leg"] == "text") == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "failure"),
    [
        (NPM_SYMPTOM, NPM_SYMPTOM),
        (f"What does this mean?\n{NPM_SYMPTOM}", NPM_SYMPTOM),
        ("Why do we pin react?", None),
    ],
    ids=["alone", "quoted", "none"],
)
async def test_the_reranker_is_told_what_failed(world, question, failure):
    """A failure is one whether words stand around it or it is all that is asked."""
    scores = Scores()
    world.with_ports(reranker=scores)
    await world.remember("Pin react in overrides.", symptom=NPM_SYMPTOM)
    await world.query(question)
    (asked,) = scores.asked
    assert (asked.failure, asked.task) == (failure, question)


async def test_the_symptom_leg_searches_with_what_failed(world):
    """Where a question quotes a failure, its lines stand for it in the symptom leg, and all of it in the text leg."""
    question = f"Our nightly job stopped last week and nobody changed anything, what could it be?\n{NPM_LOG}"
    sha = await world.remember("Pin react in overrides.", symptom=NPM_SYMPTOM)
    body = await world.query(question, explain=True)
    distances = {one["leg"]: one["distance"] for one in body["candidates"] if one["sha"] == sha}
    assert distances["symptom"] == pytest.approx(0, abs=1e-6)
    assert distances["text"] > 0.3
    assert shas(body) == [sha]


async def test_hits_are_ordered_by_level_then_score_then_sha(world):
    """Lessons stand before evidence and that before reference; then the score decides, then the sha."""
    evidence = "kong refuse large uploads with 413"
    world.with_ports(reranker=Scores({"manual": 1.0, "with 413": 0.99, "best": 0.5}, other=0.4))
    ends = ("of images at noon", "since the ingress moved", "best")
    lessons = [await world.remember(f"kong refuse large uploads {end}") for end in ends]
    best = lessons.pop()
    log = await world.remember("a lesson about nothing of that", log=evidence)
    await FakeMemories(world.state).put_vectors("text", {_evidence_of(world, log): evidence}, world.embedder)
    manual = await world.document("manual: kong refuse large uploads")
    body = await world.query("kong refuse large uploads", levels=["R", "L0", "L1", "L2"], k=10)
    assert shas(body) == [best, *sorted(lessons), _evidence_of(world, log), manual]
    assert [hit["project"] for hit in body["hits"]][-1] is None


def _evidence_of(world: World, sha: str) -> str:
    (found,) = world.state.edges[sha]
    return found


@pytest.mark.parametrize(("level", "leg"), [("L0", "symptom"), ("R", "symptom")])
async def test_evidence_and_reference_work_by_their_text(world, level, leg):
    """Levels without symptoms are found by text and words, and name themselves as where they come from."""
    document = await world.document("kong refuse large uploads", source="kong.md")
    lesson = await world.remember("unrelated", log="kong refuse large uploads", symptom="kong refuse large uploads")
    evidence = _evidence_of(world, lesson)
    await FakeMemories(world.state).put_vectors("text", {evidence: "kong refuse large uploads"}, world.embedder)
    body = await world.query("kong refuse large uploads", levels=[level], explain=True)
    expected = {"L0": (evidence, "pi:1", 12), "R": (document, "kong.md", None)}[level]
    (hit,) = body["hits"]
    (origin,) = hit["provenance"]
    assert (hit["sha"], origin["source"], origin["turn"]) == expected
    assert origin["sha"] == hit["sha"]
    assert {one["leg"] for one in body["candidates"]} == {"text", "lexical"}
    assert ranked(body, leg) == []


async def test_a_synthesis_shows_what_its_lessons_rest_on(world):
    """The provenance of an L2 goes down to the evidence, each node once, nearest first; an L1 shows its own parents."""
    first = await world.remember("first lesson", log="it failed so")
    second = await world.remember("second lesson", log="it failed so")
    node = Node(level="L2", project="p", text="kong refuse large uploads, in all")
    memories = FakeMemories(world.state)
    await memories.append(AppendPlan("appended:l2", node, (), (first, second), ()))
    await memories.put_vectors("text", {node.sha: node.text}, world.embedder)
    (hit,) = (await world.query("kong refuse large uploads", levels=["L2"]))["hits"]
    found = [(one["level"], one["sha"]) for one in hit["provenance"]]
    assert found == [*(("L1", sha) for sha in sorted([first, second])), ("L0", _evidence_of(world, first))]
    (other,) = (await world.query("first lesson", k=1))["hits"]
    assert [one["sha"] for one in other["provenance"]] == [_evidence_of(world, first)]


async def test_what_was_said_at_one_place_is_a_source_once(world):
    """Two excerpts of one turn, and evidence reached on two ways, are one source; another turn is another one."""
    turns = [Node(level="L0", project="p", text=text, source="pi:1", turn=turn) for text, turn in
             [("it failed", 3), ("and again", 3), ("then it passed", 4)]]  # fmt: skip
    memories = FakeMemories(world.state)
    lesson = Node(level="L1", project="p", text="kong refuse large uploads")
    await memories.append(AppendPlan("appended:l1", lesson, tuple(turns), (), ()))
    above = Node(level="L2", project="p", text="limits that nobody set refuse large uploads and much else")
    await memories.append(AppendPlan("appended:l2", above, (turns[1],), (lesson.sha,), ()))
    await memories.put_vectors("text", {lesson.sha: lesson.text, above.sha: above.text}, world.embedder)
    hits = (await world.query("kong refuse large uploads"))["hits"]
    places = {hit["sha"]: [(one["level"], one["source"], one["turn"]) for one in hit["provenance"]] for hit in hits}
    assert places[lesson.sha] == [("L0", "pi:1", 3), ("L0", "pi:1", 4)]
    assert sorted(places[above.sha], key=str) == [("L0", "pi:1", 3), ("L0", "pi:1", 4), ("L1", None, None)]
    assert all(one["sha"] in world.state.nodes for hit in hits for one in hit["provenance"])


async def test_a_superseded_memory_answers_through_its_successor(world):
    """Candidates show the raw node; the hit is its newest live successor, which says what it stands for."""
    old = await world.remember(ANSWER)
    middle = await world.remember("middle", supersedes=[old])
    new = await world.remember("newest, of other words", supersedes=[middle])
    body = await world.query(ANSWER, explain=True)
    assert [(hit["sha"], hit["supersedes"]) for hit in body["hits"]] == [(new, [old, middle])]
    assert ranked(body, "text")[0] == (1, old)


async def test_a_successor_of_another_level_stays_out(world):
    """Only levels that were asked for are answered with."""
    old = await world.remember(ANSWER)
    new = await world.remember("taken together", level="L2", supersedes=[old])
    assert shas(await world.query(ANSWER, levels=["L1"])) == []
    assert shas(await world.query(ANSWER)) == [new]


async def test_a_successor_of_another_project_stays_out(world):
    """The scope of the request holds for what stands in a hit's place, too."""
    old = await world.remember(ANSWER)
    await world.remember("moved elsewhere", project="q", supersedes=[old])
    assert shas(await world.query(ANSWER)) == []


async def test_the_project_bounds_every_leg(world):
    """Memories of another project are not even candidates; shared reference is."""
    await world.remember(ANSWER, project="q", symptom=ANSWER)
    shared = await world.document(ANSWER)
    body = await world.query(ANSWER, levels=["L1", "L2", "R"], explain=True)
    assert shas(body) == [shared]
    assert {one["sha"] for one in body["candidates"]} == {shared}


async def test_private_memories_stay_out(world):
    """A query names no user, so what is for one user alone is neither hit nor candidate."""
    await world.remember(ANSWER, visibility="user", owner="u")
    body = await world.query(ANSWER, explain=True)
    assert (body["hits"], body["candidates"]) == ([], [])


async def test_what_is_not_near_is_no_hit(world):
    """Below the floors of similarity nothing is returned, though the candidates show what was nearest."""
    await world.remember("The finance team meets on Tuesdays in the large room")
    body = await world.query("xylophone quartz jigsaw", explain=True)
    assert body["hits"] == []
    assert len(ranked(body, "text")) == 1


@pytest.mark.parametrize(
    ("leg", "similarity", "hits"),
    [
        ("symptom", 0.25, 1),
        ("symptom", 0.2499, 0),
        ("text", 0.25, 1),
        ("text", 0.2499, 0),
        ("lexical", 0.2, 1),
        ("lexical", 0.1999, 0),
    ],
)
async def test_one_leg_over_its_floor_makes_a_hit(world, leg, similarity, hits):
    """Whatever its score, which is told: a question may be about no failure at all."""
    sha = await world.remember(ANSWER)
    world.with_ports(reranker=Scores(other=0.001))

    async def nearest(kind, *_):
        return [VectorHit(sha, similarity)] if kind == leg else []

    async def words(*_):
        return [WordHit(sha, similarity, similarity)] if leg == "lexical" else []

    world.break_part("memories", nearest=nearest, words=words)
    found = (await world.query(WHY))["hits"]
    assert [(hit["sha"], hit["score"], hit["scores"]["recall"]) for hit in found] == [(sha, 0.001, similarity)] * hits


async def test_k_is_the_number_of_hits_and_widens_recall(world):
    """At most k hits come back, and each leg recalls ten times as many, at least 50, of which 50 are listed."""
    for number in range(60):
        await world.remember(f"kong refuse large uploads, case {number}")
    asked: list[int] = []
    nearest = world.ports.memories.nearest

    async def counted(kind, levels, vector, reach, limit):
        asked.append(limit)
        return await nearest(kind, levels, vector, reach, limit)

    world.break_part("memories", nearest=counted)
    body = await world.query("kong refuse large uploads", k=7, explain=True)
    assert (len(body["hits"]), len(ranked(body, "text"))) == (7, 50)
    assert [rank for rank, _ in ranked(body, "text")] == list(range(1, 51))
    await world.query("kong refuse large uploads", k=3)
    assert asked == [70, 70, 50, 50]


async def test_the_same_question_gives_the_same_bytes_and_counts_nothing(world):
    """A repeated request gets the stored bytes whatever changed since, and neither counts nor journals anything."""
    await world.remember("Pin react in overrides.", log=NPM_LOG, symptom=NPM_SYMPTOM)
    before = (dict(world.state.occurrences), len(world.state.records))
    first = await world.query_outcome(question=NPM_LOG, request_id="q")
    await world.remember("Pin react again.", symptom=NPM_SYMPTOM)
    written = len(world.state.records)
    again = await world.query_outcome(question=NPM_LOG, request_id="q")
    assert again.body == first.body
    assert (first.trace.replayed, again.trace.replayed) == (False, True)
    assert (await world.query_outcome(question=NPM_LOG)).body != first.body
    assert len(world.state.records) == written
    occurrences = {one: day for one, day in world.state.occurrences.items() if one.operation == "query"}
    assert occurrences == {}
    assert before[0].items() <= world.state.occurrences.items()


async def test_another_question_under_the_same_id_is_a_conflict(world):
    """Another body under a used request id is refused, until the answer has expired."""
    await world.query("why?", request_id="q")
    with pytest.raises(RequestConflict):
        await world.query("why not?", request_id="q")
    world.state.clock.advance(timedelta(days=31))
    assert (await world.query("why not?", request_id="q"))["query_id"] == "q"


@pytest.mark.parametrize("question", ["", " ", "\n\t"])
async def test_a_blank_question_is_refused(world, question):
    """White space asks nothing."""
    with pytest.raises(InvalidRequest, match="The question is empty"):
        await world.query(question)


async def test_the_trace_tells_why_a_hit_stands_where_it_does(world):
    """Each hit has its scores and its place in every leg that found it, or what it stands for."""
    old = await world.remember(ANSWER)
    new = await world.remember("newest, of other words", supersedes=[old], symptom=ANSWER)
    trace = (await world.query_outcome(question=ANSWER)).trace
    assert [(hit.sha, hit.ranks) for hit in trace.hits] == [(new, {"symptom": 1, "text": 1, "lexical": 1})]
    assert {leg.leg for leg in trace.legs} >= {"symptom", "text", "lexical", "embedding", "rerank", "ledger"}


async def test_a_secret_in_a_question_reaches_no_leg(world):
    """What a caller without a door sends is redacted before it is embedded or compared."""
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    seen: list[str] = []
    embed, words = world.ports.embedder.embed, world.ports.memories.words

    async def embedding(texts):
        seen.extend(texts)
        return await embed(texts)

    async def searching(terms, *rest):
        seen.extend(terms)
        return await words(terms, *rest)

    world.break_part("embedder", embed=embedding)
    world.break_part("memories", words=searching)
    await world.query(f"why is {secret} refused?")
    assert seen
    assert not any(secret.lower() in text.lower() for text in seen)


def fates(body) -> dict[str, tuple[float | None, int | None, int | None, str | None]]:
    """Of each node in the explanation score, place before and after rerank, and why it is no hit."""
    return {one["sha"]: (one["score"], one["before"], one["after"], one["cut"]) for one in body["reranked"]}


async def test_an_explanation_tells_what_the_reranker_did(world):
    """The order of recall, the one that stands, and what did not fit into it; without a reranker they are the same."""
    near = await world.remember("kong refuse large uploads")
    far = await world.remember("kong refuse large things at night")
    others = [
        await world.remember(text)
        for text in ("The finance team of kong meets on every second Tuesday", "The other team meets on Fridays")
    ]
    world.with_ports(reranker=Scores({"night": 0.9}, other=0.1))
    body = await world.query("kong refuse large uploads", k=1, explain=True)
    assert shas(body) == [far]
    floor = dict.fromkeys(others, (0.1, None, None, "floor"))
    assert fates(body) == {far: (0.9, 2, 1, None), near: (0.1, 1, 2, "k"), **floor}
    assert [one["sha"] for one in body["reranked"]] == [far, near, *others]
    world.break_part("reranker", rerank=Unavailable("It is away."))
    body = await world.query("kong refuse large uploads", k=1, explain=True)
    floor = dict.fromkeys(others, (None, None, None, "floor"))
    assert fates(body) == {near: (None, 1, 1, None), far: (None, 2, 2, "k"), **floor}


async def test_what_the_reranker_had_no_time_for_is_told(world):
    """It keeps its place in recall order, and has no score and no other place."""
    texts = ("kong refuse large uploads", "kong refuse large things at night", "kong may refuse who comes by day")
    made = [await world.remember(text) for text in texts]
    world.with_ports(reranker=Scores(other=0.5, most=2))
    body = await world.query("kong refuse large uploads", k=2, explain=True)
    assert fates(body)[made[2]] == (None, 3, None, "unscored")
    assert sorted(shas(body)) == sorted(made[:2])


async def test_what_became_of_superseded_candidates_is_told(world):
    """A successor says what it stands for; where it may not be a hit the reason is told, and where there is none."""
    old = await world.remember(f"{ANSWER} One.")
    middle = await world.remember(f"{ANSWER} Two.", supersedes=[old])
    new = await world.remember("newest, of other words", supersedes=[middle])
    above = await world.remember(f"{ANSWER} Three.")
    raised = await world.remember("taken together", level="L2", supersedes=[above])
    away = await world.remember(f"{ANSWER} Four.")
    moved = await world.remember("moved elsewhere", project="q", supersedes=[away])
    hidden = await world.remember(f"{ANSWER} Five.")
    await world.remember("for one user", visibility="user", owner="u", supersedes=[hidden])
    body = await world.query(ANSWER, levels=["L1"], explain=True)
    assert shas(body) == [new]
    cut = {sha: fate[3] for sha, fate in fates(body).items()}
    assert cut == {new: None, raised: "level", moved: "project", hidden: "superseded"}
    stands = {one["sha"]: one["supersedes"] for one in body["reranked"]}
    assert stands == {new: [old, middle], raised: [above], moved: [away], hidden: []}
    told = {one["sha"] for one in body["reranked"]}.union(*stands.values())
    assert {one["sha"] for one in body["candidates"]} <= told


async def test_an_explanation_is_bounded_and_complete(world):
    """Fifty places are told, and of what lies behind them only what a leg lists; every listed candidate is told."""
    for number in range(120):
        await world.remember(f"kong refuse large uploads, case {number}")
    body = await world.query("kong refuse large uploads", k=12, explain=True)
    told = fates(body)
    assert {one["sha"] for one in body["candidates"]} <= set(told)
    assert [sha for sha, fate in told.items() if fate[3] is None] == shas(body)
    assert sorted(fate[2] for fate in told.values() if fate[2] is not None and fate[2] <= 50) == list(range(1, 51))
    assert len(told) < 120
    assert (await world.query("kong refuse large uploads", k=12, explain=True))["reranked"] == body["reranked"]


async def test_where_the_hits_could_not_be_read_nothing_is_said_to_be_superseded(world):
    """The legs found them, and no more than that is known."""
    await world.remember(ANSWER)
    world.break_part("memories", lineages=Unavailable("The store is away."))
    body = await world.query(ANSWER, explain=True)
    assert (body["hits"], body["reranked"]) == ([], [])
    assert body["candidates"]
