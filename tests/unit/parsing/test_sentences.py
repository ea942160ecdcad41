"""Where the sentences of a lesson end, and where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.parsing.sentences import leans, sentences

WHOLE = [
    "Pin react-dom to 18.2.0 and node to v20.11.1, e.g. with .nvmrc or engines.",
    "See docs/setup.md, src/app.test.ts and ../lib/a.b.c/index.d.ts for it.",
    "The run took approx. 4 min. on the old host, vs. 30 sec. on the new one.",
    "`make build. Then stop.` is one target of ours (see fig. 3. It is old) and stays.",
    'It printed "Out of memory. Killed process 7." and nothing else.',
    "Set retries to no. 5 in app.config.json... and wait for it.",
    "Dr. J. Smith of Acme Inc. owns the U.S. cluster, i.e. us-east-1.",
    "Ask for https://example.com/a?b=c.d and 10.0.0.1:8080 first",
    "Wait for it … then go on",
    "It needs python >= 3.9 and a -> b => c: run foo > out.txt 2>&1, where List<String> is typed.",
    ">= 3.9 is what it needs.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_one_sentence(text):
    """Versions, paths, abbreviations, code, quotations and dots between words end nothing."""
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("npm ci failed. npm install works.", ["npm ci failed.", "npm install works."]),
        ("Use Node 20. 18 is too old.", ["Use Node 20.", "18 is too old."]),
        ("Is it up? Yes! Go on.", ["Is it up?", "Yes!", "Go on."]),
        ('It said "no." We went on.', ['It said "no."', "We went on."]),
        ("A line that\nis wrapped. Another one\nis, too.", ["A line that is wrapped.", "Another one is, too."]),
        (
            "# Cause\nThe pool was small.\n\n- raise it\n- watch it",
            ["Cause", "The pool was small.", "raise it", "watch it"],
        ),
        ("1. Stop it\n2. Start it", ["Stop it", "Start it"]),
        ("Run this:\n```sh\nmake a\nmake b\n```\nThen wait.", ["Run this: make a make b", "Then wait."]),
        ("> quoted words. More of it.", ["quoted words.", "More of it."]),
        (">> twice quoted, a > b.\n> > It goes on.", ["twice quoted, a > b.", "It goes on."]),
        ("缓存已满。请清空它。", ["缓存已满。", "请清空它。"]),
        ("Mails go out at 5 p.m. Alerts do not.", ["Mails go out at 5 p.m.", "Alerts do not."]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_where_sentences_end(text, parts):
    """Stops before a new beginning, paragraphs, items and headings end one; a wrapped line does not."""
    assert sentences(text) == parts


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=80))
def test_nothing_of_a_line_is_lost(text):
    """What does not begin a line is no markup of it: commands and comparisons are told as they were written."""
    assert " ".join(sentences(f"Run {text}")).split() == ["Run", *text.split()]


@pytest.mark.parametrize("text", ["It was the cache.", "Then restart it.", "That\u2019s why.", "But not on Mondays."])
def test_a_sentence_that_leans_on_the_one_before(text):
    """What begins with a word that points back says little alone."""
    assert leans(text)


@pytest.mark.parametrize("text", ["Restart the cache.", "Item 3 was wrong.", "`it` is a block in rspec.", ""])
def test_a_sentence_that_stands_alone(text):
    """Anything else stands alone."""
    assert not leans(text)
