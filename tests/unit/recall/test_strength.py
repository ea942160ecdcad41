"""What survives for a message, and how strong the evidence is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.recall.floors import floors
from mem.recall.strength import evidence_strength, survivors
from tests.unit.clients.candidates import candidate
from tests.unit.recall.ground_kit import USER, GroundWorld
from tests.unit.recall.kit import Scores

UNIT = st.floats(0, 1)
SCORES = st.lists(UNIT, min_size=1, max_size=8)


@given(SCORES, st.integers(0, 7), UNIT)
def test_a_higher_score_is_never_weaker_evidence(scores, place, other):
    """Whichever of the memories scores more, the strength grows or stays."""
    low, high = sorted((scores[place % len(scores)], other))
    strengths = []
    for value in (low, high):
        scores[place % len(scores)] = value
        strengths.append(evidence_strength(scores))
    assert strengths[0] <= strengths[1]


@given(SCORES, UNIT)
def test_one_more_memory_is_never_weaker_evidence(scores, other):
    """Nor does the order count."""
    assert evidence_strength(scores) <= evidence_strength([*scores, other])
    assert evidence_strength(scores) == evidence_strength(scores[::-1])


@given(SCORES)
def test_strength_is_a_probability_of_two_decimals(scores):
    """Never without doubt on either side of what it can know."""
    strength = evidence_strength(scores)
    assert 0 <= strength <= 1
    assert strength == round(strength, 2)


def test_strength_depends_on_the_evidence():
    """From what just survives to what is all but sure it rises, and without any evidence there is none."""
    floor = floors().message
    steps = [evidence_strength([floor + (1 - floor) * step / 5]) for step in range(6)]
    assert steps == sorted(set(steps))
    assert steps[-1] - steps[0] > 0.3
    assert evidence_strength([]) == 0.0


@pytest.mark.parametrize(
    ("measured", "name"), [({"text_similarity": 0.1}, "message"), ({"words": 0.1}, "message_words")]
)
def test_what_is_below_its_floor_does_not_survive(measured, name):
    """The floor itself does; what no vector was compared of has a floor of its own."""
    floor = getattr(floors(), name)
    one = candidate(**measured)
    assert survivors([one], [floor]) == [(one, floor)]
    assert survivors([one], [floor - 0.0001]) == []


def test_survivors_stand_best_first_and_by_sha():
    """Equal probabilities have one order, whatever order they came in."""
    found = [candidate(text, text_similarity=0.5) for text in "cab"]
    ordered = survivors(found, [0.8, 0.9, 0.8])
    assert [one.node.stored_sha for one, _ in ordered] == ["a", "b", "c"]
    assert ordered == survivors(found[::-1], [0.8, 0.9, 0.8])


async def test_a_turn_says_which_memories_are_of_others():
    """The reranker learns what is the user's own, and what somebody else or nobody owns."""
    world, seen = GroundWorld(), dict[str, bool]()

    class Noting(Scores):
        async def rerank(self, query, candidates):
            seen.update({one.node.text: one.foreign for one in candidates})
            return await super().rerank(query, candidates)

    world.with_turns(reranker=Noting())
    for text, owner in (("my tests", USER), ("your tests", "user-456"), ("tests of all", None)):
        await world.remember(text, owner=owner)
    await world.ground()
    assert seen == {"my tests": False, "your tests": True, "tests of all": True}
