"""What a question wants to be told, and what a text tells."""

from __future__ import annotations

import pytest

from mem.parsing.telling import asks, dates, tells, wanted


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When did she move?", {"time"}),
        ("How long did he stay?", {"time", "number"}),
        ("How many mugs were sold?", {"number"}),
        ("Who put out the fire?", {"name"}),
        ("What is the name of the dog?", {"name"}),
        ("Which European city did they visit?", {"name"}),
        ("Why was it late?", set()),
    ],
)
def test_a_question_wants_a_kind_of_thing(question, kinds):
    assert wanted(question).kinds == kinds


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("We went last Saturday.", {"time"}),
        ("twelve of them", {"number"}),
        ("It was lovely in Lisbon", {"name"}),
        ('we met Ana, Bo and "Frank"', {"name"}),
        ("Lovely, thanks!", set()),
        ("I may come", set()),
        ("it was in May", {"time"}),
    ],
)
def test_a_text_tells_kinds_of_things(said, kinds):
    assert tells(said) == kinds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What happened on 8 May, 2023?", {(2023, 5)}),
        ("2023-05-08 10:00", {(2023, 5)}),
        ("in July or August", {(None, 7), (None, 8)}),
        ("in 2022", {(2022, None)}),
        ("May I go? You may.", set()),
        ("Did it march on?", {(None, 3)}),
        ("yesterday", set()),
    ],
)
def test_months_and_years_are_read_from_what_is_written(text, found):
    assert dates(text) == found


def test_a_question_is_known_by_its_end_and_its_words_without_possession():
    assert asks("Really?!")
    assert asks('"What?"')
    assert not asks("Really? Yes.")
    assert {"caroline", "dog"} <= wanted("What is Caroline's dog?").words
