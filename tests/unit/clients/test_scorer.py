"""The embedded scorer and the token counter."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.scorer import Features, features_of
from mem.clients.tokens import Cl100kCounter
from mem.domain.nodes import StoredNode
from mem.ports import Candidate, RerankQuery

QUERY = RerankQuery("npm ERR! code ERESOLVE in react-dom", "npm")
SCORER = EmbeddedScorer.load()
TOKENS = Cl100kCounter.load()
UNIT = st.floats(0, 1)


def candidate(text: str = "pin it", *, level: str = "L1", **found) -> Candidate:
    node = StoredNode(level=level, project="p", text=text, stored_sha=text)
    empty = {"symptom": "", "symptom_similarity": None, "text_similarity": None, "lexical_similarity": None}
    return Candidate(**{"node": node, **empty, "exact": False, "coarse": False, "same_tool": False, **found})


def probability(one: Candidate, query: RerankQuery = QUERY) -> float:
    return SCORER._rerank(query, [one])[0]


@given(
    st.sampled_from(["L1", "L2", "R"]),
    st.sampled_from(["symptom_similarity", "text_similarity", "lexical_similarity"]),
    UNIT,
    UNIT,
    st.booleans(),
    st.booleans(),
)
def test_more_similarity_never_scores_less(level, kind, one, other, exact, coarse):
    """Each similarity alone moves the probability up or not at all, and it stays between 0 and 1."""
    low, high = sorted((one, other))
    flags = {"exact": exact, "coarse": coarse}
    scores = [probability(candidate(level=level, **flags, **{kind: value})) for value in (low, high)]
    assert 0 < scores[0] <= scores[1] < 1


@pytest.mark.parametrize("flag", ["exact", "coarse"])
def test_a_shared_signature_scores_more(flag):
    """An equal signature, strict or coarse, speaks for a memory."""
    assert probability(candidate(**{flag: True})) > probability(candidate())


def test_a_clear_match_is_over_the_middle_and_a_clear_miss_is_below():
    """The scale is that of probabilities: the floors are set on it."""
    clear = candidate(
        "react-dom ERESOLVE", symptom="npm ERR! code ERESOLVE", symptom_similarity=0.9, text_similarity=0.6
    )
    assert probability(clear) > 0.9
    assert probability(candidate("rotate the certificates", symptom_similarity=0.1, text_similarity=0.1)) < 0.1


async def test_a_score_does_not_depend_on_its_company():
    """Scores are never normalised: each candidate alone scores what it scores among others, in any order."""
    candidates = [
        candidate("a", symptom_similarity=0.9),
        candidate("b", text_similarity=0.5),
        candidate("c", level="R", text_similarity=0.7),
        candidate("d", exact=True),
        candidate("e"),
    ]
    alone = [(await SCORER.rerank(QUERY, [one]))[0] for one in candidates]
    assert await SCORER.rerank(QUERY, candidates) == alone
    assert await SCORER.rerank(QUERY, candidates[::-1]) == alone[::-1]
    assert await SCORER.rerank(QUERY, []) == []
    assert len(set(alone)) == len(alone)


def test_overlap_is_the_share_of_the_query_that_a_memory_names():
    """Identifiers count wherever they stand in text or symptom; a query without any overlaps with nothing."""
    wanted = frozenset({"eresolve", "react"})
    assert features_of(wanted, candidate("React is pinned")).overlap == 0.5
    assert features_of(wanted, candidate("React is pinned", symptom="code ERESOLVE")).overlap == 1.0
    assert features_of(frozenset(), candidate("React")).overlap == 0.0


def test_features_that_no_leg_measured_are_zero():
    """A missing similarity, or one below zero, counts as none."""
    assert features_of(frozenset(), candidate(symptom_similarity=-0.3)) == Features(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


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
