"""What a raw failure is searched with."""

from __future__ import annotations

import pytest

from mem.parsing.gist import gist
from mem.recall.query import FAILURE_CHARACTERS, read_failure


def test_a_failure_is_searched_without_its_logger():
    """The stored side has no times and levels either."""
    line = (
        "2026-01-08 03:12:00.400 UTC [31902] ERROR:  deadlock detected while waiting for the lock of that row in turn"
    )
    assert read_failure(line).lines == gist(line)


def test_a_record_is_read_as_what_it_says():
    """JSON that holds the failure in a field tells a failure."""
    record = (
        '{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: 5d0a Error: Task timed out after 15.02 seconds"}'
    )
    lines = read_failure(record).lines
    assert lines is not None
    assert "Error: Task timed out after 15.02 seconds" in lines
    assert "{" not in lines


def test_one_poor_line_is_searched_with_its_neighbours():
    """A status in brackets finds nothing by itself."""
    lines = read_failure("acme.errors.ApiException: (429)\nReason: Too Many Requests\n").lines
    assert lines is not None
    assert "Too Many Requests" in lines


def test_what_is_searched_is_bounded():
    """However much a failure says."""
    lines = read_failure("\n".join(f"Error: cannot open the file number {number} of all" for number in range(99))).lines
    assert lines is not None
    assert len(lines) <= FAILURE_CHARACTERS


def test_an_excerpt_that_no_rule_knows_is_searched_without_being_sure():
    """Somebody chose it: what it says may be the failure, which only a near lesson can tell."""
    found = read_failure(
        "0/9 nodes are available: 2 node(s) had untolerated taint {dedicated: ml}, 7 Insufficient gpu."
    )
    assert found.lines is not None
    assert (found.sure, found.signatures) == (False, ())
    assert read_failure("Error: cannot open the file").sure


@pytest.mark.parametrize("text", ["the nodes were all available again and we went home\n" * 3, "value of it\n" * 900])
def test_talk_and_long_logs_are_no_excerpt(text):
    """A person's words are no output, and of a whole log nobody chose the lines."""
    assert read_failure(text).lines is None


@pytest.mark.parametrize("text", ["", "all is well\n", '{"level":"info","msg":"served"}'])
def test_a_text_without_failure_asks_for_nothing(text):
    """Neighbours are joined to a failure, never searched for themselves."""
    assert read_failure(text).lines is None
