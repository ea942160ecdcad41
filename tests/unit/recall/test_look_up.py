"""The lookup over fakes: tiers, precedence, scope, succession and abstention."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from mem.domain.errors import InvalidRequest, RequestConflict, Unavailable
from mem.parsing import extract
from mem.ports import Skill
from tests.unit.recall.kit import NPM_LOG, NPM_SYMPTOM, PYTHON_LOG, Scores, World, counted, stable, texts

FIX = "Pin react in overrides when npm cannot resolve its peers."
NOVEL = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree for vue@3.4.0\n"
DOC = "npm ERR! code ERESOLVE unable to resolve dependency tree: what peers are and how npm resolves them"
SIGNATURE = extract(NPM_LOG)[0]


@pytest.fixture
def world() -> World:
    return World()


async def full_house(world: World) -> dict[str, str]:
    """An exact memory, a similar one, reference, and a skill that all concern the npm log."""
    world.with_ports(reranker=Scores())
    await world.teach("ci-triage", "npm ERR code ERESOLVE unable to resolve dependency tree")
    return {
        "exact": await world.remember(FIX, log=NPM_LOG, symptom=NPM_SYMPTOM),
        "similar": await world.remember("Vue wants the same pin.", symptom=NPM_SYMPTOM, level="L2"),
        "reference": await world.document(DOC),
    }


async def test_an_exact_hit_leads_and_cuts_nothing_short(world):
    """Tier 1 comes first, and tiers 2 and 3 and the skills are there all the same."""
    shas = await full_house(world)
    body = await world.look_up(signature_source=NPM_LOG)
    assert body["tier"] == 1
    assert [(each["tier"], each["sha"]) for each in body["lessons"]] == [
        (1, shas["exact"]),
        (2, shas["similar"]),
        (3, shas["reference"]),
    ]
    assert [skill["name"] for skill in body["skills"]] == ["ci-triage"]
    assert (body["degraded"], body["abstained_reason"]) == ([], None)


async def test_a_lesson_has_the_shape_of_the_contract(world):
    """Each field of the contract is there under its name, parents as level, sha, source and turn."""
    shas = await full_house(world)
    body = await world.look_up(signature_source=NPM_LOG)
    assert list(body) == [
        "tier", "lessons", "skills", "signatures", "budget", "degraded", "abstained_reason", "nearest_misses",
    ]  # fmt: skip
    lesson = body["lessons"][0]
    parents = lesson.pop("parents")
    scores = lesson.pop("scores")
    assert lesson == {
        "tier": 1,
        "level": "L1",
        "sha": shas["exact"],
        "project": "p",
        "text": FIX,
        "matched_kind": "signature",
        "seen_count": 2,
        "last_seen": "2026-07-02",
        "first_seen": "2026-07-02",
        "signature": {"sig_sha": SIGNATURE.sig_sha, "tool": "npm", "rule": SIGNATURE.rule},
        "score": 0.9,
        "supersedes": [],
    }
    assert set(scores) == {"recall", "rerank"}
    assert scores["rerank"] == 0.9
    (parent,) = parents
    assert set(parent) == {"level", "sha", "source", "turn"}
    assert (parent["level"], parent["source"], parent["turn"]) == ("L0", "pi:1", 12)
    assert body["signatures"] == [
        {
            "sig_sha": SIGNATURE.sig_sha,
            "tool": "npm",
            "envelope": None,
            "rule": SIGNATURE.rule,
            "known": True,
            "seen_count": 2,
        }
    ]
    assert body["lessons"][2]["project"] is None


async def test_rule_beats_score(world):
    """A reference chunk and a similar memory that rerank above the exact one stay behind it; all scores are shown."""
    shas = await full_house(world)
    world.with_ports(reranker=Scores({"Pin react": 0.51, "Vue": 0.75, "what peers are": 0.99}))
    body = await world.look_up(signature_source=NPM_LOG)
    assert [(each["sha"], each["score"], each["scores"]["rerank"]) for each in body["lessons"]] == [
        (shas["exact"], 0.51, 0.51),
        (shas["similar"], 0.75, 0.75),
        (shas["reference"], 0.99, 0.99),
    ]
    assert all(each["scores"]["recall"] is not None for each in body["lessons"][1:])


async def test_an_exact_hit_needs_no_score(world):
    """What happened before is told even where the reranker thinks nothing of it."""
    await full_house(world)
    world.with_ports(reranker=Scores(other=0.0))
    body = await world.look_up(signature_source=NPM_LOG)
    assert texts(body) == [FIX]
    assert body["lessons"][0]["score"] == 0.0


async def test_scores_are_rounded_before_they_order(world):
    """Scores equal to four decimals are a tie, and ties go by sha."""
    shas = [await world.remember(f"Lesson {name} on npm.", symptom=NPM_SYMPTOM) for name in ("a", "b", "c", "d")]
    world.with_ports(reranker=Scores({f"Lesson {name}": 0.80001 + number / 1e6 for number, name in enumerate("abcd")}))
    body = await world.look_up(signature_source=NOVEL)
    assert [each["sha"] for each in body["lessons"]] == sorted(shas)
    assert {each["score"] for each in body["lessons"]} == {0.8}


async def test_a_novel_wording_is_found_by_its_symptom(world):
    """A failure never seen, but like a known one, is tier 2 through the symptom."""
    sha = await world.remember("Agree on one major version.", symptom=NPM_SYMPTOM, log=PYTHON_LOG)
    world.with_ports(reranker=Scores())
    body = await world.look_up(signature_source=NOVEL)
    assert (body["tier"], texts(body)) == (2, ["Agree on one major version."])
    lesson = body["lessons"][0]
    assert (lesson["sha"], lesson["matched_kind"], lesson["signature"]) == (sha, "symptom", None)
    assert (lesson["seen_count"], lesson["last_seen"]) == (None, None)
    assert body["signatures"][0]["known"] is False


async def test_a_symptom_finds_what_the_text_does_not(world):
    """With the symptom vectors gone the memory whose prose shares no word with the failure is not found."""
    await world.remember("Agree on one major version.", symptom=NPM_SYMPTOM)
    world.with_ports(reranker=Scores())
    assert (await world.look_up(signature_source=NOVEL))["tier"] == 2
    for key in [key for key in world.state.vectors if key[1] == "symptom"]:
        del world.state.vectors[key]
    assert (await world.look_up(signature_source=NOVEL))["tier"] is None


async def test_words_of_the_text_are_enough(world):
    """Without a symptom a memory is matched by its text."""
    await world.remember(NOVEL.replace("\n", " "))
    world.with_ports(reranker=Scores())
    body = await world.look_up(signature_source=NOVEL)
    assert [each["matched_kind"] for each in body["lessons"]] == ["text"]


async def test_a_failure_that_differs_in_versions_alone_is_similar(world):
    """An equal coarse signature is tier 2, matched by signature, whatever the vectors say."""
    other = NPM_LOG.replace("react@18.2.0", "react@17.0.1")
    fine, coarse = extract(other)[0], extract(NPM_LOG)[0]
    if fine.sig_sha == coarse.sig_sha or fine.sig_coarse != coarse.sig_coarse:
        fine = coarse.model_copy(update={"sig_sha": "f" * 64})
    sha = await world.remember("Agree on one major version.")
    await world.ports.failures.link(project="p", request_id="x", sha=sha, signatures=[fine])
    world.with_ports(reranker=Scores())
    body = await world.look_up(signature_source=NPM_LOG)
    assert [(each["tier"], each["matched_kind"]) for each in body["lessons"]] == [(2, "signature")]


async def test_what_nobody_has_hit_is_answered_by_reference(world):
    """An unknown failure is tier 3, and no lesson claims another."""
    await world.remember("Use tabs in Makefiles.", symptom="missing separator")
    sha = await world.document(DOC)
    world.with_ports(reranker=Scores())
    body = await world.look_up(signature_source=NOVEL)
    assert body["tier"] == 3
    assert [(each["tier"], each["level"], each["sha"]) for each in body["lessons"]] == [(3, "R", sha)]


async def test_a_superseded_memory_gives_way_to_its_successor(world):
    """Found by signature or by symptom, the old memory is out and the newest is in, in the tier of the hit."""
    world.with_ports(reranker=Scores())
    old = await world.remember("Use --force.", log=NPM_LOG, symptom=NPM_SYMPTOM)
    middle = await world.remember("Use --legacy-peer-deps.", supersedes=[old])
    newest = await world.remember("Upgrade the plugin.", supersedes=[middle])
    for log, tier, kind in ((NPM_LOG, 1, "signature"), (NOVEL, 2, "symptom")):
        body = await world.look_up(signature_source=log)
        assert [(each["tier"], each["sha"], each["matched_kind"]) for each in body["lessons"]] == [(tier, newest, kind)]
        assert body["lessons"][0]["supersedes"] == [old, middle]
    assert (await world.look_up(signature_source=NPM_LOG))["signatures"][0]["known"] is True


async def test_what_a_memory_stands_for_is_told_oldest_first(world):
    """Two old memories with one successor, and the one between: by age, then by sha, each once."""
    world.with_ports(reranker=Scores())
    first = await world.remember("Use --force.", log=NPM_LOG)
    second = await world.remember("Use yarn.", log=NPM_LOG)
    middle = await world.remember("Use overrides.", supersedes=[first, second], log=NPM_LOG)
    await world.remember("Upgrade the plugin.", supersedes=[middle])
    body = await world.look_up(signature_source=NPM_LOG)
    assert [each["supersedes"] for each in body["lessons"]] == [[*sorted([first, second]), middle]]


async def test_chains_that_meet_surface_in_their_newest_memory(world):
    """Chains of four and of two, superseded by candidates and by a person, yield the one memory in which they meet."""
    world.with_ports(reranker=Scores())
    memories = world.ports.memories
    one = await world.remember("Use --force.", log=NPM_LOG)
    two = await world.remember("Use yarn.", supersedes=[one])
    three, four = await world.remember("Use overrides."), await world.remember("Upgrade the plugin.")
    await memories.supersede(two, three)
    other = await world.remember("Delete the lockfile.", log=NPM_LOG)
    await memories.supersede(other, four)
    await memories.supersede(three, four)
    body = await world.look_up(signature_source=NPM_LOG)
    assert [each["sha"] for each in body["lessons"]] == [four]
    assert set(body["lessons"][0]["supersedes"]) == {one, two, three, other}


async def test_what_a_lookup_gave_out_is_recorded(world):
    """The journal has the lessons of an answer, not its reference; those of other projects are kept for the gate."""
    world.with_ports(reranker=Scores())
    own = await world.remember("Use overrides.", log=NPM_LOG)
    other = await world.remember("Upgrade the plugin.", log=NPM_LOG, project="q")
    await world.document("ERESOLVE npm dependency conflict")
    body = await world.look_up(signature_source=NPM_LOG)
    (record,) = [each for each in world.state.records if each.kind == "lookup"]
    lessons = {each["sha"] for each in body["lessons"] if each["level"] == "L1"}
    assert lessons == {own, other}
    assert record.data["returned"] == sorted(lessons)
    assert world.state.returned == {("p", other)}


async def test_an_answer_that_is_stored_late_tells_what_it_gave_out(world):
    """What waits for the ledger carries the lessons along."""
    world.with_ports(reranker=Scores())
    sha = await world.remember("Use overrides.", log=NPM_LOG)

    world.break_part("ledger", settle=Unavailable("The database is away.", "Wait for it."))
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert outcome.unsettled is not None
    assert outcome.unsettled.returned == [sha]


@pytest.mark.parametrize(
    ("scope", "found"),
    [(None, True), ("all-projects", True), ("project", False)],
)
async def test_a_failure_federates_unless_told_otherwise(world, scope, found):
    """A signature and a symptom of another project are found by default, and not with scope `project`."""
    world.with_ports(reranker=Scores())
    await world.remember("Exact elsewhere.", project="q", log=NPM_LOG)
    await world.remember("Similar elsewhere.", project="q", symptom=NPM_SYMPTOM)
    body = await world.look_up(signature_source=NPM_LOG, **({"scope": scope} if scope else {}))
    assert texts(body) == (["Exact elsewhere.", "Similar elsewhere."] if found else [])
    assert body["signatures"][0]["known"] is found
    assert body["signatures"][0]["seen_count"] == (2 if found else 1)


@pytest.mark.parametrize(
    ("scope", "found"), [(None, ["Here"]), ("project", ["Here"]), ("all-projects", ["Here", "There"])]
)
async def test_a_task_stays_in_its_project_unless_told_otherwise(world, scope, found):
    """What is to be done is looked up in the project, and in all only where the scope says so."""
    world.with_ports(reranker=Scores({"Here": 0.9, "There": 0.8}))
    for name, project in (("Here", "p"), ("There", "q")):
        await world.remember(f"{name} we upgrade the ingress controller by hand.", project=project)
    body = await world.look_up(task="upgrade the ingress controller", **({"scope": scope} if scope else {}))
    assert [text.split()[0] for text in texts(body)] == found


async def test_a_failure_beside_a_task_does_not_widen_the_task(world):
    """What another project knows of the task is near the log, too, but is told only where it fits the failure."""
    scores = Scores({"signing keys of react": 0.9, "Pin react": 0.8})
    world.with_ports(reranker=scores)
    await world.remember("Rotate the signing keys of react with npm.", project="q")
    await world.remember("Pin react to the major of its peers.", project="q", symptom=NPM_SYMPTOM)
    await world.remember("Ask for the signing keys of react by mail.")
    both = {"task": "rotate the signing keys of react", "signature_source": NPM_LOG}
    await world.look_up(**both)
    asked = {(query.failure is not None, query.task is not None) for query in scores.asked}
    assert asked == {(True, True), (True, False)}
    scores.task_alone = "signing keys"
    assert texts(await world.look_up(**both)) == [
        "Ask for the signing keys of react by mail.",
        "Pin react to the major of its peers.",
    ]
    assert len(texts(await world.look_up(**both, scope="all-projects"))) == 3


async def test_what_a_failure_looks_like_answers_no_task(world):
    """Where nothing has failed symptoms are not searched, however much the words of a plan are like them."""
    world.with_ports(reranker=Scores())
    await world.remember("Pin the peer.", symptom=NPM_SYMPTOM)
    words = "upgrade to the dependency tree of react 18.2.0 and the code of ERESOLVE"
    outcome = await world.outcome(task=words)
    assert "symptom" not in {run.leg for run in outcome.trace.legs if run.step == "search"}
    assert texts(json.loads(outcome.body)) == []


async def test_a_task_that_quotes_a_failure_finds_what_explains_it(world):
    """Work on a failure is searched with the failure's lines, too, in the project of the task."""
    world.with_ports(reranker=Scores())
    await world.remember("Here: pin the peer.", symptom=NPM_SYMPTOM)
    await world.remember("There: pin the peer.", symptom=NPM_SYMPTOM, project="q")
    body = await world.look_up(task=f"Mend the build of the shop, it says:\n{NPM_LOG}")
    assert texts(body) == ["Here: pin the peer."]
    assert (body["lessons"][0]["matched_kind"], body["signatures"]) == ("symptom", [])


async def test_an_excerpt_of_which_nobody_is_sure_finds_lessons_and_nothing_else(world):
    """What a short text says is held against symptoms; documentation and skills are not told for it."""
    excerpt = "peer react wants 18.2.0 while the tree holds 17.0.2 beside it"
    await world.document(excerpt)
    await world.teach("peers", excerpt)
    world.with_ports(reranker=Scores())
    assert (await world.look_up(signature_source=excerpt))["lessons"] == []
    await world.remember("Pin the peer.", symptom=excerpt)
    body = await world.look_up(signature_source=excerpt)
    assert (texts(body), body["skills"], body["signatures"]) == (["Pin the peer."], [], [])


@pytest.mark.parametrize(("scope", "found"), [(None, False), ("project", False), ("all-projects", True)])
async def test_reference_and_skills_of_a_project_follow_the_scope(world, scope, found):
    """With a project they stay there by default; shared ones are seen by every scope."""
    world.with_ports(reranker=Scores())
    mine = await world.document(DOC)
    await world.document(f"{DOC} elsewhere", project="q", source="q.md")
    await world.teach("shared", NPM_SYMPTOM)
    await world.teach("theirs", NPM_SYMPTOM, project="q")
    body = await world.look_up(signature_source=NOVEL, **({"scope": scope} if scope else {}))
    assert mine in [each["sha"] for each in body["lessons"]]
    assert len(body["lessons"]) == (2 if found else 1)
    assert sorted(skill["name"] for skill in body["skills"]) == (["shared", "theirs"] if found else ["shared"])


async def test_the_own_project_is_ahead_among_near_equals_and_no_further(world):
    """The boost decides where scores are all but equal, never shows in a score, and filters nothing."""
    await world.remember("Here: pin it.", symptom=NPM_SYMPTOM)
    await world.remember("There: pin it.", symptom=NPM_SYMPTOM, project="q")
    for there, first in ((0.81, "Here"), (0.83, "There")):
        world.with_ports(reranker=Scores({"Here": 0.80, "There": there}))
        body = await world.look_up(signature_source=NOVEL)
        assert texts(body)[0].startswith(first)
        assert sorted(each["score"] for each in body["lessons"]) == [0.80, there]


async def test_no_one_elses_private_memory_is_answered(world):
    """A lookup names no user, so it reads nothing private."""
    world.with_ports(reranker=Scores())
    await world.remember("Mine alone.", log=NPM_LOG, symptom=NPM_SYMPTOM, visibility="user", owner="ada")
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["lessons"], body["signatures"][0]["known"]) == ([], False)


async def test_a_private_successor_is_not_answered_for_what_it_superseded(world):
    """Even where a memory for all was superseded by a private one, the lookup tells neither."""
    world.with_ports(reranker=Scores())
    old = await world.remember("For all.", log=NPM_LOG, symptom=NPM_SYMPTOM)
    await world.remember("Mine alone.", log=NPM_LOG, visibility="user", owner="ada", supersedes=(old,))
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["lessons"], body["signatures"][0]["known"]) == ([], False)


async def test_a_tool_alone_lists_what_carries_it(world):
    """The own project comes first, then what was seen more often; a name ranks nothing, so there is no score."""
    world.with_ports(reranker=Scores({"Seldom": 0.99}))
    often = await world.remember("Often there.", project="q", log=NPM_LOG, sightings=3)
    other = NPM_LOG.replace("ERESOLVE", "EINTEGRITY").replace("unable to resolve dependency tree", "sha512 mismatch")
    seldom = await world.remember("Seldom there.", project="q", log=other)
    here = await world.remember("Seldom here.", log=other)
    await world.remember("About npm, but linked to nothing: npm npm.")
    body = await world.look_up(tool="npm")
    assert [each["sha"] for each in body["lessons"]] == [here, often, seldom]
    assert {(each["tier"], each["matched_kind"], each["score"]) for each in body["lessons"]} == {(2, "text", None)}
    assert body["signatures"] == []


async def test_a_tool_is_known_in_any_case(world):
    """Its name is written as its makers do, or in the middle of white space."""
    sha = await world.remember("Pin it.", log=NPM_LOG)
    for name in ("NPM", " Npm\n"):
        assert [each["sha"] for each in (await world.look_up(tool=name))["lessons"]] == [sha]


async def test_a_tool_lists_what_took_the_place_of_a_lesson_that_carried_it(world):
    """The newest successor stands once, though it carries no tool itself; one that not all may read does not."""
    old, older = await world.remember("Old.", log=NPM_LOG), await world.remember("Older.", log=NPM_LOG)
    new = await world.remember("New.", supersedes=(old, older))
    (lesson,) = (await world.look_up(tool="npm"))["lessons"]
    assert (lesson["sha"], set(lesson["supersedes"])) == (new, {old, older})
    await world.remember("Mine.", supersedes=(new,), visibility="user", owner="ada")
    assert (await world.look_up(tool="npm"))["lessons"] == []


async def test_a_tool_that_nothing_carries_is_looked_for_in_texts(world):
    """Without a link the name is searched like a task."""
    world.with_ports(reranker=Scores())
    sha = await world.remember("terraform")
    body = await world.look_up(tool="terraform")
    assert [(each["sha"], each["tier"], each["matched_kind"]) for each in body["lessons"]] == [(sha, 2, "text")]


async def test_a_tool_that_is_given_with_a_failure_is_a_hint_alone(world):
    """With a log the tool restricts nothing, and the reranker learns of it."""
    scores = Scores()
    world.with_ports(reranker=scores)
    await world.remember(FIX, log=NPM_LOG)
    body = await world.look_up(signature_source=NPM_LOG, tool="yarn")
    assert body["tier"] == 1
    assert {query.tool for query in scores.asked} == {"yarn"}


async def test_the_tool_is_inferred_from_the_failure(world):
    """Without a tool the one of the best signature is asked for."""
    scores = Scores()
    world.with_ports(reranker=scores)
    await world.remember(FIX, log=NPM_LOG)
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["tier"], body["signatures"][0]["tool"]) == (1, "npm")
    assert {query.tool for query in scores.asked} == {"npm"}


async def test_an_unknown_project_is_no_error(world):
    """A project without memories gets an answer without a tier, with the reason."""
    await world.remember("Elsewhere we upgrade by hand.", project="q")
    body = await world.look_up(project="nowhere", task="upgrade by hand")
    assert (body["tier"], body["lessons"], body["skills"]) == (None, [], [])
    assert body["abstained_reason"] == "Nothing known concerns this."


@pytest.mark.parametrize("text", ["all good\n", "Done in 3.1s.\n", "added 3 packages\n"])
async def test_a_text_without_failure_asks_for_nothing(world, text):
    """Boilerplate alone is no question: nothing is searched, not even with an empty text."""
    await world.document("all good. Done. added packages")
    await world.teach("anything", "all good, done")
    world.with_ports(reranker=Scores())
    embedder = world.break_part("embedder")
    body = await world.look_up(signature_source=text)
    assert (body["tier"], body["lessons"], body["skills"], body["signatures"]) == (None, [], [], [])
    assert body["abstained_reason"] == "The text shows no failure, and nothing else was asked."
    assert (body["nearest_misses"], body["degraded"], embedder.calls) == (0, [], [])


async def test_an_excerpt_beside_a_tool_is_not_all_that_was_asked(world):
    """The reason never denies what the caller asked."""
    body = await world.look_up(signature_source="all tests passed, 120 of 120\nDone in 4.2s.\n", tool="npm")
    assert (body["tier"], body["abstained_reason"]) == (
        None,
        "The text shows no failure, and looks like nothing known.",
    )


async def test_a_synthesis_names_its_lessons_and_where_they_were_learned(world):
    """Each once, the lessons first; what has neither source nor turn can be looked up in nothing."""
    world.with_ports(reranker=Scores())
    one = await world.remember("One.", log=PYTHON_LOG)
    other = await world.remember("Other.", log=PYTHON_LOG)
    await world.remember("Both.", level="L2", symptom=NPM_SYMPTOM, parents=(one, other))
    (lesson,) = (each for each in (await world.look_up(signature_source=NPM_LOG))["lessons"] if each["level"] == "L2")
    found = [(parent["level"], parent["source"], parent["turn"]) for parent in lesson["parents"]]
    assert found == [("L1", None, None), ("L1", None, None), ("L0", "pi:1", 12)]


async def test_skills_alone_are_no_tier_and_said_to_be_there(world):
    """A skill is nothing that happened and no documentation, but the reason does not deny it."""
    await world.teach("npm-triage", NPM_SYMPTOM)
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["tier"], [skill["name"] for skill in body["skills"]]) == (None, ["npm-triage"])
    assert body["abstained_reason"] == "No lesson and no documentation concerns this; there are skills that fit."


async def test_it_abstains_below_the_floor_and_counts_what_came_near(world):
    """A memory and a chunk below the floor are no answer; those not far below it are counted."""
    await world.remember("Near miss.", symptom=NPM_SYMPTOM)
    await world.remember("Far off.", symptom=NPM_SYMPTOM)
    await world.document(DOC)
    world.with_ports(reranker=Scores({"Near": 0.12, "Far": 0.05, "what peers are": 0.4}))
    body = await world.look_up(signature_source=NOVEL)
    assert (body["tier"], body["lessons"], body["nearest_misses"]) == (None, [], 2)
    assert body["abstained_reason"] == "Nothing known is similar enough; the nearest are below the floor."


async def test_a_skill_below_its_floor_is_not_named(world):
    """Skills that are not near are left out, the nearest come first, and only so many of them."""

    async def nearest(*_):
        near = {"none": 0.29, "floor": 0.30, "a": 0.5, "b": 0.7, "c": 0.6, "d": 0.4}
        return [(Skill(name, "d", "b", "*"), score) for name, score in near.items()]

    world.break_part("skills", nearest=nearest)
    body = await world.look_up(signature_source=NPM_LOG, task="something else")
    assert body["skills"] == [{"name": name, "score": score} for name, score in (("b", 0.7), ("c", 0.6), ("a", 0.5))]


async def test_a_skill_that_is_near_to_nothing_asked_is_not_named(world):
    """A lookup that no skill fits names none."""
    await world.teach("baking", "bread and sourdough")
    assert (await world.look_up(signature_source=NPM_LOG))["skills"] == []


async def test_a_lookup_counts_what_it_sees_known_or_not(world):
    """Each lookup is a sighting of each signature in its log, itself included, and the journal has it."""
    counts = [(await world.look_up(signature_source=PYTHON_LOG))["signatures"][0]["seen_count"] for _ in range(3)]
    assert counts == [1, 2, 3]
    assert [record.kind for record in world.state.records] == ["lookup"] * 3


async def test_the_last_sighting_is_a_date(world):
    """`last_seen` is the UTC date of this very call, which a later one moves."""
    await world.remember(FIX, log=NPM_LOG)
    world.state.clock.advance(timedelta(days=2, hours=11))
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["lessons"][0]["seen_count"], body["lessons"][0]["last_seen"]) == (2, "2026-07-04")


async def test_since_when_is_told_and_stays(world):
    """The date of the first sighting is the same for every identical request, and stands in tier 1 alone."""
    await full_house(world)
    for _ in range(3):
        world.state.clock.advance(timedelta(days=1))
        body = await world.look_up(signature_source=NPM_LOG)
        assert [each["first_seen"] for each in body["lessons"]] == ["2026-07-02", None, None]
    assert list(body["lessons"][0])[7:10] == ["last_seen", "first_seen", "signature"]


async def test_a_failure_that_only_lookups_saw_has_no_first_day(world):
    """Where signatures were derived anew, nothing tells since when; the lookups that follow change nothing of that."""
    sha = await world.remember(FIX)
    await world.ports.failures.relink(sha, extract(NPM_LOG))
    bodies = [await world.look_up(signature_source=NPM_LOG) for _ in range(3)]
    assert [each["lessons"][0]["seen_count"] for each in bodies] == [1, 2, 3]
    assert {each["lessons"][0]["first_seen"] for each in bodies} == {None}


async def test_since_when_follows_the_reach(world):
    """What another project saw first counts where the scope reaches there."""
    await world.remember("There.", project="q", log=NPM_LOG)
    world.state.clock.advance(timedelta(days=5))
    await world.remember("Here.", log=NPM_LOG)
    for scope, first in (("project", "2026-07-07"), ("all-projects", "2026-07-02")):
        body = await world.look_up(signature_source=NPM_LOG, scope=scope)
        assert {each["first_seen"] for each in body["lessons"] if each["tier"] == 1} == {first}


async def test_a_request_sent_again_gets_its_bytes_and_runs_nothing(world):
    """A retry is answered from the ledger with the very bytes, though the world has changed, and counts nothing."""
    await world.remember(FIX, log=NPM_LOG)
    first = await world.outcome(request_id="r", signature_source=NPM_LOG)
    await world.remember("Something newer.", log=NPM_LOG)
    occurrences = dict(world.state.occurrences)
    parts = {name: world.break_part(name) for name in ("memories", "failures", "skills", "embedder", "reranker")}
    again = await world.outcome(request_id="r", signature_source=NPM_LOG)
    assert again.body == first.body
    assert (first.trace.replayed, again.trace.replayed) == (False, True)
    assert {name: part.calls for name, part in parts.items()} == {name: [] for name in parts}
    assert world.state.occurrences == occurrences


async def test_another_body_under_a_used_id_is_a_conflict(world):
    """The ledger's conflict passes through; it is no failed leg."""
    await world.look_up(request_id="r", signature_source=NPM_LOG)
    with pytest.raises(RequestConflict):
        await world.look_up(request_id="r", signature_source=PYTHON_LOG)
    assert (await world.look_up(request_id="r", project="q", signature_source=PYTHON_LOG))["signatures"]


async def test_a_request_that_gives_nothing_is_refused(world):
    """The worker holds callers without a door to the same rule."""
    with pytest.raises(InvalidRequest):
        await world.look_up()


async def test_identical_requests_have_identical_answers(world):
    """Under other ids the same question gives the same bytes, but for the counts of sightings."""
    await full_house(world)
    bodies = [(await world.outcome(signature_source=NPM_LOG, task="upgrade npm")).body for _ in range(3)]
    assert len(set(bodies)) == 3
    assert len({stable(json.loads(body)) for body in bodies}) == 1
    assert len({json.dumps(counted(json.loads(body))) for body in bodies}) == 1


async def test_a_secret_of_a_caller_without_a_door_is_not_searched_with(world):
    """The worker redacts log, task and tool again before a model or the journal sees them."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    scores = Scores()
    world.with_ports(reranker=scores)
    await world.remember("Anything about tokens.", symptom="npm ERR! code E401")
    seen: list[str] = []

    async def embed(given):
        seen.extend(given)
        return [world.embedder.vector(text) for text in given]

    world.break_part("embedder", embed=embed)
    log = f"npm ERR! code E401\nnpm ERR! Unable to authenticate with {secret}\n"
    await world.look_up(signature_source=log, task=f"use {secret}", tool=secret)
    assert len(seen) == 2
    told = "".join(seen) + repr(scores.asked) + "".join(record.body.decode() for record in world.state.records)
    assert secret not in told


async def test_a_reference_chunk_names_its_document(world):
    """What the documentation says comes with the place where it says so."""
    world.with_ports(reranker=Scores())
    sha = await world.document(DOC, source="npm.md#peer-dependencies")
    (lesson,) = (await world.look_up(signature_source=NOVEL))["lessons"]
    assert lesson["parents"] == [{"level": "R", "sha": sha, "source": "npm.md#peer-dependencies", "turn": None}]
