"""Laws of ranking and budget, over any candidates."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mem.domain.lookup import Lesson, Scores, SkillHit
from mem.domain.nodes import StoredNode
from mem.ports import Candidate
from mem.recall.budget import fit, used_tokens
from mem.recall.rank import rank_lessons, rank_reference
from mem.testing import FakeTokens

UNIT = st.floats(0, 1)
MAYBE = st.none() | UNIT
COUNTER = FakeTokens()


@st.composite
def candidates(draw, level=None) -> list[Candidate]:
    shas = draw(st.lists(st.text("abcdef0123456789", min_size=2, max_size=3), unique=True, max_size=12))
    return [
        Candidate(
            node=StoredNode(
                level=level or draw(st.sampled_from(["L1", "L2"])),
                project=draw(st.sampled_from(["p", "q"])),
                text=sha,
                stored_sha=sha,
            ),
            symptom="",
            symptom_similarity=draw(MAYBE),
            text_similarity=draw(MAYBE),
            lexical_similarity=draw(MAYBE),
            exact=draw(st.booleans()),
            coarse=draw(st.booleans()),
            same_tool=False,
        )
        for sha in shas
    ]


@st.composite
def scored(draw, level=None) -> tuple[list[Candidate], list[float] | None]:
    found = draw(candidates(level))
    coarse = st.sampled_from([0.0, 0.5, 0.52, 0.6, 0.6, 1.0]) | UNIT
    return found, draw(st.none() | st.lists(coarse, min_size=len(found), max_size=len(found)))


@st.composite
def answers(draw) -> tuple[list[Lesson], list[SkillHit]]:
    shas = draw(st.lists(st.text("abcdef", min_size=1, max_size=3), unique=True, max_size=8))
    lessons = []
    for sha in shas:
        score = draw(MAYBE)
        lessons.append(
            Lesson(
                tier=draw(st.sampled_from([1, 2, 3])),
                level="L1",
                sha=sha,
                project="p",
                text=draw(st.text("ab ", max_size=40)),
                matched_kind="text",
                seen_count=draw(st.none() | st.integers(1, 10**6)),
                score=score,
                scores=Scores(recall=None, rerank=score),
                parents=[],
                supersedes=[],
            )
        )
    lessons.sort(key=lambda each: each.tier)
    names = draw(st.lists(st.text("ab ", min_size=1, max_size=9), unique=True, max_size=3))
    return lessons, [SkillHit(name=name, score=0.5) for name in names]


@given(scored(), st.randoms(use_true_random=False))
def test_the_order_is_total(given_, random):
    """The ranking depends on the candidates alone, never on the order in which legs brought them."""
    found, scores = given_
    pairs = list(zip(found, scores or [None] * len(found), strict=True))
    random.shuffle(pairs)
    again = rank_lessons([one for one, _ in pairs], None if scores is None else [score for _, score in pairs], "p")
    assert again == rank_lessons(found, scores, "p")


@given(scored())
def test_precedence_is_a_rule(given_):
    """Exact hits come first, all of them; within a tier scores fall by no more than the boost explains."""
    found, scores = given_
    kept = rank_lessons(found, scores, "p").kept
    tiers = [each.tier for each in kept]
    assert tiers == sorted(tiers)
    assert {each.candidate.node.stored_sha for each in kept if each.tier == 1} == {
        each.node.stored_sha for each in found if each.exact
    }
    for before, after in itertools.pairwise(kept):
        same = before.tier == after.tier and before.candidate.node.project == after.candidate.node.project
        if same and before.rerank is not None:
            assert round(before.rerank, 4) >= round(after.rerank or 0.0, 4)


@given(scored(level="R"))
def test_reference_is_never_more_than_tier_3(given_):
    """A chunk claims no other tier, whatever it scores and however it was found."""
    found, scores = given_
    assert {each.tier for each in rank_reference(found, scores, "p").kept} <= {3}


@given(answers(), st.integers(1, 200))
def test_what_is_left_and_what_was_dropped_are_all_there_was(given_, limit):
    """Every lesson and skill is told or listed, tier 1 is told, and `used` is within the limit unless tier 1 is not."""
    lessons, skills = given_
    fitted = fit(lessons, skills, limit, COUNTER)
    dropped = [str(each.get("sha", each.get("skill"))) for each in fitted.budget.dropped]
    told = [each.sha for each in fitted.lessons] + [each.name for each in fitted.skills]
    assert sorted(told + dropped) == sorted([each.sha for each in lessons] + [each.name for each in skills])
    assert fitted.lessons == [each for each in lessons if each in fitted.lessons]
    assert [each for each in lessons if each.tier == 1] == [each for each in fitted.lessons if each.tier == 1]
    assert fitted.budget.used == used_tokens(fitted.lessons, fitted.skills, COUNTER)
    assert fitted.budget.used <= limit or not (fitted.skills or any(each.tier > 1 for each in fitted.lessons))


@given(answers(), st.integers(1, 200))
def test_nothing_is_dropped_before_what_goes_earlier(given_, limit):
    """Where a memory is dropped all reference is, where a skill is dropped all of tier 2 is, and scores rise."""
    lessons, skills = given_
    dropped = fit(lessons, skills, limit, COUNTER).budget.dropped
    by_sha = {each.sha: each for each in lessons}
    order = [(4 - each["tier"], by_sha[each["sha"]].score or 0.0) if "tier" in each else (3, 0.0) for each in dropped]
    assert order == sorted(order)
    for stage in (1, 2):
        if any(stage_ > stage for stage_, _ in order):
            assert sum(stage_ == stage for stage_, _ in order) == sum(each.tier == 4 - stage for each in lessons)


@given(answers(), st.integers(1, 200))
def test_a_smaller_budget_drops_the_same_and_then_more(given_, limit):
    """The drops of one token more are the first drops of this budget."""
    lessons, skills = given_
    less = fit(lessons, skills, limit, COUNTER).budget.dropped
    more = fit(lessons, skills, limit + 1, COUNTER).budget.dropped
    assert less[: len(more)] == more
