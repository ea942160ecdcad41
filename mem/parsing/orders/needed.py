"""What a text has to hold before a pattern can be found in it: pieces of words and signs, read off the pattern itself.

A prefilter: it may let pass what the pattern does not match, never the other way round. Nothing is asked for where the
reading of a pattern is not sure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Clause = frozenset[str]
"""One of these pieces has to be there: a run of small letters, or one sign."""

EDGE = " "
"""Before or behind a run: a word begins or ends there."""
UNSEEN = "\0"
"""Stands for a letter outside of ASCII: no text that the prefilter is asked about holds one."""

_OPENING = re.compile(r"\(\?(?:P<\w+>|[a-z-]*:)|\(")
_FLAGS = re.compile(r"\(\?[a-z-]+\)")
_CLASS = re.compile(r"\[\^?\]?(?:\\x\{[0-9a-fA-F]+\}|\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
_ESCAPED = re.compile(r"\\x\{([0-9a-fA-F]+)\}|\\x([0-9a-fA-F]{2})|\\(.)", re.DOTALL)
_GROUPING = re.compile(rf"{_CLASS.pattern}|\\.|[()]", re.DOTALL)
# Before and behind one of these stands no letter of the same word.
_EDGES = re.compile(
    r"\\b|\\[sW]|\\[^A-Za-z0-9]|[ ,:;'\"!<>=@`#/^$-]"
    r"|\[(?:[^]^\\A-Za-z0-9\x80-\U0010ffff]|\\[snW\[])*\]"
)
_REPEAT = re.compile(r"(?:([*?])|(\+)|\{(\d+)(?:,\d*)?\})\??")
_ENDS = {")", r")\b"}
_LEAST = (2, 3)
_COMMON_SIGNS = frozenset(".,:;-/'\"()`")


class Alternative(NamedTuple):
    """One way in which a pattern can be found: a pattern of its own, and what it needs, all of it."""

    pattern: str
    clauses: tuple[Clause, ...]


def alternatives(pattern: str) -> list[Alternative]:
    """A pattern `before(a|b|c)` as `before(a)` and so on, each with what it needs; any other one as it is."""
    reader = _Reader(pattern)
    whole = _either([each.clauses for each in reader.branches()])
    ways = reader.last or []
    if not ways or pattern[ways[-1][1] :] not in _ENDS:
        return [Alternative(pattern, tuple(whole))]
    before, behind = pattern[: ways[0][0]], pattern[ways[-1][1] :]
    return [Alternative(f"{before}{pattern[start:end]}{behind}", tuple(clauses)) for start, end, clauses in ways]


class _Found(NamedTuple):
    """What a part of a pattern needs; a letter is itself, and of all else it is told whether a word ends with it."""

    clauses: list[Clause]
    edge: bool = False
    letter: str = ""


class _Reader:
    """Reads a pattern once, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.last: list[tuple[int, int, list[Clause]]] | None = None
        self._ends = _closings(pattern)

    def branches(self, *, edge: bool = False, ended: bool = False) -> list[_Found]:
        """What each of the branches needs that stand here, up to the end of their group.

        `edge`: what is found begins a word; `ended`: it ends one.
        """
        found: list[_Found] = []
        spans: list[tuple[int, int, list[Clause]]] = []
        while True:
            start = self.at
            found.append(self._sequence(edge=edge, ended=ended))
            spans.append((start, self.at, found[-1].clauses))
            if self.at == len(self.pattern) or self.pattern[self.at] == ")":
                break
            self.at += 1
        if self.at < len(self.pattern):
            self.last = spans
        return found

    def _sequence(self, *, edge: bool, ended: bool) -> _Found:
        needed: list[Clause] = []
        run = EDGE if edge else ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            at = self.at
            found = self._item(edge=run == EDGE, ended=ended)
            optional, repeated = self._repeat()
            if found.letter and not optional:
                run += found.letter
                if not repeated:
                    continue
            needed += _run(f"{run}{EDGE}" if self._ended(at, ended=ended) and not found.letter else run)
            run = EDGE if found.edge and (run == EDGE or not optional) else ""
            needed += [] if optional else found.clauses
        return _Found(needed + _run(f"{run}{EDGE}" if ended else run), run == EDGE)

    def _item(self, *, edge: bool, ended: bool) -> _Found:
        """The next character in small, or what a group or a class needs."""
        start = self.at
        if flags := _FLAGS.match(self.pattern, start):
            self.at = flags.end()
            return _Found([], edge)
        if opening := _OPENING.match(self.pattern, start):
            self.at = opening.end()
            branches = self.branches(edge=edge, ended=self._ended(self._ends[start] + 1, ended=ended))
            self.at += 1
            return _Found(_either([each.clauses for each in branches]), all(each.edge for each in branches))
        is_edge = _EDGES.match(self.pattern, start) is not None
        if kind := _CLASS.match(self.pattern, start):
            self.at = kind.end()
            return _Found([], is_edge)
        if escaped := _ESCAPED.match(self.pattern, start):
            self.at = escaped.end()
            number, plain = escaped[1] or escaped[2], escaped[3]
            char = chr(int(number, 16)).lower() if number else "" if plain.isalnum() else plain
        else:
            char = "" if self.pattern[start] in ".^$" else self.pattern[start].lower()
            self.at += 1
        return _Found([], letter=char) if "a" <= char <= "z" else _Found(_sign(char), is_edge)

    def _ended(self, at: int, *, ended: bool) -> bool:
        """Whether no letter can follow there, where after the end of the group none can as `ended` says."""
        while at < len(self.pattern) and self.pattern[at] not in "|)":
            edge = _EDGES.match(self.pattern, at)
            if edge is None:
                return False
            repeat = _REPEAT.match(self.pattern, edge.end())
            if repeat is None or (repeat[1] is None and repeat[3] != "0"):
                return True
            at = repeat.end()
        return ended

    def _repeat(self) -> tuple[bool, bool]:
        """Whether what was read may be missing, and whether it may come several times."""
        found = _REPEAT.match(self.pattern, self.at)
        if found is None:
            return False, False
        self.at = found.end()
        return found[1] is not None or found[3] == "0", True


def _closings(pattern: str) -> dict[int, int]:
    """Where each group ends, by where it begins."""
    ends: dict[int, int] = {}
    open_: list[int] = []
    for found in _GROUPING.finditer(pattern):
        if found.group() == "(":
            open_.append(found.start())
        elif found.group() == ")":
            ends[open_.pop()] = found.start()
    return ends


def _either(branches: list[list[Clause]]) -> list[Clause]:
    if len(branches) == 1:
        return branches[0]
    if not all(branches):
        return []
    return [frozenset().union(*(min(each, key=frequency) for each in branches))]


def _run(letters: str) -> list[Clause]:
    # A single letter says something only where it is a word.
    return [frozenset({letters})] if len(letters) >= _LEAST[EDGE in letters] and letters != EDGE else []


def _sign(char: str) -> list[Clause]:
    if not char or char.isspace() or char.isdigit():
        return []
    if char.isascii():
        return [frozenset({char})]
    return [frozenset({UNSEEN})] if char.isalpha() else []


def frequency(clause: Clause) -> float:
    """About how often one of the pieces is met: short ones more often, whole words seldom."""
    return sum(map(_frequency, sorted(clause)))


def _frequency(piece: str) -> float:
    if is_run(piece):
        return 0.3 ** len(piece)
    return 0.0 if piece == UNSEEN else 0.02 if piece in _COMMON_SIGNS else 0.0005


def is_run(piece: str) -> bool:
    """Whether a piece is a run of letters, no sign."""
    return piece.strip(EDGE).isalpha()
