"""What belongs to a line that may tell a failure, read from the log around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mem.parsing.blocks import rule_block
from mem.parsing.clean import Cleaner
from mem.parsing.cleaned import Cleaned
from mem.parsing.fallback import reach_of
from mem.parsing.lines import Bits, classifier
from mem.parsing.outline import Place, text_at
from mem.parsing.page import Page
from mem.parsing.patterns import stands_in
from mem.parsing.rules import Rule

_ABOVE, _NEAR = 12, 3
_SHORT, _BELOW, _MARGIN = 16, 30, 6


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a log by number, from 0; `start` to `end` is the block, `title` the line that names it.

    `by_rule` says that a rule found the block, not the shape of the lines alone.
    """

    lines: dict[int, str]
    start: int
    end: int
    title: Place | None
    by_rule: bool


class Reader:
    """Reads blocks out of a log; each line is cleaned once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._cleaner = Cleaner()
        self._known: dict[int, _Line] = {}

    def window(self, place: Place, rules: tuple[Rule, ...]) -> Window:
        """The block at `place`: of the first rule that holds there, or without one as far as its shape reaches."""
        for rule in rules:
            window = self._by_rule(place, rule)
            if window is not None:
                return window
        around = self._around(place, _BELOW, _NEAR)
        return around.window(around.anchor, reach_of(around.page, around.anchor), None, by_rule=False)

    def _by_rule(self, place: Place, rule: Rule) -> Window | None:
        """The block of `rule`; a long reach is looked at only where a short one does not hold the block."""
        short = rule.max > _SHORT and not rule.blanks
        for below in (_SHORT, rule.max) if short else (rule.max,):
            around = self._around(place, below, _NEAR if rule.back is None else _ABOVE)
            block = rule_block(around.page, around.anchor, rule)
            if below == rule.max or (block is not None and block.end < around.anchor + below - 1):
                break
        if block is None:
            return None
        return around.window(block.start, block.end, self._title(place, around.first + block.start, rule), by_rule=True)

    def _around(self, place: Place, below: int, above: int) -> _Around:
        before = self._before(place.at, above)
        return _Around([*before, *self._after(place.at, below + _MARGIN)], len(before), place.line)

    def _line(self, at: int, end: int) -> _Line:
        line = self._known.get(at)
        if line is None:
            text, cleaner = text_at(self._data, at, end), self._cleaner
            cleaner.until, cleaner.timed = None, None  # what stands above is not known here
            cleaner.out.marks.clear()
            line = self._known[at] = _Line(text, cleaner.feed(0, text), bool(cleaner.out.marks))
        return line

    def _before(self, at: int, count: int) -> list[_Line]:
        lines: list[_Line] = []
        while at > 0 and len(lines) < count:
            begin = self._data.rfind(b"\n", 0, at - 1) + 1
            lines.append(self._line(begin, at - 1))
            at = begin
        return lines[::-1]

    def _after(self, at: int, count: int) -> list[_Line]:
        lines = []
        for _ in range(count):
            end = self._data.find(b"\n", at)
            lines.append(self._line(at, len(self._data) if end < 0 else end))
            if end < 0:
                break
            at = end + 1
        return lines

    def _title(self, place: Place, start: int, rule: Rule) -> Place | None:
        """The nearest line above the block that names what it belongs to."""
        if rule.title is None:
            return None
        line, at = place.line, place.at
        while at > 0 and start - line < rule.title_lines:
            end = at - 1
            at = self._data.rfind(b"\n", 0, end) + 1
            line -= 1
            if line < start and stands_in(rule.title, self._line(at, end).clean):
                return Place(line, at)
        return None


class _Line(NamedTuple):
    text: str
    clean: str
    mark: bool


class _Around:
    """The lines around a place: `anchor` is its own number in `page`, `first` that of the page in the log."""

    def __init__(self, lines: list[_Line], anchor: int, line: int) -> None:
        self.lines, self.anchor, self.first = lines, anchor, line - anchor
        marks = {number for number, one in enumerate(lines) if one.mark}
        cleaned = Cleaned([one.clean for one in lines], marks=marks)
        self.page = Page(cleaned, Bits(cleaned.lines), [], {}, classifier().names)

    def window(self, start: int, end: int, title: Place | None, *, by_rule: bool) -> Window:
        """Lines `start` to `end` of the page as a window on the log."""
        numbered = {number: one.text for number, one in enumerate(self.lines, self.first)}
        return Window(numbered, self.first + start, self.first + end, title, by_rule)
