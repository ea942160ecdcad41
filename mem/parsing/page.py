"""A log ready to be searched: cleaned, with the classes of its lines and the rules anchored in them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from mem.parsing.clean import clean
from mem.parsing.cleaned import Cleaned, Command
from mem.parsing.lines import Bits, anchors, classifier
from mem.parsing.redact import hide_announced
from mem.parsing.rules import Rule

_PER_TEMPLATE = 3
_ANCHORS = 1200
_NO_DIGITS = dict.fromkeys(range(ord("0"), ord("9") + 1))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines `start` to `end`, inclusive, counted from 0; `rule` is None for the fallback."""

    start: int
    end: int
    anchor: int
    kind: str
    rule: Rule | None = None
    prefix: str = ""
    title: int | None = None
    telling: int | None = None
    """The line that says what failed, where it is not the anchor."""


@dataclass(slots=True)
class Page:
    """A cleaned log with the classes of its lines."""

    cleaned: Cleaned
    bits: Bits
    hinted: list[int]
    rules: dict[int, tuple[int, ...]]
    names: dict[str, int]
    lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.cleaned.lines

    def bit(self, *names: str) -> int:
        """The mask of several classes."""
        return mask_of(names)


@cache
def mask_of(names: tuple[str, ...]) -> int:
    """The mask of several classes."""
    return sum(classifier().names[name] for name in names)


def read(text: str) -> Page:
    """`text` cleaned and classified."""
    cleaned = clean(hide_announced(text))
    hinted = classifier().hinted(cleaned.lines)
    rules = anchors(cleaned.lines, hinted)
    return Page(cleaned, Bits(cleaned.lines), hinted, rules, classifier().names)


def indent_of(line: str) -> int:
    """The number of leading blanks."""
    return len(line) - len(line.lstrip())


def template_of(line: str) -> str:
    """What stays of a line when its numbers go: like lines have one template."""
    return line.strip()[:160].translate(_NO_DIGITS)[:80]


def suspects(page: Page) -> list[Command]:
    """The commands that failed; the last one where none is known to."""
    commands = page.cleaned.commands
    failed = [command for command in commands if command.status]
    if failed or not commands:
        return failed
    if page.cleaned.verdict == 0:
        return []
    open_ended = [one for one in commands if one.status is None and one.end - one.start > 2]
    return open_ended[-1:]


def sampled(page: Page, anchors: list[int]) -> list[int]:
    """Of like lines only the first and the last few, and no more than a log can need."""
    groups: dict[str, list[int]] = defaultdict(list)
    for line in anchors:
        groups[template_of(page.lines[line])].append(line)
    kept: set[int] = set()
    for group in groups.values():
        kept.update(group[:_PER_TEMPLATE])
        kept.update(group[-_PER_TEMPLATE:])
    ordered = sorted(kept)
    if len(ordered) > _ANCHORS:
        ordered = ordered[: _ANCHORS // 2] + ordered[-_ANCHORS // 2 :]
    return ordered
