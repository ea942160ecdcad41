"""From candidates to lessons: kinds, floors, order, and what is cut."""

from __future__ import annotations

import pytest

from mem.domain.nodes import StoredNode
from mem.ports import Candidate
from mem.recall.floors import floors
from mem.recall.kinds import matched_kind
from mem.recall.rank import NEAR_MISS, PROJECT_BOOST, place_hits, rank_hits, rank_lessons, rank_of_tool, rank_reference

FLOOR = floors()


def candidate(sha: str = "a", *, level: str = "L1", project: str = "p", **found) -> Candidate:
    empty = {"symptom_similarity": None, "text_similarity": None, "lexical_similarity": None}
    flags = {"exact": False, "coarse": False, "same_tool": False}
    node = StoredNode(level=level, project=project, text=sha, stored_sha=sha)
    return Candidate(**{"node": node, "symptom": "", **empty, **flags, **found})


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        ({"exact": True, "symptom_similarity": 1.0}, "signature"),
        ({"coarse": True, "symptom_similarity": 1.0}, "signature"),
        ({"symptom_similarity": FLOOR.near, "text_similarity": 1.0}, "symptom"),
        ({"symptom_similarity": FLOOR.near - 0.001, "text_similarity": FLOOR.near}, "text"),
        ({"text_similarity": FLOOR.near - 0.001, "lexical_similarity": 0.1}, "text"),
        ({"symptom_similarity": FLOOR.near - 0.001, "text_similarity": FLOOR.near - 0.001}, None),
        ({}, None),
    ],
)
def test_the_first_kind_that_is_near_is_told(found, kind):
    """Signature, then symptom, then text, each from where on it is near; where none is a hit is none."""
    assert matched_kind(candidate(**found), FLOOR) == kind


@pytest.mark.parametrize(
    ("found", "floor"),
    [
        ({"coarse": True}, FLOOR.lesson),
        ({"symptom_similarity": 0.9, "text_similarity": 0.9}, FLOOR.lesson),
        ({"text_similarity": 0.9}, FLOOR.lesson_text),
        ({"lexical_similarity": 0.9}, FLOOR.lesson_lexical),
    ],
)
def test_each_kind_has_a_sharp_floor(found, floor):
    """At its floor a lesson is told, below it it is a near miss, and below half of it nothing."""
    half = NEAR_MISS * floor
    for score, kept, near in ((floor, 1, 0), (floor - 0.0001, 0, 1), (half, 0, 1), (half - 0.0001, 0, 0)):
        ranking = rank_lessons([candidate(**found)], [score], "p")
        assert (len(ranking.kept), ranking.near_misses) == (kept, near)


@pytest.mark.parametrize("kind", ["symptom", "text", "lexical"])
def test_each_similarity_has_a_floor_of_its_own_where_no_reranker_answers(kind):
    """Recall alone tells a lesson from its floor on; each kind on either side of it."""
    name, floor = f"{kind}_similarity", getattr(FLOOR, kind)
    for value, kept, near in ((floor, 1, 0), (floor - 0.001, 0, 1), (0.4 * floor, 0, 0)):
        ranking = rank_lessons([candidate(**{name: value})], None, "p")
        assert (len(ranking.kept), ranking.near_misses) == (kept, near)


def test_an_equal_coarse_key_needs_no_similarity_where_no_reranker_answers():
    """It is evidence of its own."""
    assert len(rank_lessons([candidate(coarse=True)], None, "p").kept) == 1


@pytest.mark.parametrize(("score", "kept", "near"), [(0.55, 1, 0), (0.5499, 0, 1), (0.275, 0, 1), (0.2749, 0, 0)])
def test_the_floor_of_reference_is_sharp(score, kept, near):
    """At the floor a chunk is told, below it it is a near miss, and below half of it nothing."""
    assert FLOOR.reference == 0.55
    ranking = rank_reference([candidate(level="R", text_similarity=0.9)], [score], "p")
    assert (len(ranking.kept), ranking.near_misses) == (kept, near)


@pytest.mark.parametrize("kind", ["text", "lexical"])
def test_a_chunk_must_be_near_besides(kind):
    """Each similarity of a chunk has a floor, whatever the reranker says."""
    name, floor = f"{kind}_similarity", getattr(FLOOR, f"reference_{kind}")
    for value, kept in ((floor, 1), (floor - 0.001, 0)):
        assert len(rank_reference([candidate(level="R", **{name: value})], [0.99], "p").kept) == kept


def test_a_score_alone_is_not_enough():
    """What no leg found near is no hit, however probable the reranker thinks it."""
    assert rank_lessons([candidate(text_similarity=0.1)], [0.99], "p").kept == []
    assert rank_reference([candidate(level="R", text_similarity=0.1)], [0.99], "p").kept == []


def test_only_so_many_similar_ones_are_kept_but_every_exact_one():
    """Tier 2 and tier 3 are cut to their best; tier 1 is never cut."""
    exact = [candidate(f"e{number}", exact=True) for number in range(20)]
    similar = [candidate(f"s{number}", symptom_similarity=0.9) for number in range(20)]
    ranking = rank_lessons(exact + similar, [0.9] * 40, "p")
    assert [each.tier for each in ranking.kept] == [1] * 20 + [2] * FLOOR.keep_lessons
    chunks = [candidate(f"r{number}", level="R", text_similarity=0.9) for number in range(20)]
    assert len(rank_reference(chunks, [0.9] * 20, "p").kept) == FLOOR.keep_reference


def test_without_scores_recall_orders():
    """Where no reranker answered the similarity of the matched kind decides."""
    ranking = rank_lessons([candidate("a", symptom_similarity=0.8), candidate("b", symptom_similarity=0.9)], None, "p")
    assert [(each.candidate.node.stored_sha, each.recall, each.rerank) for each in ranking.kept] == [
        ("b", 0.9, None),
        ("a", 0.8, None),
    ]


def test_the_boost_is_worth_exactly_its_size():
    """A lesson of the own project is ahead of one that scores less than the boost more, and behind beyond that."""
    for lead, first in ((PROJECT_BOOST - 0.001, "z"), (PROJECT_BOOST, "b"), (PROJECT_BOOST + 0.001, "b")):
        own, other = candidate("z", symptom_similarity=0.9), candidate("b", symptom_similarity=0.9, project="q")
        ranking = rank_lessons([own, other], [0.7, 0.7 + lead], "p")
        assert ranking.kept[0].candidate.node.stored_sha == first


def test_lessons_of_a_tool_stay_in_their_order():
    """What carries a tool comes as the store orders it, cut like tier 2."""
    given = [candidate(sha, same_tool=True) for sha in "zyxwvu"]
    ranking = rank_of_tool(given, "p")
    assert [each.candidate.node.stored_sha for each in ranking.kept] == list("zyxwv")
    assert {(each.tier, each.kind, each.rerank) for each in ranking.kept} == {(2, "text", None)}


def hits(scores: dict[str, float], k: int, ranks=rank_hits) -> list[str]:
    """What is told of candidates that are called by their level, each near enough and scored so."""
    found = [candidate(sha, level=sha[:2].strip("-"), text_similarity=0.5) for sha in scores]
    return [each.candidate.node.stored_sha for each in ranks(found, list(scores.values()), "p", k)]


MIXED = {"L1-a": 0.9, "L1-b": 0.05, "L1-c": 0.04, "L2-d": 0.5, "L0-e": 0.02, "L0-f": 0.0001, "R-g": 0.006, "R-h": 0.003}


@pytest.mark.parametrize(
    ("k", "told"),
    [
        (1, ["L1-a"]),
        (3, ["L1-a", "L0-e", "R-g"]),
        (5, ["L1-a", "L2-d", "L0-e", "R-g", "R-h"]),
        (8, ["L1-a", "L2-d", "L1-b", "L1-c", "L0-e", "L0-f", "R-g", "R-h"]),
    ],
)
def test_poor_lessons_do_not_keep_out_the_page_that_fits(k, told):
    """Each kind competes by its own best; those that are told stand lessons first."""
    assert hits(MIXED, k) == told


def test_what_is_left_out_stands_behind_what_is_told():
    """So that a place up to `k` is that of a hit."""
    assert hits(MIXED, 3, place_hits)[:3] == hits(MIXED, 3)
    assert hits(MIXED, 3, place_hits)[3:] == ["L2-d", "R-h", "L1-b", "L1-c", "L0-f"]


def test_within_one_kind_the_boost_decides_who_is_told():
    """The own project's page comes first, and is the one that stays."""
    pages = [
        candidate("a", level="R", project="q", text_similarity=0.5),
        candidate("b", level="R", text_similarity=0.5),
    ]
    (told,) = rank_hits(pages, [0.51, 0.5], "p", 1)
    assert told.candidate.node.project == "p"
