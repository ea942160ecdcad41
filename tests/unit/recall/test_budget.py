"""The budget: what is dropped, in which order, and what `used` means."""

from __future__ import annotations

import pytest

from mem.clients.tokens import Cl100kCounter
from mem.domain.lookup import Lesson, Scores, SkillHit
from mem.recall.budget import fit, used_tokens
from mem.testing import FakeTokens
from tests.unit.recall.kit import NPM_LOG, NPM_SYMPTOM, World, texts, tokens_of
from tests.unit.recall.kit import Scores as Reranked

TOKENS = Cl100kCounter.load()


@pytest.fixture
async def world() -> World:
    """Two exact memories, three similar ones with scores against their order of acceptance, reference and skills."""
    found = World()
    found.with_ports(
        tokens=TOKENS,
        reranker=Reranked(
            {"Exact": 0.2, "Similar b": 0.9, "Similar a": 0.8, "Similar c": 0.7, "Doc low": 0.6}, other=0.95
        ),
    )
    for name in ("one", "two"):
        await found.remember(f"Exact {name}: pin react.", log=NPM_LOG, symptom=NPM_SYMPTOM)
    for name in ("a", "b", "c"):
        await found.remember(f"Similar {name}: peers of ürgent “packages”.", symptom=NPM_SYMPTOM)
    for name in ("low", "high"):
        await found.document(
            f"Doc {name}: npm ERR code ERESOLVE unable to resolve dependency tree", source=f"{name}.md"
        )
    for name in ("first", "second"):
        await found.teach(name, NPM_SYMPTOM)
    return found


def dropped_names(body, lookup: dict[str, str]) -> list[str]:
    return [each.get("skill") or lookup[each["sha"]] for each in body["budget"]["dropped"]]


async def test_used_is_what_an_independent_count_gives(world):
    """The tokens of the body's own lessons and skills, without the counts of sightings, are `used`."""
    body = await world.look_up(signature_source=NPM_LOG)
    told = {"lessons": body["lessons"], "skills": body["skills"]}
    assert body["budget"] == {
        "limit": 6000,
        "used": tokens_of(told, TOKENS.count),
        "unit": "tokens",
        "tokenizer": "cl100k_base",
        "dropped": [],
    }
    assert len(body["lessons"]) == 7
    assert body["lessons"][0]["seen_count"] is not None


async def test_the_budget_shrinks_step_by_step(world):
    """Down to one token: first reference, then tier 2 from the lowest score, then skills, and tier 1 never."""
    whole = await world.look_up(signature_source=NPM_LOG)
    names = {lesson["sha"]: lesson["text"].split(":")[0] for lesson in whole["lessons"]}
    skills = [skill["name"] for skill in whole["skills"]]
    expected = ["Doc low", "Doc high", "Similar c", "Similar a", "Similar b", *reversed(skills)]
    limit, steps = whole["budget"]["used"], []
    while True:
        body = await world.look_up(signature_source=NPM_LOG, budget=limit)
        used = body["budget"]["used"]
        there = [names[lesson["sha"]] for lesson in body["lessons"]] + [skill["name"] for skill in body["skills"]]
        gone = [name for name in expected if name not in there]
        steps.append(len(gone))
        assert gone == expected[: len(gone)]
        # Reference is not even looked for once the memories fill the budget; whatever else is gone is listed.
        assert [name for name in dropped_names(body, names) if "Doc" not in name] == gone[2:]
        assert texts(body, 1) == texts(whole, 1)
        assert used == tokens_of({"lessons": body["lessons"], "skills": body["skills"]}, TOKENS.count)
        if used > limit:
            break
        limit = used - 1
    assert steps == [*range(len(expected) + 1), len(expected)]
    smallest = await world.look_up(signature_source=NPM_LOG, budget=1)
    assert (texts(smallest), smallest["skills"]) == (texts(whole, 1), [])


async def test_each_drop_is_listed_with_what_it_would_have_taken(world):
    """A lesson is named by tier and sha, a skill by its name, each with its tokens, in the order of the drops."""
    whole = await world.look_up(signature_source=NPM_LOG)
    body = await world.look_up(signature_source=NPM_LOG, budget=whole["budget"]["used"] - 1)
    (drop,) = body["budget"]["dropped"]
    lost = next(lesson for lesson in whole["lessons"] if lesson["text"].startswith("Doc low"))
    assert drop == {"tier": 3, "sha": lost["sha"], "tokens": tokens_of(lost, TOKENS.count)}
    least = await world.look_up(signature_source=NPM_LOG, budget=1)
    skill = whole["skills"][-1]
    assert {"skill": skill["name"], "tokens": tokens_of(skill, TOKENS.count)} in least["budget"]["dropped"]
    assert [list(each) for each in least["budget"]["dropped"]][-1] == ["skill", "tokens"]


def lesson(sha: str, tier: int, score: float | None, **fields) -> Lesson:
    return Lesson(
        tier=tier,
        level="R" if tier == 3 else "L1",
        sha=sha,
        project="p",
        text=f"text of {sha}",
        matched_kind="text",
        score=score,
        scores=Scores(recall=0.5, rerank=score),
        parents=[],
        supersedes=[],
        **fields,
    )


def drops(lessons, skills=(), limit=1) -> list[str]:
    fitted = fit(lessons, skills, limit, FakeTokens())
    return [str(each.get("sha", each.get("skill"))) for each in fitted.budget.dropped]


def test_the_lowest_score_goes_first_whatever_the_order():
    """A project's boost moves a lesson up, but does not save it from being the least likely."""
    assert drops([lesson("own", 2, 0.80), lesson("other", 2, 0.81)], limit=4) == ["own"]


def test_of_equal_scores_the_last_goes_first():
    """Ties, and lessons without a score, are dropped from the end."""
    assert drops([lesson("a", 2, 0.8), lesson("b", 2, 0.8), lesson("c", 2, 0.8)]) == ["c", "b", "a"]
    assert drops([lesson("a", 2, None), lesson("b", 2, None)]) == ["b", "a"]


def test_reference_goes_before_any_memory():
    """The best chunk is dropped before the worst memory, and skills after both."""
    lessons = [lesson("exact", 1, 0.1), lesson("weak", 2, 0.5), lesson("doc", 3, 0.99)]
    assert drops(lessons, [SkillHit(name="s", score=0.9), SkillHit(name="t", score=0.8)]) == ["doc", "weak", "t", "s"]


def test_what_fits_is_left_in_its_order():
    """Nothing is dropped at exactly the limit, and one token less drops exactly one."""
    lessons = [lesson("exact", 1, 0.1), lesson("weak", 2, 0.5), lesson("doc", 3, 0.99)]
    used = used_tokens(lessons, [], FakeTokens())
    fitted = fit(lessons, [], used, FakeTokens())
    assert (fitted.lessons, fitted.budget.dropped, fitted.budget.used) == (lessons, [], used)
    assert fit(lessons, [], used - 1, FakeTokens()).lessons == lessons[:2]


def test_sightings_never_change_what_fits():
    """Counts and dates are outside the account, so that the same question drops the same things every time."""
    few, many = lesson("a", 1, 0.1), lesson("a", 1, 0.1, seen_count=123456, last_seen="2026-07-02")
    assert used_tokens([few], [], TOKENS) == used_tokens([many], [], TOKENS)


def test_the_first_day_is_in_the_account():
    """It is the same for every identical request, so that it counts like the rest of a lesson."""
    without, dated = lesson("a", 1, 0.1), lesson("a", 1, 0.1, first_seen="2026-07-02")
    told = [each.model_dump(mode="json") for each in (without, dated)]
    counts = [tokens_of({"lessons": [each], "skills": []}, TOKENS.count) for each in told]
    assert [used_tokens([each], [], TOKENS) for each in (without, dated)] == counts
    assert counts[0] < counts[1]
