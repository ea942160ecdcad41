"""The embedded scorer on a user's next message."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.clients.rerank.texts import NOTHING, query_text
from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.helping import Helping, helping, turn
from mem.ports import Candidate, RerankQuery
from mem.recall.floors import floors
from tests.unit.clients.candidates import candidate

SCORER = EmbeddedScorer.load()
MEMORY = "The test suite is run with make test and needs a Postgres in Docker."
MESSAGE = "Can you help me set up tests for this repo?"
FAILURE = "npm ERR! code ERESOLVE"
UNIT = st.floats(0, 1)
MEASURED = ["text_similarity", "words", "symptom_similarity"]
WORDS = st.lists(st.sampled_from(["tests", "postgres", "docker", "repo", "invoice", "the", "I", "deploy"]), max_size=8)


def probability(one: Candidate, message: str = MESSAGE, failure: str | None = None) -> float:
    return asyncio.run(SCORER.rerank(RerankQuery(failure=failure, message=message), [one]))[0]


@given(
    st.sampled_from([None, FAILURE]),
    WORDS,
    WORDS,
    st.fixed_dictionaries(dict.fromkeys(MEASURED, UNIT)),
    st.sampled_from(MEASURED),
    UNIT,
)
def test_more_likeness_never_scores_less(failure, message, memory, measured, kind, other):
    """Whatever else is known, each likeness alone moves the probability up or not at all, and it stays in bounds."""
    low, high = sorted((measured[kind], other))
    asked = " ".join(message)
    scores = [
        probability(candidate(" ".join(memory) or "-", **{**measured, kind: value}), asked, failure)
        for value in (low, high)
    ]
    assert 0 <= scores[0] <= scores[1] < 1


@given(WORDS, WORDS, st.sampled_from(["tests", "postgres", "invoice"]), UNIT, UNIT)
def test_a_word_in_common_is_never_worse_than_another_one(message, memory, word, text, words):
    """Of two memories that differ by one word the one that has it from the message is no worse."""
    measured = {"text_similarity": text, "words": words}
    asked = " ".join([*message, word])
    ours, theirs = (candidate(" ".join([*memory, last]), **measured) for last in (word, "unheard"))
    assert probability(ours, asked) >= probability(theirs, asked)


def test_a_score_does_not_depend_on_its_company():
    """Each candidate alone scores what it scores among others, in any order."""
    candidates = [
        candidate(MEMORY, text_similarity=0.5, words=0.3),
        candidate("b", text_similarity=0.2),
        candidate("c", words=0.6),
        candidate("d", exact=True),
        candidate("I prefer short answers", text_similarity=0.3),
    ]
    query = RerankQuery(failure=FAILURE, message=MESSAGE)
    alone = [asyncio.run(SCORER.rerank(query, [one]))[0] for one in candidates]
    assert len(set(alone)) == len(candidates)
    assert asyncio.run(SCORER.rerank(query, candidates)) == alone
    assert asyncio.run(SCORER.rerank(query, candidates[::-1])) == alone[::-1]


def test_the_very_failure_of_a_memory_is_told_whatever_is_said_around_it():
    """A message full of other things is helped by the lesson of the failure that it holds."""
    message = f"explain this please, what does it mean in general?\n{FAILURE}"
    assert probability(candidate("pin react", exact=True, text_similarity=0.1), message, FAILURE) > 0.8
    assert probability(candidate("pin react", text_similarity=0.1), message, FAILURE) < 0.1


def test_a_failure_in_the_message_speaks_for_the_memory_that_has_its_symptoms():
    """The same likeness is worth more where the failure is one that the memory tells of."""
    seen = {"text_similarity": 0.4, "symptom_similarity": 0.9}
    telling, silent = candidate("pin react", symptom=FAILURE, **seen), candidate("pin react", symptom="", **seen)
    assert probability(telling, FAILURE, FAILURE) > probability(silent, FAILURE, FAILURE)


@pytest.mark.parametrize(
    ("ours", "anybody"),
    [
        ("which framework do we use for tests?", "which framework is older?"),
        ("what do I have to do before the release now?", "what does a release mean in general?"),
        ("is this branch ready?", "is the branch of a tree called limb?"),
    ],
)
def test_what_anybody_could_tell_needs_no_memory(ours, anybody):
    """A question of general knowledge is told from one on the user's own things."""
    assert turn(ours).general == 0
    assert turn(anybody).general == 1
    assert probability(candidate(text_similarity=0.5), ours) > probability(candidate(text_similarity=0.5), anybody)


def test_how_things_are_done_is_asked_in_the_words_of_general_knowledge():
    """Who asks how to do something may mean here, and is told less surely than who says so."""
    asked = ["how do we deploy?", "how do I deploy?", "how does a deploy work?"]
    assert [turn(one).general for one in asked] == [0, 0.5, 1]


@pytest.mark.parametrize("request_", ["Please write a test", "ok, commit this", "can you help me set up tests"])
def test_a_request_for_work_is_seen_behind_its_opening(request_):
    """Who asks for work is told how the user wants it done sooner than who talks."""
    assert turn(request_).does == 1
    assert turn(f"yesterday they said: {request_}").does == 0


def test_a_message_of_a_word_is_not_answered_by_that_word():
    """All words of a short message are soon in a memory that has nothing to do with it."""
    one = candidate("mornings are for reviews", text_similarity=0.2, words=0.6)
    assert probability(one, "morning!") < floors().message < probability(one, "reviews mornings team plan lead week")


def test_small_talk_has_no_terms():
    """Stop words are nothing in common."""
    assert turn("that is not what I had") == turn("")
    assert helping(turn("that is not it"), candidate("that is not it"), 0.0).shared == 0


def test_features_that_no_leg_measured_are_zero():
    """A missing similarity, or one below zero, counts as none."""
    assert helping(turn(""), candidate(text_similarity=-0.2), 0.0) == Helping(*[0.0] * len(Helping._fields))


def test_a_memory_of_others_has_to_fit_better():
    """There may be any number of them, and most have nothing to do with this user's work."""
    own = candidate(MEMORY, text_similarity=0.45, words=0.2)
    assert 0.05 < probability(own._replace(foreign=True)) < probability(own)


def test_a_cross_encoder_is_asked_with_the_message():
    """What is asked of a model is the message itself; without one what was asked before."""
    assert query_text(RerankQuery("a failure", "npm", message="the message")) == "the message"
    assert query_text(RerankQuery("a failure", "npm")) == "a failure"
    assert query_text(RerankQuery(message=" ")) == NOTHING
