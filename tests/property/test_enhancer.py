"""Laws of the context of a turn, over any memories and any budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mem.clients.tokens import Cl100kCounter
from mem.recall.context_block import plain_text, render_block
from mem.recall.enhancement import Relevant
from mem.recall.enhancer import extract
from mem.recall.grounded import supported
from tests.examples import examples
from tests.hostile import hostile, ordinary

COUNTER = Cl100kCounter.load()
BAD = [text for each in hostile() for text in each.texts]
lessons = st.integers(0, len(ordinary()) - 1).map(ordinary().__getitem__)
attempts = st.integers(0, len(BAD) - 1).map(BAD.__getitem__)
texts = st.lists(lessons, min_size=1, max_size=4).map(" ".join)
messages = lessons | st.text(max_size=60)
limits = st.integers(1, 4000) | st.integers(50, 160)


@st.composite
def memories(draw, of=texts) -> list[Relevant]:
    found = draw(st.lists(of, min_size=1, max_size=12))
    scores = st.sampled_from([0.3, 0.5, 0.5, 0.9, 1.0]) | st.floats(0.01, 1)
    return [Relevant(f"{number:02}", "L1", "p", text, draw(scores)) for number, text in enumerate(found)]


@settings(max_examples=examples(50), deadline=None)
@given(messages, memories(texts | attempts), limits, st.randoms(use_true_random=False))
def test_the_order_of_the_memories_changes_nothing(message, found, limit, random):
    """Equal memories in any order give the same bytes, and so does asking again."""
    shuffled = list(found)
    random.shuffle(shuffled)
    made = extract(message, found, limit, COUNTER, scope="user_global")
    assert made == extract(message, shuffled, limit, COUNTER, scope="user_global")


@settings(max_examples=examples(50), deadline=None)
@given(messages, memories(texts | attempts | st.text(max_size=200)), limits)
def test_the_block_never_exceeds_the_budget(message, found, limit):
    """The whole block is counted, tags and escapes and marks among it."""
    made = extract(message, found, limit, COUNTER, scope="user_global_container")
    if made is not None and made.active:
        assert COUNTER.count(render_block("user_global_container", made)) <= limit


@settings(max_examples=examples(50), deadline=None)
@given(messages, memories(), limits)
def test_every_statement_stands_in_its_memories(message, found, limit):
    """Each statement is in the words of the first memory that it names, and borne out by all of them."""
    made = extract(message, found, limit, COUNTER, scope="user")
    if made is None:
        return
    by_sha = {each.sha: each.text for each in found}
    assert set(made.used) == {sha for each in made.active for sha in each.shas} | set(_of_summary(made, by_sha))
    for statement in made.active:
        assert "".join(statement.text.split()) in "".join(plain_text(by_sha[statement.shas[0]]).split())
        assert supported(statement.text, [by_sha[statement.shas[0]]])


def _of_summary(made, by_sha) -> list[str]:
    summary = "".join(made.summary.split())
    return [sha for sha in made.used if summary in "".join(plain_text(by_sha[sha]).split())]


@settings(max_examples=examples(30), deadline=None)
@given(messages, memories(), st.integers(60, 4000))
def test_nothing_is_told_twice(message, found, limit):
    """No two statements of a context are equal, and none repeats the summary."""
    made = extract(message, found, limit, COUNTER, scope="user")
    if made is not None:
        told = [made.summary, *(each.text for each in made.active)]
        assert len(told) == len(set(told))


def test_every_small_budget_is_kept():
    """From one token up there is nothing until something fits, and from then on always something, never too long."""
    found = [Relevant(f"{number:02}", "L1", "p", text, 0.9) for number, text in enumerate(ordinary()[:6])]
    made = {limit: extract("react", found, limit, COUNTER, scope="user") for limit in range(1, 260, 3)}
    first = min(limit for limit, each in made.items() if each is not None)
    assert all((each is None) == (limit < first) for limit, each in made.items())
    assert all(COUNTER.count(render_block("user", each)) <= limit for limit, each in made.items() if each is not None)
