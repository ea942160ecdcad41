"""A section of documentation is embedded by its paragraphs, its examples and the comments in them."""

from __future__ import annotations

from mem.domain.nodes import Node
from mem.parsing.passages import LONG, MOST, passages, passages_of

TITLE = "Shop > Baskets"
FIRST = "A basket is counted once, when it is given away, since nobody can tell afterwards what was in it before."
SECOND = "Whoever wants to count it again makes a copy of it first, which takes as long as filling a basket takes."
LONG_ENOUGH = " It has been so since the shop was opened."
EXAMPLE = """\
```shop
give(basket)
count(basket) // error: basket was given away
# run this twice
```"""


def test_paragraphs_and_examples_are_passages_of_their_own():
    """Headings stand before paragraphs; comments and code stand as they are."""
    text = f"{TITLE}\n\n{FIRST}{LONG_ENOUGH}\n\n{EXAMPLE}\n\n{SECOND}{LONG_ENOUGH}"
    assert passages(text, headed=True) == [
        f"{TITLE}\n{FIRST}{LONG_ENOUGH}",
        f"{TITLE}\n{SECOND}{LONG_ENOUGH}",
        "error: basket was given away\nrun this twice",
        "give(basket)\ncount(basket) // error: basket was given away\n# run this twice",
    ]


def test_a_text_without_headings_has_none_before_its_paragraphs():
    """The first paragraph is one like the others."""
    text = f"{FIRST}{LONG_ENOUGH}\n\n{SECOND}{LONG_ENOUGH}"
    assert passages(text, headed=False) == text.split("\n\n")


def test_short_paragraphs_are_joined():
    """A sentence that says little alone stands with the next one."""
    assert passages("It fails.\n\nAt once.", headed=False) == ["It fails.\nAt once."]


def test_indented_code_is_an_example():
    """So is what has no fences; directives are no comments."""
    text = "Count it.\n\n    #include <shop.h>\n    count(b); /* not while it is open */"
    assert passages(text, headed=False) == [
        "Count it.",
        "not while it is open",
        "    #include <shop.h>\n    count(b); /* not while it is open */",
    ]


def test_passages_are_bounded():
    """What is behind the last one is embedded with it; nothing is lost, and nothing comes twice."""
    text = "\n\n".join(f"{FIRST}{LONG_ENOUGH} {number}" for number in range(2 * MOST))
    found = passages(text, headed=False)
    assert len(found) == MOST
    assert "\n".join(found) == text.replace("\n\n", "\n")
    assert passages("\n\n".join([f"{FIRST}{LONG_ENOUGH}"] * 3), headed=False) == [f"{FIRST}{LONG_ENOUGH}"]


def test_long_examples_are_cut():
    """An embedder reads no more of them."""
    (said, shown) = passages(f"Count it.\n\n```\n{'x' * 2 * LONG}\n```", headed=False)
    assert (said, shown) == ("Count it.", "x" * LONG)


def test_an_open_fence_ends_with_the_section():
    """A section that is cut within an example still has it."""
    assert passages("Count it.\n\n```\ncount(b)", headed=False) == ["Count it.", "count(b)"]


def test_sections_that_are_embedded_as_they_are_have_no_passages():
    """Only others have something to be recorded."""
    plain = Node(level="R", project="*", text="Count it.", source="shop.md")
    headed = Node(level="R", project="*", text=f"{TITLE}\n\n{EXAMPLE}", source="shop.md#baskets")
    assert list(passages_of([plain, headed])) == [headed.sha]
