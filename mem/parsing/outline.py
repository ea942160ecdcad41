"""What a scan of a log remembers: places, lines that may tell the failure, and the commands that hold them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from mem.parsing.clean import cap
from mem.parsing.decode import decode
from mem.parsing.worth import Worth

_LONG = 64 << 10
_MARKS = 4
_PER_SHAPE = 3
_SECTION_KEPT = 300


@dataclass(slots=True)
class Place:
    """A line: its number, from 0, and the byte at which it begins."""

    line: int
    at: int


@dataclass(slots=True)
class Hit:
    """A line that may tell the failure, with what speaks for it."""

    place: Place
    score: float
    worth: Worth
    section: Section


@dataclass(slots=True)
class Section:
    """A command, or what stands between two; `status` is None where nothing tells it."""

    begin: Place
    command: bool
    end: Place | None = None
    status: int | None = None
    first_marks: list[Place] = field(default_factory=list)
    last_marks: list[Place] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    content_end: int = 0

    def marked(self, place: Place) -> None:
        """Remember a line of the envelope; the first and the last few of a command matter."""
        if len(self.first_marks) < _MARKS:
            self.first_marks.append(place)
        else:
            self.last_marks.append(place)
            if len(self.last_marks) > _MARKS * 4:
                del self.last_marks[:-_MARKS]

    @property
    def marks(self) -> list[Place]:
        """The remembered lines of the envelope."""
        return [*self.first_marks, *self.last_marks[-_MARKS:]]


@dataclass(slots=True)
class Outline:
    """What a scan found, best first."""

    lines: int
    hits: list[Hit]
    failed: list[Section]
    echoes: dict[str, Place]
    done: Place | None


def text_at(data: bytes, first: int, end: int) -> str:
    """The line from `first` to `end`; of a very long one its ends, as all that is looked at later."""
    raw = data[first:end]
    if len(raw) > _LONG:
        raw = raw[: _LONG // 2] + b" " + raw[-_LONG // 2 :]
    try:
        return cap(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return cap(decode(raw).replace("\n", " "))


def best(hit: Hit) -> tuple[float, int]:
    """The order of hits."""
    return -hit.score, hit.place.line


def sampled_hits(hits: list[Hit]) -> list[Hit]:
    """Of like lines only the first and the last few, and no more than a section can need."""
    if len(hits) <= _PER_SHAPE:
        return hits
    by_shape: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_shape[hit.worth.shape].append(hit)
    kept = []
    for like in by_shape.values():
        kept += like if len(like) <= 2 * _PER_SHAPE else like[:_PER_SHAPE] + like[-_PER_SHAPE:]
    if len(kept) > _SECTION_KEPT:
        kept.sort(key=lambda hit: hit.place.line)
        last = kept[-_SECTION_KEPT // 3 :]
        kept = sorted(kept[: -_SECTION_KEPT // 3], key=best)[: 2 * _SECTION_KEPT // 3] + last
    return sorted(kept, key=lambda hit: hit.place.line)
