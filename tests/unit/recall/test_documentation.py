"""Documentation is searched with each part of what a tool printed."""

from __future__ import annotations

from mem.domain.query import QueryInput
from mem.ports import Fault
from mem.recall.question import plain_question, read_question

OUTPUT = """\
shop.c:3:5: error: the basket was given away
    3 | count(basket);
      |       ^~~~~~
note: count it first
"""


def _asked(question: str, levels=("R",)) -> QueryInput:
    return QueryInput(request_id="r", project="p", question=question, levels=list(levels))


def test_output_is_asked_in_parts():
    """Headline, what is said besides and code are embedded each by itself, and nothing else is for documentation."""
    question = read_question(_asked(OUTPUT))
    assert question.fault == Fault("the basket was given away", "count it first", "count(basket);")
    assert question.texts == list(question.fault)
    assert question.printed
    assert question.memories == ()


def test_words_are_asked_as_they_are():
    """A question in words has one part."""
    question = read_question(_asked("How are baskets counted?"))
    assert question.fault == Fault("How are baskets counted?")
    assert question.texts == ["How are baskets counted?"]
    assert not question.printed


def test_memories_are_asked_as_before():
    """Parts are for documentation alone."""
    question = plain_question(_asked(OUTPUT, ("L1", "L2")))
    assert question.texts == [question.text]
    assert question.memories == ("L1", "L2")
    assert plain_question(_asked(OUTPUT, ("L1", "R"))).texts == [question.text, *question.fault]


def test_secrets_are_taken_out_of_parts():
    """What is redacted in the question is redacted in what documentation is asked."""
    question = read_question(_asked("error: refused with password=hunter2hunter2 for the basket"))
    assert "hunter2" not in question.fault.headline


def test_a_headline_far_down_is_found():
    """What is printed before the error may be long."""
    question = read_question(_asked("compiling basket\n" * 300 + "error: the basket was given away"))
    assert question.fault.headline == "the basket was given away"
