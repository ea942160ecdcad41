"""What every reranker keeps: the embedded scorer, a server's, and a cross-encoder of this process."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mem.ports import RerankQuery
from mem.settings import Settings
from mem.wiring import open_reranker
from tests.examples import examples
from tests.rerank_server import RerankServer
from tests.unit.clients.candidates import QUERY, RELATED, UNRELATED, candidate

CROSS_ENCODERS = Path(__file__).parents[2] / "fixtures" / "cross_encoder"
KINDS = ("embedded", "served", "local")
WORDS = st.sampled_from(["curl", "error", "413", "body", "limit", "npm", "react", "öl", "unknown", "結果"])
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)


@pytest.fixture(scope="module", params=KINDS)
async def reranker(request):
    async with AsyncExitStack() as opened:
        given_ = {}
        if request.param == "served":
            server = await opened.enter_async_context(RerankServer(limit=3).running())
            given_ = {"rerank_url": server.base_url, "rerank_batch": 3}
        elif request.param == "local":
            given_ = {"rerank_path": CROSS_ENCODERS}
        yield await open_reranker(Settings(**given_), opened)


@given(
    st.lists(
        st.builds(candidate, TEXTS, symptom=st.just("") | TEXTS, symptom_similarity=st.none() | st.floats(0, 1)),
        min_size=1,
        max_size=7,
    ),
    TEXTS,
    st.data(),
)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_score_does_not_depend_on_its_company(reranker, candidates, text, data):
    """A candidate alone has to the last bit the score that it has among others, in any order and of any number."""
    query = RerankQuery(text, None)
    scores = await reranker.rerank(query, candidates)
    assert all(0 <= score <= 1 for score in scores)
    one = data.draw(st.integers(0, len(candidates) - 1))
    assert await reranker.rerank(query, [candidates[one]]) == [scores[one]]
    order = data.draw(st.permutations(range(len(candidates))))
    shuffled = [candidates[place] for place in order]
    assert await reranker.rerank(query, shuffled) == [scores[place] for place in order]
    assert (await reranker.rerank(query, candidates + candidates[:1]))[: len(candidates)] == scores


async def test_of_no_candidates_there_are_no_scores(reranker):
    """Nothing to score is no error."""
    assert await reranker.rerank(QUERY, []) == []


async def test_what_is_related_scores_more(reranker):
    """The memory of this failure is above the middle, another one is below."""
    near = candidate(RELATED, symptom="curl error 413", symptom_similarity=0.9, text_similarity=0.7)
    far = candidate(UNRELATED, symptom_similarity=0.1, text_similarity=0.1)
    related, unrelated = await reranker.rerank(QUERY, [near, far])
    assert unrelated < 0.5 < related


@pytest.mark.parametrize(
    ("query", "text", "symptom"),
    [
        ("curl error", "body limit", ""),
        ("", "body limit", "curl error"),
        ("\n\t ", " \n", " "),
        ("öl 結果 \U0001f525 \x00 \ud800", "\ud800 öl \x00", "結果"),
        ("curl error " * 20_000, "error body " * 20_000, "413 " * 20_000),
        ("x" * 100_000, "y" * 100_000, "z" * 100_000),
    ],
    ids=["no symptom", "no query", "blank", "unicode", "long", "one long word"],
)
async def test_any_text_has_a_probability(reranker, query, text, symptom):
    """Whatever is asked, and of whatever, is scored."""
    [score] = await reranker.rerank(RerankQuery(query, None), [candidate(text, symptom=symptom)])
    assert 0 <= score <= 1


async def test_it_says_who_it_is(reranker):
    """Each names itself, for the trace."""
    assert reranker.model_id
    assert reranker.most is None or reranker.most >= 20
