"""What belongs to a line that may tell a failure, read from the log around it."""

from __future__ import annotations

from dataclasses import dataclass

from mem.parsing.blocks import rule_block
from mem.parsing.clean import Cleaner
from mem.parsing.fallback import reach_of
from mem.parsing.lines import Bits, classifier
from mem.parsing.page import Page
from mem.parsing.rules import Rule
from mem.parsing.scan import Place, text_at

_ABOVE = 12
_SHORT, _BELOW, _MARGIN = 16, 30, 6


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a log by number, from 0; `start` to `end` is the block, `title` the line that names it."""

    lines: dict[int, str]
    start: int
    end: int
    title: Place | None


def window_of(data: bytes, place: Place, rule: Rule | None) -> Window:
    """The block at `place`, as far as its rule, or without one its shape, reaches."""
    most = _BELOW if rule is None else rule.max
    for below in (_SHORT, most):
        before, after = _before(data, place.at, _ABOVE), _after(data, place.at, below + _MARGIN)
        lines = [*before, *after]
        first = place.line - len(before)
        cleaner = Cleaner()
        cleaner.out.lines = [cleaner.feed(number, line) for number, line in enumerate(lines)]
        page = Page(cleaner.out, Bits(cleaner.out.lines), [], {}, classifier().names)
        anchor = len(before)
        block = None if rule is None else rule_block(page, anchor, rule)
        start, end = (anchor, reach_of(page, anchor)) if block is None else (block.start, block.end)
        if end < anchor + below - 1 or below == most:
            break
    title = None if rule is None or block is None else _title(data, place, first + start, rule)
    return Window({first + number: line for number, line in enumerate(lines)}, first + start, first + end, title)


def _before(data: bytes, at: int, count: int) -> list[str]:
    lines: list[str] = []
    while at > 0 and len(lines) < count:
        begin = data.rfind(b"\n", 0, at - 1) + 1
        lines.append(text_at(data, begin, at - 1))
        at = begin
    return lines[::-1]


def _after(data: bytes, at: int, count: int) -> list[str]:
    lines = []
    for _ in range(count):
        end = data.find(b"\n", at)
        lines.append(text_at(data, at, len(data) if end < 0 else end))
        if end < 0:
            break
        at = end + 1
    return lines


def _title(data: bytes, place: Place, start: int, rule: Rule) -> Place | None:
    """The nearest line above the block that names what it belongs to."""
    if rule.title is None:
        return None
    cleaner = Cleaner()
    line, at = place.line, place.at
    while at > 0 and start - line < rule.title_lines:
        at = data.rfind(b"\n", 0, at - 1) + 1
        line -= 1
        if line < start and rule.title.search(cleaner.feed(line, text_at(data, at, data.find(b"\n", at)))):
            return Place(line, at)
    return None
