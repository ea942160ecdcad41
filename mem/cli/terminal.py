"""What is printed for people: wrapped to their terminal, coloured where it shows colours, and never steering it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, TextIO

from rich.cells import cell_len, chop_cells

NARROWEST, WIDEST = 40, 120
UNKNOWN_WIDTH = 100
"""Where nothing tells the width, as behind a pipe."""

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and what turns the direction of a line around or breaks it."""


class Style(Enum):
    """How a line stands out; the value is what a terminal calls it."""

    PLAIN = ""
    TITLE = "1"
    GOOD = "1;32"
    FAIR = "1;33"
    OTHER = "1;36"
    BAD = "31"
    FAINT = "2"


class Link(NamedTuple):
    """What of a line a terminal opens when it is clicked, and what it opens."""

    label: str
    target: str


class Styled(NamedTuple):
    """One line for people."""

    text: str
    style: Style = Style.PLAIN
    link: Link | None = None


def unsteered(text: str) -> str:
    """A text without what would steer a terminal: logs keep their escape sequences."""
    return _STEERING.sub("", text)


def flat(text: str) -> str:
    """A text of somebody else on one line, so that it can pretend to be no line of ours."""
    return " ".join(unsteered(text).split())


def printed(lines: Iterable[Styled], *, colour: bool) -> str:
    """The lines as they are written."""
    return "\n".join(_printed(line, colour=colour) for line in lines)


def _printed(line: Styled, *, colour: bool) -> str:
    text = unsteered(line.text).replace("\n", " ")
    if not colour or not text:
        return text
    if line.link is not None and line.link.label:
        before, label, behind = text.rpartition(line.link.label)
        # Nothing but printable ASCII may stand there: what else is in it would end it early, and steer the terminal.
        if label and re.fullmatch(r"[!-~]+", line.link.target):
            text = f"{before}\x1b]8;;{line.link.target}\x1b\\{label}\x1b]8;;\x1b\\{behind}"
    return f"\x1b[{line.style.value}m{text}\x1b[0m" if line.style.value else text


def tell_lines(lines: Iterable[Styled]) -> None:
    """Print lines on stdout, with colours and links where that is a terminal that shows colours."""
    sys.stdout.write(printed(lines, colour=shows_colours(sys.stdout)) + "\n")
    sys.stdout.flush()


def shows_colours(stream: TextIO) -> bool:
    """Whether to colour what is written there: never into a pipe or a file, nor where NO_COLOR asks for none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """How wide lines may be."""
    return min(max(shutil.get_terminal_size((UNKNOWN_WIDTH, 0)).columns, NARROWEST), WIDEST)


def wrapped(text: str, width: int, *, indent: str = "", later: str | None = None) -> list[str]:
    """A text in lines of at most `width` columns, wide characters counted as they are shown.

    Args:
        later: the indent of all lines but the first; the same without it.
    """
    later = indent if later is None else later
    lines = [indent]
    empty = True
    for piece in _pieces(flat(text), width - max(cell_len(indent), cell_len(later))):
        if not empty and cell_len(lines[-1]) + 1 + cell_len(piece) > width:
            lines.append(later)
            empty = True
        lines[-1] += piece if empty else f" {piece}"
        empty = False
    return [] if empty else lines


def shortened(text: str, width: int) -> str:
    """A text on one line of at most `width` columns, cut between words where it is longer."""
    lines = wrapped(text, width)
    if len(lines) < 2:
        return "".join(lines)
    return f"{wrapped(text, width - 2)[0]} \u2026"


def cut(text: str, width: int) -> str:
    """A line as it stands, cut where it is wider."""
    return text if cell_len(text) <= width else f"{chop_cells(text, width - 1)[0]}\u2026"


def _pieces(text: str, room: int) -> Iterable[str]:
    for word in text.split():
        yield from [word] if cell_len(word) <= room else chop_cells(word, room)
