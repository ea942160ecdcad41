"""What a failure looks like: the lines of the best blocks as a reader would quote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from mem.domain.signatures import Signature
from mem.parsing.clean import cap
from mem.parsing.distill import condensed
from mem.parsing.evidence import is_prose, told
from mem.parsing.extract import SIGNATURES, ranked, scored, signature
from mem.parsing.fallback import may_begin
from mem.parsing.gist import is_error_record
from mem.parsing.key import Key
from mem.parsing.mask import mask
from mem.parsing.page import Page, read
from mem.parsing.rank import Scored
from mem.parsing.redact import redact

_WIDTH = 300
_SPEAKER = re.compile(r"^\W*[A-Za-z][\w.-]{1,20}(?: [A-Z][\w.-]{0,20})?: ")
_WEAK_FLOOR = 0.5
"""Between this and the floor of a signature lies what may be the failure, where something is known to have failed."""
_WEAK_FAILED = -2.0
_WEAK_BLOCKS = 2
_ENDING = 4
_THIN = 12
"""Fewer words find nothing by themselves: a status, the name of a test."""
_NEAR = 2


class Quoted(NamedTuple):
    """A line as a reader would quote it; `line` counts from 1 in the text, `rank` is that of its block, from 0."""

    text: str
    line: int
    rank: int


def failure_lines(text: str, *, limit: int) -> list[str]:
    """At most `limit` redacted lines of the best blocks, best first, without frames and repeats."""
    return [quoted.text for quoted in quote_failures(text, limit=limit)]


def quote_failures(text: str, *, limit: int) -> list[Quoted]:
    """The same, each with its place."""
    return Reading(text).failures(limit=limit)


class Reading:
    """A text read once, to be quoted in several ways."""

    def __init__(self, text: str) -> None:
        body, self._line_map = condensed(text.encode("utf-8", "surrogatepass"))
        self._page = read(body)

    @cached_property
    def _ranked(self) -> list[tuple[Scored, Key]]:
        return ranked(self._page, SIGNATURES)

    @property
    def _blocks(self) -> list[Scored]:
        return [one for one, _ in self._ranked]

    @property
    def signatures(self) -> list[Signature]:
        """What `extract` finds in the same text."""
        return [signature(self._page, one, key, self._line_map) for one, key in self._ranked]

    @cached_property
    def is_talk(self) -> bool:
        """Whether people wrote most of it."""
        return _is_talk(self._page)

    @property
    def is_known(self) -> bool:
        """Whether a tool's rule, not words alone, tells one of the failures."""
        return any(one.candidate.rule is not None for one in self._blocks)

    @property
    def has_failed(self) -> bool:
        """Whether it says of itself that something failed: by how it ended, by a status, or by a summary."""
        page = self._page
        return bool(page.cleaned.verdict) or told(page) or any(command.status for command in page.cleaned.commands)

    def failures(self, *, limit: int) -> list[Quoted]:
        """At most `limit` lines of the best blocks, best first."""
        return _distinct(_quoted(self._page, self._line_map, self._blocks), limit)

    def telling(self, *, limit: int, around: bool = False) -> list[Quoted]:
        """The same, what frames the failure last, and few words joined by what stands next to them.

        That is what may tell a failure, too; with `around` it is all that is no frame and no success.
        """
        page = self._page
        placed = [(rank, *line) for rank, one in enumerate(self._blocks) for line in _lines(page, one)]
        framing = page.bit("vague", "wrapper", "summary", "heading", "testcase")
        placed.sort(key=lambda one: bool(page.bits[one[1]] & framing) or one[2].endswith(":"))
        if placed and sum(len(line.split()) for _, _, line in placed) < _THIN:
            near = _around(page, [number for _, number, _ in placed])
            placed += [(len(self._blocks), *line) for line in near if around or may_begin(page.bits[line[0]])]
        return _distinct((Quoted(line, self._line_map[number], rank) for rank, number, line in placed), limit)

    def weakly(self, *, limit: int, known: bool) -> list[Quoted]:
        """What may tell the failure in the output of something that failed, where no line tells it for certain.

        Lines that are no failure by themselves. `known`: something else says that this is about a failure; then they
        are taken even where the output does not say how it ended.
        """
        page, failed = self._page, self.has_failed
        if page.cleaned.verdict == 0 or not (failed or known) or self.is_talk:
            return []
        floor = _WEAK_FAILED if failed else _WEAK_FLOOR
        likely = [one for one in scored(page) if one.score >= floor][:_WEAK_BLOCKS]
        return _distinct(_quoted(page, self._line_map, likely), limit)

    def levelled(self, *, limit: int) -> list[Quoted]:
        """The records that call themselves errors, where nothing else tells a failure."""
        return [] if self.is_talk else _levelled(self._page, self._line_map, limit)

    def ending(self, *, limit: int) -> list[Quoted]:
        """The masked end of the output of something that failed."""
        if self._page.cleaned.verdict == 0 or not self.has_failed or self.is_talk:
            return []
        return _ending(self._page, self._line_map, limit)

    def output_lines(self, *, most: int) -> list[tuple[int, str]]:
        """The lines of an output, numbered from 1, that may tell a failure; none of talk or of what succeeded.

        Of a long one the first and the last `most` together.
        """
        page = self._page
        if page.cleaned.verdict == 0 or self.is_talk:
            return []
        calm = page.bit("passed", "low_level", "quotes", "traceback", "frame")
        numbers = [
            number
            for number, line in enumerate(page.lines)
            if line.strip() and not page.bits[number] & calm and not is_prose(line)
        ]
        if len(numbers) > most:
            numbers = numbers[: most // 2] + numbers[-(most // 2) :]
        return [(self._line_map[number], cap(page.lines[number])) for number in numbers]


def _quoted(page: Page, line_map: Sequence[int], blocks: Iterable[Scored]) -> Iterator[Quoted]:
    for rank, one in enumerate(blocks):
        for number, line in _lines(page, one):
            yield Quoted(line, line_map[number], rank)


def _distinct(lines: Iterator[Quoted], limit: int) -> list[Quoted]:
    found: dict[str, Quoted] = {}
    for quoted in lines:
        if len(found) >= max(limit, 0):
            break
        found.setdefault(quoted.text, quoted)
    return list(found.values())


def _lines(page: Page, one: Scored) -> Iterator[tuple[int, str]]:
    """The telling lines of one block with their numbers, its anchor first where it is no frame's header."""
    skip = page.bit("frame", "ruler", "traceback")
    start, end = one.candidate.start, one.candidate.end
    rule = one.candidate.rule
    block = redact("\n".join(cap(page.lines[line]) for line in range(start, end + 1))).text
    for offset, line in enumerate(block.split("\n")):
        number = min(start + offset, end)
        if not line.strip() or page.bits[number] & skip:
            continue
        if rule is not None and rule.frame is not None and line[:1].isspace():
            continue
        yield number, " ".join(line.split())[:_WIDTH]


def _around(page: Page, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The lines next to these that say something, the nearest first."""
    junk = page.bit("frame", "ruler", "traceback", "quotes", "passed", "low_level", "summary", "wrapper")
    taken = set(numbers)
    near = [(abs(step), at, at + step) for at in numbers for step in range(-_NEAR, _NEAR + 1)]
    for _, _, number in sorted(near):
        if number in taken or not 0 <= number < len(page.lines) or number in page.cleaned.marks:
            continue
        taken.add(number)
        if page.lines[number].strip() and not page.bits[number] & junk:
            yield number, " ".join(redact(cap(page.lines[number])).text.split())[:_WIDTH]


def _levelled(page: Page, line_map: Sequence[int], limit: int) -> list[Quoted]:
    """The lines that their logger calls errors."""
    lines = ((number, line) for number, line in enumerate(page.lines) if is_error_record(line))
    return _distinct(
        (Quoted(" ".join(redact(cap(line)).text.split())[:_WIDTH], line_map[number], 0) for number, line in lines),
        limit,
    )


def _ending(page: Page, line_map: Sequence[int], limit: int) -> list[Quoted]:
    """The last lines that say something, masked, in their order."""
    junk = page.bit("summary", "wrapper", "ruler", "zero", "vague", "heading", "usage", "passed", "quotes", "frame")
    found: list[Quoted] = []
    for number in range(len(page.lines) - 1, -1, -1):
        line = page.lines[number]
        if line.strip() and not page.bits[number] & junk and number not in page.cleaned.marks:
            found.append(Quoted(" ".join(mask(redact(cap(line)).text).split())[:_WIDTH], line_map[number], 0))
        if len(found) >= min(limit, _ENDING):
            break
    return found[::-1]


def _is_talk(page: Page) -> bool:
    """Whether people wrote most of it."""
    full = [line for line in page.lines if line.strip()]
    return 2 * sum(is_prose(line) or is_prose(_SPEAKER.sub("", line)) for line in full) >= len(full)
