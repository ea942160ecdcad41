"""How a failure is quoted: best lines first, each with its place in the text as it is stored."""

from __future__ import annotations

import pytest

from mem.parsing import failure_lines
from mem.parsing.excerpts import Reading, quote_failures
from mem.parsing.mask import mask

FAILED = (
    "$ ./deploy web-7f9c\npreparing 3 hosts\nhost 10.0.0.7 wants attention\nThe command './deploy' exited with 3.\n"
)
ERROR = "psql: FATAL: sorry, too many clients already"
TALK = "Ana: I think that the box in the lab is the one to look at.\nBen: we should ask them why it was off at night.\n"


@pytest.mark.parametrize("above", [0, 7, 5000])
def test_a_quoted_line_has_its_number_in_the_stored_text(above):
    """Lines count from 1 in the text, also in one that is read through its distilled form."""
    noise = "".join(f"step {number} of the import is done in due time\n" for number in range(above))
    quoted = quote_failures(f"{noise}{ERROR}\n", limit=3)
    assert [(each.text, each.line) for each in quoted] == [(ERROR, above + 1)]


def test_places_do_not_change_what_is_quoted():
    """With or without their places the lines are the same, best block first."""
    log = f"{ERROR}\nnpm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n"
    quoted = quote_failures(log, limit=8)
    assert [each.text for each in quoted] == failure_lines(log, limit=8)
    assert [each.rank for each in quoted] == sorted(each.rank for each in quoted)


def test_what_failed_without_a_clear_line_is_quoted_from_its_end():
    """The run says that it failed, no line says why: its last lines are what there is."""
    reading = Reading(FAILED)
    assert "host 10.0.0.7 wants attention" in [each.text for each in reading.weakly(limit=4, known=False)]


def test_the_bare_end_of_an_output_is_masked():
    """What is quoted for its place alone keeps no host, number or path of one run."""
    log = "starting 10.0.0.7:9000\nloaded /srv/app-42/data.bin\n5 tests failed\n"
    ending = Reading(log).ending(limit=4)
    assert ending
    assert all(mask(each.text) == each.text for each in ending)


@pytest.mark.parametrize("text", ["", "all 12 passed\n", TALK, "loaded 3 files\nserving on 8080\n"])
def test_what_did_not_fail_is_not_quoted_weakly(text):
    """Success, talk and silence have no end worth quoting."""
    assert Reading(text).weakly(limit=4, known=False) == []


def test_talk_has_no_output():
    """Nothing that people wrote is searched for lines of programs."""
    assert Reading(TALK).is_talk
    assert Reading(TALK).output_lines(most=10) == []


def test_of_a_long_output_both_ends_are_searched():
    """The first and the last lines, no more than asked for, each with its number."""
    lines = Reading("".join(f"value {number} is odd\n" for number in range(100))).output_lines(most=10)
    assert [number for number, _ in lines] == [1, 2, 3, 4, 5, 96, 97, 98, 99, 100]


def test_what_frames_a_failure_stands_behind_it():
    """The reason leads, whatever stood above it."""
    log = "Error: the following steps failed:\nError: cannot open the quux at port 8443\n"
    assert failure_lines(log, limit=4)[0].endswith("failed:")
    assert Reading(log).telling(limit=4)[0].text == "Error: cannot open the quux at port 8443"


@pytest.mark.parametrize(("around", "joined"), [(True, True), (False, False)])
def test_few_words_are_joined_by_their_neighbours(around, joined):
    """A status alone finds nothing; what stands next to it may say what it was about."""
    log = "HTTP/1.1 400 Bad Request\n<center>No required certificate was sent</center>\n"
    told = [each.text for each in Reading(log).telling(limit=4, around=around)]
    assert told[0] == "HTTP/1.1 400 Bad Request"
    assert any("No required certificate" in line for line in told) is joined


def test_records_that_call_themselves_errors_are_quoted():
    """A reason that no rule knows is told by the level of its record; talk has no records."""
    log = 'level=info msg="batch picked"\nlevel=error msg="push rejected" reason=BadToken\n'
    assert [(each.text, each.line) for each in Reading(log).levelled(limit=4)] == [
        ('level=error msg="push rejected" reason=BadToken', 2)
    ]
    assert Reading(TALK + TALK + "level=error msg=x\n").levelled(limit=4) == []


@pytest.mark.parametrize(
    ("log", "failed"), [(FAILED, True), ("loaded 3 files\nserving on 8080\n", False), (ERROR, False)]
)
def test_an_output_says_of_itself_that_it_failed(log, failed):
    """By how its command ended, not by a line in it."""
    assert Reading(log).has_failed is failed
