"""The embedded scorer and the token counter."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.features import asked, failing, working
from mem.clients.scorer.words import said, weight
from mem.clients.tokens import Cl100kCounter
from mem.domain.nodes import StoredNode
from mem.ports import Candidate, RerankQuery

QUERY = RerankQuery("npm ERR! code ERESOLVE in react-dom", "npm")
FAILURE = RerankQuery("E: could not get lock\nlock is held by apt", "apt", "E: could not get lock\nlock is held by apt")
TASK = RerankQuery("renew the certificates of the gateway", None, None, "renew the certificates of the gateway")
BOTH = RerankQuery(f"{FAILURE.text}\n{TASK.text}", "apt", FAILURE.failure, TASK.task)
QUERIES = [QUERY, FAILURE, TASK, BOTH]
SCORER = EmbeddedScorer.load()
TOKENS = Cl100kCounter.load()
UNIT = st.floats(0, 1)
SIMILARITIES = ["symptom_similarity", "text_similarity", "lexical_similarity", "task_similarity"]
WORDS = st.lists(
    st.sampled_from(["could", "not", "get", "lock", "held", "apt", "renew", "certificates", "npm", "ERESOLVE"]),
    max_size=8,
)


def candidate(text: str = "pin it", *, level: str = "L1", **found) -> Candidate:
    node = StoredNode(level=level, project="p", text=text, stored_sha=text)
    empty = {"symptom": "", "symptom_similarity": None, "text_similarity": None, "lexical_similarity": None}
    return Candidate(**{"node": node, **empty, "exact": False, "coarse": False, "same_tool": False, **found})


def probability(one: Candidate, query: RerankQuery = QUERY) -> float:
    return SCORER._rerank(query, [one])[0]


@given(
    st.sampled_from(QUERIES),
    st.sampled_from(["L1", "L2", "R"]),
    st.fixed_dictionaries(dict.fromkeys(SIMILARITIES, UNIT)),
    st.sampled_from(SIMILARITIES),
    UNIT,
    WORDS,
    st.booleans(),
    st.booleans(),
)
def test_more_similarity_never_scores_less(query, level, similar, kind, other, words, exact, coarse):
    """Whatever else is known, each similarity alone moves the probability up or not at all, and it stays in bounds."""
    low, high = sorted((similar[kind], other))
    fixed = {"symptom": " ".join(words), "exact": exact, "coarse": coarse}
    scores = [probability(candidate(level=level, **fixed, **{**similar, kind: value}), query) for value in (low, high)]
    assert 0 <= scores[0] <= scores[1] < 1


@given(st.sampled_from([QUERY, FAILURE]), WORDS, st.sampled_from(["npm", "lock", "ERESOLVE", "held"]), UNIT)
def test_one_more_line_in_common_never_scores_less(query, words, word, similarity):
    """Symptoms that say more of what the query says, on a line of its own, are no worse."""
    scores = [
        probability(candidate(symptom="\n".join(lines), symptom_similarity=similarity), query)
        for lines in (words, [*words, word])
    ]
    assert scores[0] <= scores[1]


@pytest.mark.parametrize("query", QUERIES[:2])
@pytest.mark.parametrize("flag", ["exact", "coarse"])
def test_a_shared_signature_scores_more(flag, query):
    """An equal signature, strict or coarse, speaks for a memory."""
    assert probability(candidate(**{flag: True}), query) > probability(candidate(), query)


def test_a_clear_match_is_over_the_middle_and_a_clear_miss_is_below():
    """The scale is that of probabilities: the floors are set on it."""
    clear = candidate(symptom="npm ERR! code ERESOLVE", symptom_similarity=0.9, text_similarity=0.6)
    assert probability(clear) > 0.8
    assert probability(candidate("rotate the certificates", symptom_similarity=0.1, text_similarity=0.1)) < 0.1


def test_a_task_is_not_found_by_what_a_lesson_looks_like_when_it_strikes():
    """The symptoms of a lesson do not count where nothing has failed; its text does."""
    symptom = candidate(symptom=TASK.text, symptom_similarity=1.0)
    assert probability(symptom, TASK) == probability(candidate(), TASK)
    assert probability(candidate(TASK.text, text_similarity=0.9), TASK) > 0.8


def test_who_asks_for_both_is_told_what_fits_either():
    """A candidate scores as it does for the failure or for the task, whichever is more."""
    for one in (
        candidate(symptom="E: could not get lock", symptom_similarity=0.8, text_similarity=0.1, task_similarity=0.1),
        candidate(TASK.text, symptom_similarity=0.1, text_similarity=0.9, task_similarity=0.9),
    ):
        assert probability(one, BOTH) == max(probability(one, FAILURE), probability(one, TASK))


async def test_a_score_does_not_depend_on_its_company():
    """Scores are never normalised: each candidate alone scores what it scores among others, in any order."""
    candidates = [
        candidate("a", symptom_similarity=0.9),
        candidate("b", text_similarity=0.5),
        candidate("c", level="R", text_similarity=0.7),
        candidate("d", exact=True),
        candidate("e"),
        candidate("f", symptom="npm ERR! code ERESOLVE", symptom_similarity=0.4),
        candidate("g", symptom="npm ERR! code ERESOLVE", lexical_similarity=0.9),
    ]
    for query in QUERIES:
        alone = [(await SCORER.rerank(query, [one]))[0] for one in candidates]
        assert len(set(alone)) > 2
        assert await SCORER.rerank(query, candidates) == alone
        assert await SCORER.rerank(query, candidates[::-1]) == alone[::-1]
    assert await SCORER.rerank(QUERY, []) == []


def test_words_that_failures_are_full_of_weigh_little():
    """To share `error` says less than to share the name of an exception."""
    assert weight("error") < weight("timeout") < weight("eresolve")
    query = asked("error: ERESOLVE unable")
    assert failing(query, candidate(symptom="error")).recall < failing(query, candidate(symptom="ERESOLVE")).recall


def test_recall_is_the_share_of_the_query_that_a_lesson_names():
    """Symptoms count where a lesson has some, else its text; a query without words shares nothing."""
    query = asked("ERESOLVE react")
    assert failing(query, candidate("ERESOLVE react", symptom="angular")).recall == 0.0
    assert failing(query, candidate("ERESOLVE react")).recall == pytest.approx(1.0)
    assert 0 < failing(query, candidate(symptom="react is pinned")).recall < 1
    assert failing(asked("1 2"), candidate("1 2")).recall == 0.0
    assert working(query, candidate("ERESOLVE react", symptom="angular")).recall == pytest.approx(1.0)


def test_a_run_of_words_weighs_more_than_the_same_words_apart():
    """Neighbours in both texts are a message in common."""
    query = asked("FATAL: lock wait timeout exceeded")
    together = failing(query, candidate(symptom="lock wait timeout exceeded"))
    apart = failing(query, candidate(symptom="exceeded\ntimeout\nwait\nlock"))
    assert together.run > apart.run
    assert together.recall == apart.recall


def test_one_line_that_is_all_there_covers_more_than_parts_of_several():
    """A projection holds several wordings, of which one is met."""
    query = asked("remote: unable to lock the refs of origin")
    assert failing(query, candidate(symptom="disk quota exceeded\nunable to lock the refs of origin")).cover == 1.0
    assert failing(query, candidate(symptom="unable to mount the disk quota")).cover < 0.5


def test_library_prefixes_are_no_words():
    """All errors of a library share its name, so that only the class counts."""
    assert said("sqlalchemy.exc.OperationalError").words == {"operational", "error"}
    assert said("java.lang.OutOfMemoryError").names == {"outofmemoryerror"}


def test_features_that_no_leg_measured_are_zero():
    """A missing similarity, or one below zero, counts as none."""
    assert set(failing(asked(""), candidate(symptom_similarity=-0.3))) == {0.0}
    assert set(working(asked(""), candidate(task_similarity=-0.3))) == {0.0}


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("<|endoftext|>", 7), ("antidisestablishmentarianism", 6)],
)
def test_tokens_are_those_of_cl100k_base(text, count):
    """Known counts of the public encoding; special tokens are plain text."""
    assert TOKENS.count(text) == count
    assert TOKENS.name == "cl100k_base"


def test_the_table_is_not_fetched(monkeypatch):
    """Loading opens no connection."""

    def refuse(*_, **__):
        pytest.fail("the network was used")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Cl100kCounter.load().count("offline") == 1
