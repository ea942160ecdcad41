"""What is printed for people: colours only where they are seen, widths as they are shown."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.terminal import Style, Styled, columns, cut, printed, shortened, shows_colours, tell_lines, wrapped
from mem.client import Reply
from tests.unit.cli.answers import answer, exact
from tests.unit.cli.instead import connect

LINES = [Styled("bad", Style.BAD), Styled("plain"), Styled("")]


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_colours_are_for_terminals(monkeypatch):
    """A pipe or a file gets the bare text."""
    for stream, out in ((Terminal(), "\x1b[31mbad\x1b[0m\nplain\n\n"), (io.StringIO(), "bad\nplain\n\n")):
        monkeypatch.setattr("sys.stdout", stream)
        tell_lines(LINES)
        assert stream.getvalue() == out


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False), ("TERM", "xterm-256color", True)],
)
def test_colours_can_be_refused(monkeypatch, name, value, shown):
    """NO_COLOR with any value, and a terminal that can do nothing, get none."""
    monkeypatch.setenv(name, value)
    assert shows_colours(Terminal()) is shown


def test_a_line_is_one_line_and_steers_nothing():
    """Whatever its text holds, it is coloured by us alone, and ends where it ends."""
    line = Styled("a\nb\x1b[1mc\u202ed\te\x9b", Style.FAINT)
    assert printed([line], colour=True) == "\x1b[2ma b[1mcd\te\x1b[0m"
    assert printed([line], colour=False) == "a b[1mcd\te"


@pytest.mark.parametrize(("given_", "used"), [("10", 40), ("40", 40), ("77", 77), ("200", 120)])
def test_lines_are_as_wide_as_the_terminal_within_reason(monkeypatch, given_, used):
    """Neither too narrow to read nor too wide to follow."""
    monkeypatch.setenv("COLUMNS", given_)
    assert columns() == used


def test_a_pipe_has_a_width_of_its_own(monkeypatch):
    """Where there is no terminal, output does not depend on who runs the command."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: __import__("os").terminal_size(fallback))
    assert columns() == 100


TEXTS = st.text(st.sampled_from("ab \u4e2d\U0001f600\u0301e-") | st.characters(), max_size=200)


@given(TEXTS, st.integers(20, 60))
def test_wrapping_loses_nothing_and_exceeds_nothing(text, width):
    """Every visible character is there in its order, and no line is wider than asked."""
    lines = wrapped(text, width, indent="  ", later="    ")
    assert all(cell_len(line) <= width for line in lines)
    whole = "".join(wrapped(text, 10_000))
    assert "".join("".join(lines).split()) == "".join(whole.split())
    assert all(line.startswith("  ") for line in lines)


@given(TEXTS, st.integers(20, 60))
def test_what_is_shortened_or_cut_fits(text, width):
    """A text that fits is left alone; another one ends in an ellipsis within the width."""
    for one in (shortened(text, width), cut(text, width)):
        assert cell_len(one) <= width
    if len(wrapped(text, width)) > 1:
        assert shortened(text, width).endswith(" \u2026")


class StubClient:
    async def look_up(self, request):
        found = answer(exact())
        return Reply(found, found.model_dump_json().encode(), ())


@pytest.mark.parametrize("output", ["text", "json"])
def test_neither_a_pipe_nor_json_is_coloured(monkeypatch, output):
    """JSON stays bare even on a terminal; the text does wherever none is."""

    connect(monkeypatch, "context", StubClient())
    arguments = ["lookup", "--tool", "npm", "--format", output]
    assert "\x1b" not in CliRunner().invoke(app_for(()), arguments).stdout
    monkeypatch.setattr("mem.cli.terminal.shows_colours", lambda _: True)
    assert ("\x1b" in CliRunner().invoke(app_for(()), arguments).stdout) is (output == "text")
