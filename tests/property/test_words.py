"""Whatever is written and asked: the same words give the same scores, in whatever order they came, from 0 to 1."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mem.domain.nodes import Node
from mem.parsing.terms import asked_terms, terms
from mem.ports import Reach, WordHit
from mem.testing import FakeMemories, FakeState

LEVELS = ("L0", "L1", "L2", "R")
REACH = Reach("p", federated=False)
WORDS = st.sampled_from(
    ["kong", "upload", "uploads", "the", "a", "isn't", "E0308", "shop.cart_total", "HTTPServerError", "413", "naïve"]
)
SAID = st.lists(WORDS, max_size=12).map(" ".join)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    level = draw(st.sampled_from(LEVELS))
    source = draw(st.sampled_from([None, "talk:1", "manual.md#a", "manual.md#b"])) if level in "L0 R" else None
    turn = draw(st.none() | st.integers(0, 8)) if level == "L0" else None
    return Node(level=level, project=draw(st.sampled_from("pq*")), text=draw(SAID), source=source, turn=turn)


async def found(remembered: list[Node], question: str) -> list[WordHit]:
    state = FakeState()
    state.nodes = {node.sha: node for node in remembered}
    asked = asked_terms(question, failing=False)
    return await FakeMemories(state).words(asked, LEVELS, REACH, 50)


@given(st.lists(nodes(), max_size=12), SAID, st.randoms(use_true_random=False))
async def test_neither_chance_nor_order_of_what_is_remembered_decides(remembered, question, chance):
    hits = await found(remembered, question)
    shuffled = list(remembered)
    chance.shuffle(shuffled)
    assert await found(shuffled, question) == hits


@given(st.lists(nodes(), max_size=12), SAID)
async def test_scores_are_shares_and_the_best_come_first(remembered, question):
    hits = await found(remembered, question)
    assert all(0.0 <= value <= 1.0 for hit in hits for value in (hit.own, hit.context))
    assert all(hit.own + hit.context > 0.0 for hit in hits)
    order = [(-round(hit.own + hit.context, 9), hit.sha) for hit in hits]
    assert order == sorted(order)
    assert len({hit.sha for hit in hits}) == len(hits)


@given(st.text(max_size=400), SAID)
def test_terms_are_sorted_counted_and_without_space(text, more):
    """Those of any text, however it is built; what is asked of a text are terms that the text has."""
    text = f"{text} {more}"
    found = terms(text)
    assert list(found.times) == sorted(found.times)
    assert sum(found.times.values()) == found.length
    assert all(term and not term.isspace() and often > 0 for term, often in found.times.items())
    assert set(asked_terms(text, failing=True)) <= set(found.times)
    assert set(asked_terms(text, failing=False)) <= set(asked_terms(text, failing=True))
