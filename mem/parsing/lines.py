"""What a line is by its words: classes for the ranking, and the rules that may begin there.

Only lines with a hint (one automaton over the whole text) meet the patterns. The classes of
the others are found where somebody asks for them, which is near a candidate.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import accumulate

from ahocorasick_rs import BytesAhoCorasick, Implementation

from mem.parsing.patterns import PatternSet
from mem.parsing.rules import Classes, Envelopes, Rule, load, tool_rules

_CLASSIFIED = 1200
_WORD = -1
_REMEMBERED = 4096
LINE_FEED = 10
"""A hint may begin or end with it, to stand at the beginning or the end of a line only."""


class Classifier:
    """Finds lines worth a look, their classes, and the rules anchored in them."""

    def __init__(self, classes: Classes, rules: tuple[Rule, ...]) -> None:
        self.names = {entry.name: 1 << number for number, entry in enumerate(classes.line_class)}
        self._bits = [self.names[entry.name] for entry in classes.line_class for _ in entry.any]
        self._classes = PatternSet(item for entry in classes.line_class for item in entry.any)
        self.hints = set(classes.hints) | {hint for rule in rules for hint in rule.hints}
        self._hints = _finder(telling(self.hints))
        self._anchors = _Anchors(rules, classes.hints)
        # A line is met up to four times: by the scan, by the block around it, and by the page of what was kept.
        self._bits_of = lru_cache(_REMEMBERED)(self._bits_in)
        self._anchored = lru_cache(_REMEMBERED)(self._anchors.of)

    def hinted(self, lines: list[str]) -> list[int]:
        """The lines in which some hint stands, in order."""
        raw = [line.encode() for line in lines]
        starts = [*accumulate((len(line) + 1 for line in raw), initial=1)]
        text = b"\n%b\n" % b"\n".join(raw).lower()
        found: set[int] = set()
        for _, start, _ in self._hints.find_matches_as_indexes(text):
            found.add(start + (text[start] == LINE_FEED))
        ordered: list[int] = []
        for start in sorted(found):
            if not ordered or start >= starts[ordered[-1] + 1]:
                ordered.append(bisect_right(starts, start) - 1)
        return ordered

    def classes_of(self, line: str) -> int:
        """The class bits of `line`, by its first and last characters."""
        return self._bits_of(_cut(line))

    def forget(self) -> None:
        """Forget the lines of the last text: what a text costs must not depend on those before it."""
        self._bits_of.cache_clear()
        self._anchored.cache_clear()

    def _bits_in(self, line: str) -> int:
        bits = 0
        for hit in self._classes.match(line):
            bits |= self._bits[hit]
        return bits

    def rules_of(self, line: str) -> tuple[int, ...]:
        """The numbers of the rules whose anchor stands in `line`, in their order."""
        return self._anchored(_cut(line))[0]

    def anchored(self, line: str) -> tuple[tuple[int, ...], bool]:
        """The same, and whether a hint stands in `line` without which no class tells a failure."""
        return self._anchored(_cut(line))


class _Anchors:
    """The anchors of all rules, those apart that no hint in a line calls for.

    One automaton of all of them would have more states than fit in its memory, and be built anew over and over.
    """

    def __init__(self, rules: tuple[Rule, ...], words: Iterable[str]) -> None:
        self._rules = rules
        by_hint: dict[str, list[int]] = defaultdict(list)
        for word in words:
            by_hint[word] = [_WORD]
        for number, rule in enumerate(rules):
            for hint in sorted(set(rule.hints)):
                by_hint[hint].append(number)
        self._hints = _finder(by_hint)
        self._called = [tuple(by_hint[hint]) for hint in sorted(by_hint)]
        self._sets: dict[tuple[int, ...], PatternSet] = {}

    def of(self, line: str) -> tuple[tuple[int, ...], bool]:
        """The numbers of the rules whose anchor stands in `line`, in their order; whether one of the words does."""
        raw = b"\n%b\n" % line.encode().lower()
        called = {self._called[hint] for hint, _, _ in self._hints.find_matches_as_indexes(raw, overlapping=True)}
        found: set[int] = set()
        worded = False
        for numbers in called:
            rules = numbers
            if numbers[0] == _WORD:
                worded, rules = True, numbers[1:]
            if rules:
                found.update(rules[index] for index in self._set_of(rules).match(line))
        return tuple(sorted(found)), worded

    def _set_of(self, numbers: tuple[int, ...]) -> PatternSet:
        patterns = self._sets.get(numbers)
        if patterns is None:
            patterns = self._sets[numbers] = PatternSet(self._rules[number].anchor for number in numbers)
        return patterns


def _cut(line: str) -> str:
    if len(line) <= _CLASSIFIED:
        return line
    return f"{line[: _CLASSIFIED // 2]} {line[-_CLASSIFIED // 2 :]}"


def _finder(hints: Iterable[str]) -> BytesAhoCorasick:
    return BytesAhoCorasick([hint.encode() for hint in sorted(hints)], implementation=Implementation.DFA)


def telling(hints: Iterable[str]) -> list[str]:
    """Those hints in which no other stands: where one of all stands, one of these does."""
    ordered = sorted(hints)
    finder = _finder(ordered)
    return [
        hint
        for number, hint in enumerate(ordered)
        if all(found == number for found, _, _ in finder.find_matches_as_indexes(hint.encode(), overlapping=True))
    ]


@cache
def hint_finder() -> BytesAhoCorasick:
    """Finds, in lowered bytes, all that makes a line of a log worth a look: hints and what envelopes write."""
    return _finder(telling(classifier().hints | set(load("envelopes.toml", Envelopes).hints)))


@cache
def classifier() -> Classifier:
    """The classifier of the packaged rules."""
    return Classifier(load("classes.toml", Classes), tool_rules())


class Bits:
    """The class bits by line number, found when first asked for."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._known: dict[int, int] = {}
        self._by_text: dict[str, int] = {"": 0}

    def __getitem__(self, number: int) -> int:
        bits = self._known.get(number)
        if bits is None:
            line = self._lines[number]
            bits = self._by_text.get(line)
            if bits is None:
                bits = classifier().classes_of(line) if line.strip() else 0
                self._by_text[line] = bits
            self._known[number] = bits
        return bits

    def __len__(self) -> int:
        return len(self._lines)


def anchors(lines: list[str], hinted: list[int]) -> dict[int, tuple[int, ...]]:
    """The rule numbers of the hinted lines that have any."""
    of = classifier().rules_of
    return {number: rules for number in hinted if (rules := of(lines[number]))}
