"""Whether memories bear out what a model wrote: each name, number and negation, and most of the wording."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from mem.parsing.likeness.lexicon import Lexicon, lexicon
from mem.parsing.likeness.reading import Bound, Reading, read
from mem.parsing.sentences import sentences

_REMEMBERED = 2048
_PREFIX = 5
"""So many letters at the beginning make two forms of one word."""
_PAUSE = ","
# What stands behind is denied, as by "not"; between two lessons that is told by the order of their terms.
_INSTEAD = re.compile(r",?\s*\b(?:instead of|rather than|in place of)\s", re.IGNORECASE)
_ALONE = re.compile(r"\b(?:alone|solely|exclusively|merely)\b", re.IGNORECASE)
_COUNTED = re.compile(r"(\d+(?:[.,]\d+)*)(?:%|[a-z]{1,3})?\s+([^\W\d_]+)(?:\s+([^\W\d_]+))?")


class _Rules(NamedTuple):
    share: float
    window: int
    clauses: re.Pattern[str]
    wording: frozenset[str]


def supported(text: str, memories: Sequence[str]) -> bool:
    """Whether every clause of `text` is borne out by one of `memories`, by a few of its sentences in a row."""
    clauses = [clause for sentence in sentences(text) for clause in _clauses(sentence)]
    windows = [window for memory in memories for window in _windows(memory)]
    return bool(clauses) and all(any(_bears_out(window, clause) for window in windows) for clause in clauses)


def _clauses(sentence: str) -> list[str]:
    """The clauses of a sentence; a part that says too little alone stays with the one before."""
    parts: list[str] = []
    for part in _rules().clauses.split(sentence):
        if parts and len(_telling(_read(part))) < 2:
            parts[-1] = f"{parts[-1]}, {part}"
        elif part.strip():
            parts.append(part)
    return parts


@lru_cache(_REMEMBERED)
def _windows(memory: str) -> tuple[str, ...]:
    """Runs of sentences of a memory, the short ones first."""
    found = sentences(memory)
    sizes = range(1, min(_rules().window, len(found)) + 1)
    return tuple(" ".join(found[at : at + size]) for size in sizes for at in range(len(found) - size + 1))


@lru_cache(_REMEMBERED * 4)
def _bears_out(window: str, clause: str) -> bool:
    said, known = _read(clause), _read(window)
    words = lexicon()
    return (
        _wording_holds(said, known)
        and _numbers_hold(said, known, _counting(clause))
        and _negations_hold(said, known)
        and _directions_hold(said, known, words)
        and _order_holds(said, known, words)
    )


def _read(text: str) -> Reading:
    return read(_ALONE.sub("only", _INSTEAD.sub(", not ", text)))


def _telling(reading: Reading) -> frozenset[str]:
    """The terms of a text that tell something: no number, none that names nothing."""
    empty = lexicon().prose | _rules().wording
    return frozenset(term for term in reading.terms if not term.startswith("#") and term not in empty)


def _wording_holds(said: Reading, known: Reading) -> bool:
    """Whether all that is named is known, and so are most of the other words."""
    if any(not _is_known(term, known.terms) for term in _telling(said)):
        return False
    content = [term for term in said.terms if not term.startswith("#")]
    found = [term for term in content if _is_known(term, known.terms)]
    if said.unspaced and len(said.unspaced & known.unspaced) < _rules().share * len(said.unspaced):
        return False
    return len(found) >= _rules().share * len(content) and bool(content or said.unspaced or said.numbers)


def _is_known(term: str, terms: frozenset[str]) -> bool:
    if term in terms:
        return True
    if len(term) < _PREFIX or not term.isalpha():
        return False
    return any(len(each) >= _PREFIX and (each.startswith(term) or term.startswith(each)) for each in terms)


class _Near(NamedTuple):
    """What stands by a number: behind it, next to it on both sides, and next but one."""

    behind: frozenset[str]
    next: frozenset[str]
    around: frozenset[str]


def _counting(text: str) -> frozenset[str]:
    """The numbers that stand right before what they count or go with, no grammar between."""
    words = lexicon()
    found = (
        (number, second if first in words.units else first)
        for number, first, second in _COUNTED.findall(text.casefold())
    )
    return frozenset(f"#{number}" for number, word in found if word and word not in words.grammar)


def _numbers_hold(said: Reading, known: Reading, counting: frozenset[str]) -> bool:
    """Whether each number is known, and counts or measures there what it does here."""
    if not said.numbers <= known.numbers:
        return False
    theirs = _near(known)
    return all(
        _belongs(near if number in counting else near._replace(behind=frozenset()), theirs.get(number, []))
        for number, each in _near(said).items()
        for near in each
    )


def _belongs(mine: _Near, places: Sequence[_Near]) -> bool:
    if not places or not mine.next:
        return True
    if mine.behind:
        return any(mine.behind & there.next for there in places)
    return any(mine.next & there.around or mine.around & there.next or not there.next for there in places)


def _near(reading: Reading) -> dict[str, list[_Near]]:
    """The telling terms by each number in each of its places, up to a pause."""
    telling = _telling(reading)
    found: dict[str, list[_Near]] = {}
    for at, term in enumerate(reading.sequence):
        if term.startswith("#"):
            behind, before = (
                [each for each in itertools.takewhile(_PAUSE.__ne__, side) if each in telling][:2]
                for side in (reading.sequence[at + 1 :], reading.sequence[:at][::-1])
            )
            near = _Near(frozenset(behind[:1]), frozenset(behind[:1] + before[:1]), frozenset(behind + before))
            found.setdefault(term, []).append(near)
    return found


def _negations_hold(said: Reading, known: Reading) -> bool:
    """Whether the same is negated, and whatever is narrowed is narrowed there."""
    if said.signs and known.signs and said.signs != known.signs:
        return False
    if not all(any(_alike(mine, theirs) for theirs in known.negated) for mine in said.negated):
        return False
    if not all(any(_alike(mine, theirs) for theirs in known.restrictions) for mine in said.restrictions):
        return False
    unsaid = [theirs for theirs in known.negated if not any(_alike(mine, theirs) for mine in said.negated)]
    return not any(theirs.term in said.terms and known.sequence.count(theirs.term) < 2 for theirs in unsaid)


def _alike(one: Bound, other: Bound) -> bool:
    if one.marker != other.marker:
        return False
    return one.term == other.term or (one.term in other.window and other.term in one.window)


def _directions_hold(said: Reading, known: Reading, words: Lexicon) -> bool:
    """Whether nothing is said to go the other way, and nothing is turned into its contrary by a prefix."""
    for axis in range(len(words.opposites)):
        mine = {(sign, what) for at, sign, what in said.directed if at == axis}
        theirs = {(sign, what) for at, sign, what in known.directed if at == axis}
        signs, others = {sign for sign, _ in mine}, {sign for sign, _ in theirs}
        if signs and others and not signs & others:
            return False
        if any((-sign, what) in theirs and (sign, what) not in theirs for sign, what in mine):
            return False
    if said.alone - known.alone:
        return False
    return not _contraries(said.terms - known.terms, known.terms, words.contrary)


def _contraries(mine: Iterable[str], theirs: frozenset[str], prefixes: Sequence[str]) -> bool:
    own = set(mine)
    return any(
        f"{prefix}{term}" in theirs or term.removeprefix(prefix) in theirs - {term}
        for term in own
        for prefix in prefixes
    )


def _order_holds(said: Reading, known: Reading, words: Lexicon) -> bool:
    """Whether what stands behind a word of order stands behind it there, and behind no contrary one."""
    contraries = {pair for one, other in words.contrary_order for pair in ((one, other), (other, one))}
    for mine in said.bound:
        same = [theirs for theirs in known.bound if theirs.marker == mine.marker]
        if any(mine.term in theirs.window or theirs.term in mine.window for theirs in same):
            continue
        if any((mine.marker, theirs.marker) in contraries and mine.term == theirs.term for theirs in known.bound):
            return False
        if mine.marker in words.sequence and same:
            return False
    return True


@cache
def _rules() -> _Rules:
    data = tomllib.loads(files(__package__).joinpath("grounded.toml").read_text(encoding="utf-8"))
    words = lexicon()
    return _Rules(
        data["share"],
        data["window"],
        re.compile("|".join(map(re.escape, data["clauses"]))),
        frozenset(words.term(word) for word in data["wording"].split()),
    )
