"""A small text that fails like a large log.

The scan says which lines may tell the failure; what belongs to them is kept, best first, while it fits. What is left
out becomes one line that says how much it was, so that distances still count. Extraction reads large logs through
their distilled form only, so both have the same failures by construction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from mem.domain.canonical import sha256_hex
from mem.parsing.clean import ELIDED
from mem.parsing.decode import without_surrogates
from mem.parsing.lines import classifier
from mem.parsing.outline import Hit, Outline, Place, Section, text_at
from mem.parsing.redact import hide_announced, private_key_lines, private_key_placeholder
from mem.parsing.scan import Scanner
from mem.parsing.window import Reader, Window

MAX_BYTES = 32768
_GAP = 64
_ABOVE, _BELOW = 3, 4
_WINDOWS = 18
_TAIL_LINES = 12
_OTHER_TAILS = 3
_LONG_BLOCK, _BLOCK_HEAD, _BLOCK_TAIL = 160, 60, 80
_MISFITS = 12
_HOLDERS = 3


@dataclass(frozen=True, slots=True)
class Distilled:
    """The failing blocks of a text with the lines that extraction needs.

    `line_map[i]` is the line of the original, counted from 1, that line i of `text` stands for.
    """

    text: str
    line_map: list[int]
    source_sha: str
    source_bytes: int


def distill(text: str, *, max_bytes: int = MAX_BYTES) -> Distilled:
    """`text` cut to `max_bytes` of UTF-8: the same signatures, and through the map the same lines."""
    data = text.encode("utf-8", "surrogatepass")
    body, line_map = condensed(data, max_bytes)
    return Distilled(text if len(data) <= max_bytes else body, line_map, sha256_hex(data), len(data))


def condensed(data: bytes, max_bytes: int = MAX_BYTES) -> tuple[str, list[int]]:
    """Text and line map of the distilled form of a log in UTF-8; a short one stays as it is."""
    classifier().forget()
    if len(data) <= max_bytes:
        return data.decode("utf-8", "surrogatepass"), list(range(1, data.count(b"\n") + 2))
    if b"\xed" in data:  # a lone surrogate may begin there
        data = without_surrogates(data.decode("utf-8", "surrogatepass")).encode()
    kept = _Kept(data, max_bytes)
    outline = Scanner(data).scan()
    _choose(kept, outline)
    kept.hide_private_keys()
    return kept.joined(outline)


def _choose(kept: _Kept, outline: Outline) -> None:
    """Keep the failing commands' ends first, then what lies around the best lines."""
    kept.add_places([Place(0, 0), *([outline.done] if outline.done else [])])
    # How it all ended says whether anything failed.
    kept.add_tail(Section(Place(0, 0), command=True, end=Place(outline.lines, len(kept.data) + 1)))
    for section in outline.failed[:1]:
        kept.add_section(section)
        kept.add_tail(section)
    misfits = windows = 0
    blocks = _Blocks(kept.data, outline.hits)
    for hit in outline.hits:
        if kept.holds(hit):
            continue
        if windows >= _WINDOWS or misfits >= _MISFITS:
            break
        holder = blocks.holder_of(hit)
        fits = kept.add_window(holder, blocks.window_of(holder), outline)
        windows += fits
        misfits += not fits
    for section in outline.failed[-_OTHER_TAILS:]:
        kept.add_section(section)
        kept.add_tail(section)


class _Blocks:
    """The blocks at the lines of a scan, each found once."""

    def __init__(self, data: bytes, hits: list[Hit]) -> None:
        self._reader = Reader(data)
        self._in_order = sorted(hits, key=lambda hit: hit.place.line)
        self._numbers = [hit.place.line for hit in self._in_order]
        self._windows: dict[int, Window] = {}

    def window_of(self, hit: Hit) -> Window:
        """The block at a line."""
        window = self._windows.get(hit.place.line)
        if window is None:
            window = self._windows[hit.place.line] = self._reader.window(hit.place, hit.worth.rules)
        return window

    def holder_of(self, hit: Hit) -> Hit:
        """The line whose block holds this one, since what a block holds is no failure of its own."""
        line = hit.place.line
        index = bisect_left(self._numbers, line)
        for above in self._in_order[max(0, index - _HOLDERS) : index]:
            reach = max((rule.max for rule in above.worth.rules), default=0)
            if above.place.line + reach > line and self.window_of(above).by_rule and self.window_of(above).end >= line:
                return above
        return hit


class _Kept:
    """The lines kept so far, by number, and the room that is left."""

    def __init__(self, data: bytes, max_bytes: int) -> None:
        self.data = data
        self.room = max_bytes - 2 * _GAP
        self.lines: dict[int, str] = {}
        self.covered: set[int] = set()
        self.claimed: set[int] = set()
        self.inside: set[int] = set()
        """Lines of a long block that are left out without a word, for the block goes on."""

    def holds(self, hit: Hit) -> bool:
        """Whether the line was taken with a block that holds it; where words alone made that, a rule may see more."""
        line = hit.place.line
        return line in self.claimed or (line in self.covered and not hit.worth.rules)

    def add_places(self, places: Iterable[Place]) -> None:
        """Keep single lines."""
        self._add({place.line: self._line(place) for place in places})

    def add_section(self, section: Section) -> None:
        """Keep what the envelope says about a command."""
        if section.command:
            places = [section.begin, *section.marks, *([section.end] if section.end else [])]
            self.add_places(place for place in places if place.at < len(self.data))

    def add_tail(self, section: Section) -> None:
        """Keep how a command ended."""
        end = section.end
        if end is None or not section.command:
            return
        wanted: dict[int, str] = {}
        line, stop, full = end.line, end.at, 0
        while full < _TAIL_LINES and stop > section.begin.at and line - 1 > section.begin.line:
            begin = self.data.rfind(b"\n", 0, stop - 1) + 1
            line -= 1
            text = text_at(self.data, begin, stop - 1)
            wanted[line] = text
            full += bool(text.strip())
            stop = begin
            if end.line - line > 3 * _TAIL_LINES:
                break
        self._add(wanted)

    def add_window(self, hit: Hit, window: Window, outline: Outline) -> bool:
        """Keep the block at a line with its surroundings; False where it does not fit."""
        first, last = max(0, window.start - _ABOVE), window.end + _BELOW
        wanted = {number: window.lines[number] for number in range(first, last + 1) if number in window.lines}
        left_out: set[int] = set()
        if window.end - window.start > _LONG_BLOCK:
            left_out = set(range(window.start + _BLOCK_HEAD, window.end - _BLOCK_TAIL))
            wanted = {number: text for number, text in wanted.items() if number not in left_out}
        if window.title is not None:
            wanted[window.title.line] = self._line(window.title)
        echo = outline.echoes.get(hit.worth.shape)
        if echo is not None:
            wanted[echo.line] = self._line(echo)
        if not self._add(wanted):
            return False
        self.inside |= left_out
        (self.claimed if window.by_rule else self.covered).update(range(window.start, window.end + 1))
        self.claimed.add(hit.place.line)
        self.add_section(hit.section)
        return True

    def _line(self, place: Place) -> str:
        end = self.data.find(b"\n", place.at)
        return text_at(self.data, place.at, len(self.data) if end < 0 else end)

    def _add(self, wanted: dict[int, str]) -> bool:
        new = {number: text for number, text in wanted.items() if number not in self.lines}
        cost = sum(len(text.encode("utf-8", "replace")) + 1 for text in new.values())
        cost += _GAP * sum(1 for number in new if number - 1 not in new and number - 1 not in self.lines)
        if cost > self.room:
            return False
        self.room -= cost
        self.lines |= new
        return True

    def joined(self, outline: Outline) -> tuple[str, list[int]]:
        """The kept lines, each gap as one line that counts what it leaves out."""
        out: list[str] = []
        line_map: list[int] = []
        position = 0
        for number in [*sorted(self.lines), outline.lines]:
            gap = number - position
            if gap > 0 and not (position in self.inside and number - 1 in self.inside):
                full = 0 if _over(position, outline.failed) else gap
                out.append(ELIDED.format(lines=gap, full=full))
                line_map.append(position + 1)
            if number < outline.lines:
                out.append(self.lines[number])
                line_map.append(number + 1)
            position = number + 1
        return hide_announced("\n".join(out), self.data), line_map

    def hide_private_keys(self) -> None:
        """The bodies of private keys out, whose first line may not have been kept."""
        for lines in private_key_lines(self.data):
            for number in lines:
                if number in self.lines:
                    self.lines[number] = private_key_placeholder()


def _over(line: int, failed: list[Section]) -> bool:
    """Whether a failing command says nothing more from `line` on."""
    return any(section.end is not None and section.content_end < line < section.end.line for section in failed)
