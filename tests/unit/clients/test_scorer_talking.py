"""What speaks for a turn that a question is about."""

from __future__ import annotations

import asyncio

import pytest

from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.talking import talking
from mem.parsing.telling import wanted
from mem.ports import RerankQuery
from tests.unit.clients.candidates import candidate

SCORER = EmbeddedScorer.load()


def features(question: str, text: str, **found):
    return talking(wanted(question), candidate(text, level="L0", **found))


def scores(question: str, *candidates) -> list[float]:
    return asyncio.run(SCORER.rerank(RerankQuery(question, None, None, question), list(candidates)))


def turn(text: str, **found):
    return candidate(text, level="L0", **found)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("[8 May, 2023] Ann: It went well.", "[8 May, 2023] Bob: It went well."),
        ("[8 May, 2023] Bob: It went well.", "[8 June, 2023] Bob: It went well."),
        ("Bob: It was last Friday.", "Bob: It was nice there."),
        ("Bob: It went well.", "Bob: It went well?"),
        ("Bob: It went well and we all had a good time there together.", "Bob: It went."),
    ],
)
def test_a_turn_that_fits_the_question_better_scores_more(better, worse):
    """Who speaks, when, what is told, that it is told at all, and how much: each alone."""
    first, second = scores("When did Ann go in May 2023?", turn(better), turn(worse))
    assert first > second


@pytest.mark.parametrize("name", ["words", "context", "text_similarity"])
def test_a_turn_that_is_nearer_scores_more(name):
    near, far = scores("Where is it?", turn("Bob: Here.", **{name: 0.6}), turn("Bob: Here.", **{name: 0.2}))
    assert near > far


def test_what_was_not_measured_counts_as_nothing():
    assert features("Where?", "Here.")[:3] == (0.0, 0.0, 0.0)


def test_a_day_counts_only_where_the_question_names_no_other():
    said = "[8 May, 2023] Ann: Hello."
    assert features("What was in May?", said).day == 1.0
    assert features("What was in 2023?", said).day == 1.0
    assert features("What was in May 2022?", said).day == 0.0
    assert features("What was it?", said).day == 0.0
    assert features("What was in May?", "Ann: Hello.").day == 0.0


def test_a_role_is_a_speaker_and_an_initial_is_none():
    assert features("What did the user want?", "user: a fix").speaker == 1.0
    assert features("Which of a and b is it?", "[10:00] B: b").speaker == 0.0


def test_a_score_is_of_one_candidate_alone():
    alone = scores("When did Ann go?", turn("Ann: Last week.", words=0.4))
    beside = scores("When did Ann go?", turn("Ann: Last week.", words=0.4), turn("Ann: I went on Monday.", words=0.9))
    assert alone[0] == beside[0]


def test_evidence_for_a_failure_is_no_worse_for_a_question_around_it():
    log = turn("npm ERR! code ERESOLVE", text_similarity=0.7, words=0.6, context=0.6)
    failure = "npm ERR! code ERESOLVE"
    both = RerankQuery(f"{failure}\nwhy {failure}?", "npm", failure, f"why {failure}?")
    (with_failure,) = asyncio.run(SCORER.rerank(both, [log]))
    assert with_failure >= scores(f"why {failure}?", log)[0]
