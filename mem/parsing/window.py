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


def window_of(data: bytes, place: Place, rules: tuple[Rule, ...]) -> Window:
    """The block at `place`: of the first rule that holds there, or without one as far as its shape reaches."""
    for rule in rules:
        window = _by_rule(data, place, rule)
        if window is not None:
            return window
    around = _Around(data, place, _BELOW)
    return around.window(around.anchor, reach_of(around.page, around.anchor))


def _by_rule(data: bytes, place: Place, rule: Rule) -> Window | None:
    """The block of `rule`; a long reach is looked at only where a short one does not hold the block."""
    short = rule.max > _SHORT and not rule.blanks
    for below in (_SHORT, rule.max) if short else (rule.max,):
        around = _Around(data, place, below)
        block = rule_block(around.page, around.anchor, rule)
        if below == rule.max or (block is not None and block.end < around.anchor + below - 1):
            break
    if block is None:
        return None
    title = _title(data, place, around.first + block.start, rule)
    return around.window(block.start, block.end, title)


class _Around:
    """The lines around a place, cleaned: `anchor` is its own number in `page`, `first` that of the page in the log."""

    def __init__(self, data: bytes, place: Place, below: int) -> None:
        before = _before(data, place.at, _ABOVE)
        self.lines = [*before, *_after(data, place.at, below + _MARGIN)]
        self.anchor = len(before)
        self.first = place.line - self.anchor
        cleaner = Cleaner()
        cleaner.out.lines = [cleaner.feed(number, line) for number, line in enumerate(self.lines)]
        self.page = Page(cleaner.out, Bits(cleaner.out.lines), [], {}, classifier().names)

    def window(self, start: int, end: int, title: Place | None = None) -> Window:
        """Lines `start` to `end` of the page as a window on the log."""
        numbered = dict(enumerate(self.lines, self.first))
        return Window(numbered, self.first + start, self.first + end, title)


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
