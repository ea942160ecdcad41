"""One pass over a log of any size: the lines that may tell what failed, and the commands around them.

Only lines in which some hint stands are looked at (one automaton over the bytes). What is remembered is bounded, so
that memory does not grow with the log and time grows with it evenly.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from math import log2

from mem.parsing.clean import Cleaner, uncoloured
from mem.parsing.cleaned import Command
from mem.parsing.lines import LINE_FEED, classifier, hint_finder
from mem.parsing.outline import Hit, Outline, Place, Section, best, sampled_hits, text_at
from mem.parsing.page import mask_of
from mem.parsing.rank import JUNK, ranking
from mem.parsing.rules import Marker
from mem.parsing.worth import Worth, worth_of

_CHUNK = 256 << 10
_OVERLAP = 128
_SECTION_HITS = 1500
_HITS, _HITS_KEPT = 2000, 500
_PASSED_HITS = 6
_FAILED = 40
_SHAPES = 5000
_CACHED, _CACHED_LENGTH = 60_000, 300
_MEASURES = re.compile(rb"\d+[.:]\d[\d.:]*")
_QUOTE_BYTES = 64 << 10
_TAIL_LINES = 40


class _LastMark(set[int]):
    """Remembers only the newest of the marks."""

    newest = -1

    def add(self, line: int, /) -> None:
        self.newest = line


class Scanner(Cleaner):
    """The state of one scan."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data
        self.out.marks = self.marks = _LastMark()
        self.here = Place(0, 0)
        self.section = Section(Place(0, 0), command=False)
        self.ended: Section | None = None
        self.before_cleanup: Section | None = None
        self.kept: list[Hit] = []
        self.failed: list[Section] = []
        self.open_ended: Section | None = None
        self.commands = 0
        self.done: Place | None = None
        self.echoes: dict[str, Place] = {}
        self.seen: dict[bytes, tuple[Worth | None, bool]] = {}
        self.structured = False
        self.looked_to = 0
        self.number, self.end_of_line = 0, -1
        self.quote_ends: list[int] = []
        self.weights = ranking().weights
        self.junk = mask_of(JUNK)

    def scan(self) -> Outline:
        """The outline of the log."""
        start = 0
        while start < len(self.data):
            stop = self._chunk_end(start)
            self._chunk(start, stop)
            whole = stop == len(self.data) or self.data[stop - 1] == LINE_FEED
            # A line longer than a chunk is cut: what a hint needs is read again.
            start = stop if whole else stop - _OVERLAP
        return self._finish(self.number + 1)

    def _chunk_end(self, start: int) -> int:
        stop = start + _CHUNK
        if stop >= len(self.data):
            return len(self.data)
        line = self.data.rfind(b"\n", start, stop)
        return line + 1 if line >= start else stop

    def _chunk(self, start: int, stop: int) -> None:
        """Look at the lines with a hint from byte `start` to `stop`."""
        data, number = self.data, self.number
        begun = start == 0 or data[start - 1] == LINE_FEED
        low = (b"\n" if begun else b" ") + data[start:stop].lower()
        base, counted = start - 1, 1
        for _, index, _ in hint_finder().find_matches_as_indexes(low):
            found = index + (low[index] == LINE_FEED)
            if base + found < self.end_of_line:
                continue
            begin = max(low.rfind(b"\n", 0, found) + 1, 1)
            number += low.count(b"\n", counted, begin)
            counted = begin
            first = base + begin if begin > 1 or begun else data.rfind(b"\n", 0, start) + 1
            end = data.find(b"\n", base + found)
            self.end_of_line = len(data) if end < 0 else end
            self._look(number, first, self.end_of_line)
        self.number = number + low.count(b"\n", counted)

    def _look(self, number: int, first: int, end: int) -> None:
        """Take in a line with a hint; one seen before that says nothing about commands is not read anew."""
        self.here = Place(number, first)
        raw = self.data[first:end] if end - first <= _CACHED_LENGTH else b""
        known = self.seen.get(raw) if self.until is None and self.timed is None else None
        if known is None:
            known = self._known(raw, number, first, end)
        worth, red = known
        if worth is None:
            return
        score = worth.score + ((self.weights["red"] + self.weights["red_share"]) if red else 0.0)
        self.section.hits.append(Hit(self.here, score, worth, self.section))
        if len(self.section.hits) > _SECTION_HITS:
            self.section.hits = sampled_hits(self.section.hits)

    def _known(self, raw: bytes, number: int, first: int, end: int) -> tuple[Worth | None, bool]:
        """The same for a line that differs from one seen before in times, places and versions alone."""
        if not raw or self.until is not None or self.timed is not None:
            return self._read(number, first, end)
        shape = _MEASURES.sub(b"9", raw)
        self.structured = False
        known = self.seen.get(shape) or self._read(number, first, end)
        if not self.structured:
            if len(self.seen) > _CACHED:
                self.seen.clear()
            self.seen[raw] = self.seen[shape] = known
        return known

    def _read(self, number: int, first: int, end: int) -> tuple[Worth | None, bool]:
        """What a line is worth, and whether it is red."""
        self.out.red.clear()
        self.structured = self.until is not None or self.timed is not None
        line = self.feed(number, text_at(self.data, first, end))
        if self.marks.newest == number:
            (self.section if self.section.command or self.ended is None else self.ended).marked(self.here)
        if not line or self.until is not None:
            return None, False
        return worth_of(line), number in self.out.red

    def _structure(self, number: int, line: str) -> str:
        self.structured = True
        return super()._structure(number, line)

    # What the envelope says, as it is read.

    def _open(self, number: int, name: str, marker: Marker) -> None:
        again = self.awaiting and self.start == number
        super()._open(number, name, marker)
        if not again:
            self._settle_ended()
            if not self.section.command:
                self._judge(self.section, number)
            self.section = Section(self.here, command=True)
            self.commands += 1

    def _closed(self, command: Command) -> None:
        super()._closed(command)
        del self.out.commands[:-1]
        self._settle_ended()
        self.ended, self.section = self.section, Section(self.here, command=False)
        self.ended.end, self.ended.status = self.here, command.status

    def _exit(self, number: int, status: int) -> None:
        first = self.start is None and not self.out.commands
        super()._exit(number, status)
        if first and self.ended is None and not self.section.command:
            self.section.command, self.commands = True, self.commands + 1
            self.ended, self.section = self.section, Section(self.here, command=False)
            self.ended.end, self.ended.status = self.here, status

    def _after(self, number: int, name: str, marker: Marker) -> None:
        before = self.section if self.start is not None else self.ended
        first = self.cleanup is None
        super()._after(number, name, marker)
        if first:
            self.before_cleanup = before

    def _settle_status(self, section: Section, status: int) -> None:
        section.status = status
        if status and section is not self.ended:  # its lines were judged before its outcome was known
            self._failed_after_all(section)

    def _failed_after_all(self, section: Section) -> None:
        """A section is known to have failed only after its lines were judged."""
        section.content_end = self._content_end(section)
        self.failed.append(section)
        for hit in self.kept:
            if hit.section is section:
                hit.score += self.weights["in_first_failing"]

    def _settle(self, status: int) -> None:
        section = self.ended if self.cleanup is None else self.before_cleanup
        if section is not None and section.status is None:
            self._settle_status(section, status)

    def _all_went_well(self) -> None:
        """The small text is asked again; here it would change nothing that is kept."""

    def _marker(self, number: int, marker: Marker, line: str) -> str:
        if marker.kind == "done":
            self.done = self.here
        return super()._marker(number, marker, line)

    def _ends_soon(self, number: int, marker: Marker) -> bool:  # noqa: ARG002 - here the place says where
        """Whether a quote that begins here also ends; each byte is looked at once for it."""
        limit = min(self.here.at + _QUOTE_BYTES, len(self.data))
        if marker.until is not None and limit > self.looked_to:
            begin = max(self.here.at, self.looked_to)
            position = self.data.rfind(b"\n", 0, begin) + 1
            for raw in self.data[position:limit].split(b"\n"):
                if b'"' in raw and marker.until.search(uncoloured(text_at(raw, 0, len(raw)))):
                    self.quote_ends.append(position)
                position += len(raw) + 1
            self.looked_to = limit
        index = bisect_right(self.quote_ends, self.here.at)
        return index < len(self.quote_ends) and self.quote_ends[index] <= limit

    def _bare(self, raw: bytes) -> str:
        return Cleaner().feed(0, text_at(raw, 0, len(raw)))

    # What a section that is over means for the lines in it.

    def _settle_ended(self) -> None:
        if self.ended is not None:
            self._judge(self.ended, self.here.line)
            self.ended = None

    def _judge(self, section: Section, end: int) -> None:
        section.end = section.end or self.here
        hits, section.hits = sampled_hits(section.hits), []
        section.content_end = section.end.line if section.command else end
        if section.command and section.status:
            section.content_end = self._content_end(section)
            self.failed.append(section)
            if len(self.failed) > _FAILED:
                del self.failed[_FAILED // 2]  # the first and the last few matter
        elif section.command and section.status == 0:
            self._remember_shapes(hits)
            hits = sorted(hits, key=best)[:_PASSED_HITS]
        elif section.command and section.end.line - section.begin.line > 2:
            self.open_ended = section
        self._follow(hits)
        for hit in hits:
            hit.score += self._position(hit, section)
        self.kept += hits
        if len(self.kept) > _HITS:
            self.kept = sorted(self.kept, key=best)[:_HITS_KEPT]

    def _follow(self, hits: list[Hit]) -> None:
        """Of a compiler's errors in one command the first counts most, as it does in the blocks."""
        led: set[str] = set()
        for hit in hits:
            rule = hit.worth.rules[0] if hit.worth.rules else None
            if rule is not None and rule.first:
                hit.score += self.weights["later"] - self.weights["rule"] if rule.tool in led else 0.0
                led.add(rule.tool)

    def _position(self, hit: Hit, section: Section) -> float:
        weights = self.weights
        if not section.command:
            return 0.0
        left = log2(1 + max(0, section.content_end - hit.place.line))
        score = weights["distance"] * left
        if section.status:
            first = section is self.failed[0]
            score += weights["in_first_failing"] if first else weights["in_other_failing"]
            score += weights["distance_failing"] * left
        else:
            score += weights["in_passed"] if section.status == 0 else 0.0
            score += weights["after_failure"] if self.failed else 0.0
        return score

    def _remember_shapes(self, hits: list[Hit]) -> None:
        for hit in hits:
            if hit.worth.strong and len(self.echoes) < _SHAPES:
                self.echoes.setdefault(hit.worth.shape, hit.place)

    def _content_end(self, section: Section) -> int:
        """The last line of a command that is neither blank nor the envelope's nor junk such as a summary."""
        end = section.end or self.here
        line, stop = end.line, end.at
        for _ in range(_TAIL_LINES):
            if stop <= section.begin.at:
                break
            begin = self.data.rfind(b"\n", 0, stop - 1) + 1
            line -= 1
            text = self._bare(self.data[begin : stop - 1])
            if text.strip() and not classifier().classes_of(text) & self.junk:
                return line
            stop = begin
        return end.line

    def _finish(self, lines: int) -> Outline:
        self.here = Place(lines, len(self.data) + 1)  # behind the last line, whether or not a line feed ends it
        self._close(lines, None)
        self._settle_ended()
        self._judge(self.section, lines)
        if not self.failed and self.open_ended is not None and self.out.verdict != 0:
            self._failed_after_all(self.open_ended)
        for hit in self.kept:
            if hit.worth.shape in self.echoes:
                hit.score += self.weights["seen_in_passed"]
            if not hit.section.command:
                hit.score += self.weights["distance"] * log2(1 + lines - hit.place.line)
                if self.commands and hit.section.begin.at == 0:
                    hit.score += self.weights["before_commands"]
        return Outline(lines, sorted(self.kept, key=best), self.failed, self.echoes, self.done)
