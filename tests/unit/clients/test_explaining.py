"""What speaks for a section of documentation that is to explain a fault."""

from __future__ import annotations

import pytest

from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.explaining import Explaining, explaining, sought
from mem.domain.nodes import StoredNode
from mem.ports import Candidate, Fault, Fit, RerankQuery

FAULT = Fault("the basket was given away", "count it first", "count(basket)")


def _section(text: str = "A basket.", **measured) -> Candidate:
    node = StoredNode(level="R", project="*", text=text, source="shop.md", stored_sha="a" * 64)
    return Candidate(node, "", None, None, None, exact=False, coarse=False, same_tool=False)._replace(**measured)


def test_what_no_leg_measured_is_nothing():
    """A section that shares nothing with the fault has no feature."""
    assert explaining(sought(FAULT), _section("Elsewhere.")) == Explaining(*[0.0] * len(Explaining._fields))


def test_legs_of_each_part_are_told_apart():
    """Headline, notes and code are measured by themselves."""
    section = _section(
        text_similarity=0.1, words=0.2, context=0.3, notes=Fit(0.4, 0.5, 0.6), excerpt=Fit(0.7, 0.8, 0.9)
    )
    found = explaining(sought(FAULT), section)
    assert (found.text, found.words, found.context) == (0.1, 0.2, 0.3)
    assert (found.notes_text, found.notes_words, found.notes_context) == (0.4, 0.5, 0.6)
    assert (found.excerpt_text, found.excerpt_words, found.excerpt_context) == (0.7, 0.8, 0.9)


def test_neighbouring_words_count_where_they_stand_side_by_side():
    """The same words in another order are no pairs, and words without meaning are part of them."""
    quoted, scattered = _section("error: the basket was given away"), _section("away the given was basket")
    assert explaining(sought(FAULT), quoted).pairs == pytest.approx(1.0)
    assert explaining(sought(FAULT), scattered).pairs == 0.0
    assert explaining(sought(FAULT), _section("Count it first.")).notes_pairs == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "obsolete"),
    [
        ("This error is no longer emitted by the compiler.", 1.0),
        ("#### Note: this rule has been removed", 1.0),
        ("A basket is given away once.", 0.0),
        ("A basket. " * 100 + "Its lid is no longer used.", 0.0),
    ],
)
def test_pages_that_say_that_they_are_superseded_are_known(text, obsolete):
    """Near their beginning alone: further down it is about something else."""
    assert explaining(sought(FAULT), _section(text)).obsolete == obsolete


async def test_a_superseded_page_loses_a_little():
    """It decides between equals, and says nothing against the better one."""
    query = RerankQuery("q", None, fault=FAULT)
    same, old = {"text_similarity": 0.5, "words": 0.5, "context": 0.5}, "This error is no longer emitted. "
    near, gone, far = await EmbeddedScorer.load().rerank(
        query, [_section(**same), _section(f"{old}A basket.", **same), _section("A basket.", text_similarity=0.4)]
    )
    assert near > gone > far


async def test_a_lookup_scores_documentation_as_before():
    """Without parts to explain the text of the section counts, and the other legs do not."""
    plain, measured = _section(text_similarity=0.5), _section(text_similarity=0.5, notes=Fit(1.0, 1.0, 1.0))
    scores = await EmbeddedScorer.load().rerank(RerankQuery("q", None, failure="q"), [plain, measured])
    assert scores[0] == scores[1]
