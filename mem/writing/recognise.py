"""Entries of the lexicon whose lines stand in an output, though with other names and numbers in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import log
from typing import NamedTuple

from mem.domain.accepting import SymptomLine
from mem.parsing.excerpts import Reading
from mem.parsing.gist import gist
from mem.parsing.redact import redact
from mem.writing.lexicon import Entry, Told, lexicon

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*|(?<!\d)[45]\d\d(?!\d)")
_WHOLE = 20.0
"""About what a typical line of an entry is worth that stands there in full."""
_COMMON = 100
"""A token in so many lines leads to none of them; it still counts once another has led there."""


class RecognitionLimits(NamedTuple):
    """From where on a line counts for an entry, and how much of it goes into a projection."""

    told: float = 0.6
    """The memory tells of an entry where it is at least so sure of it as of the first, by this share."""
    told_worth: float = 1.0
    share: float = 0.35
    """For an entry that the memory tells of, too."""
    share_alone: float = 0.5
    worth: float = 6.0
    score: float = 0.4
    most_lines: int = 400
    lines: int = 2
    beside: float = 0.6
    """A further line is taken where it is at least so telling as the first, by this share."""
    entries: int = 1
    entry_lines: int = 2
    """So many lines of an entry go in: those that say most of what the recognised one says."""


class Seen(NamedTuple):
    """The most telling lines of the evidence, and how the same failure looks elsewhere.

    `alone`: they tell it by themselves, whatever the memory says.
    """

    lines: list[SymptomLine]
    widened: list[SymptomLine]
    alone: bool


class Recognised(NamedTuple):
    """A line of an output (its place in the given lines) that tells an entry.

    `share` (0 to 1) is how much of what the entry shows stands there, `worth` how telling that is.
    """

    entry: Entry
    share: float
    worth: float
    place: int


class Recogniser:
    """Compares the lines of an output with those that entries show."""

    def __init__(self, entries: Sequence[Entry], *, share: float, worth: float) -> None:
        self._share, self._least = share, worth
        self._shows = [(entry, tokens_of(line)) for entry in entries for line in entry.shows]
        counts: dict[str, int] = defaultdict(int)
        for _, tokens in self._shows:
            for token in tokens:
                counts[token] += 1
        total = len(self._shows)
        self._worth = {token: log((1 + total) / count) for token, count in counts.items()}
        self._whole = [sum(self._worth[token] for token in sorted(tokens)) for _, tokens in self._shows]
        self._by_token: dict[str, list[int]] = defaultdict(list)
        for number, (_, tokens) in enumerate(self._shows):
            for token in tokens:
                if counts[token] <= _COMMON:
                    self._by_token[token].append(number)

    def recognise(self, lines: Iterable[str]) -> list[Recognised]:
        """The entries that `lines` show, each at its most telling line, the most telling first."""
        best: dict[str, Recognised] = {}
        for place, line in enumerate(lines):
            for number, worth in self._met(tokens_of(line)):
                share = worth / self._whole[number]
                if share < self._share or worth < self._least:
                    continue
                entry = self._shows[number][0]
                found = best.get(entry.id)
                if found is None or share * worth > found.share * found.worth + 1e-9:
                    best[entry.id] = Recognised(entry, round(share, 4), round(worth, 4), place)
        return sorted(best.values(), key=lambda one: (-round(one.share * one.worth, 4), one.place, one.entry.id))

    def share_in(self, line: str, tokens: frozenset[str]) -> float:
        """How much of what a line of an entry says stands among `tokens`."""
        own = sorted(tokens_of(line))
        whole = sum(self._worth[token] for token in own)
        return sum(self._worth[token] for token in own if token in tokens) / whole if whole else 0.0

    def _met(self, tokens: frozenset[str]) -> Iterator[tuple[int, float]]:
        """The lines of entries that share a telling token with these, each with what all they share is worth."""
        met: dict[int, float] = defaultdict(float)
        common: list[str] = []
        for token in sorted(tokens):
            numbers = self._by_token.get(token)
            if numbers is None:
                if token in self._worth:
                    common.append(token)
                continue
            worth = self._worth[token]
            for number in numbers:
                met[number] += worth
        for number, worth in met.items():
            wanted = self._shows[number][1]
            yield number, worth + sum(self._worth[token] for token in common if token in wanted)


def tokens_of(line: str) -> frozenset[str]:
    """The words and statuses of a line in lower case; other numbers are volatile."""
    return frozenset(found.group().lower() for found in _TOKEN.finditer(line))


class _Found(NamedTuple):
    score: float
    entry: Entry
    sha: str
    line: int
    text: str
    alone: bool

    def quoted(self) -> SymptomLine:
        """The line, redacted, without what its logger set around it."""
        return SymptomLine(text=redact(gist(self.text)).text, origin="evidence", evidence_sha=self.sha, line=self.line)


def recognise(evidence: Sequence[tuple[str, Reading]], told: Sequence[Told], limits: RecognitionLimits) -> Seen:
    """What of the lexicon the evidence (shas with readings) shows; an entry that is told of as well counts for more."""
    sure = {one.entry.id: one.score / told[0].score for one in told if one.score >= limits.told * told[0].score}
    best: dict[str, _Found] = {}
    for sha, reading in evidence:
        lines = reading.output_lines(most=limits.most_lines)
        for one in recogniser(limits.share, limits.worth).recognise(line for _, line in lines):
            if one.share < limits.share_alone and one.entry.id not in sure:
                continue
            score = round(one.share * one.worth / _WHOLE + limits.told_worth * sure.get(one.entry.id, 0.0), 4)
            if score >= limits.score and (one.entry.id not in best or score > best[one.entry.id].score):
                best[one.entry.id] = _Found(score, one.entry, sha, *lines[one.place], one.share >= limits.share_alone)
    ordered = sorted(best.values(), key=lambda found: (-found.score, found.entry.id))
    widened = [
        SymptomLine(text=line, origin="lexicon", entry=found.entry.id)
        for found in ordered[: limits.entries]
        for line in _like(found, limits)
    ]
    telling = [found.quoted() for found in ordered[: limits.lines] if found.score >= limits.beside * ordered[0].score]
    return Seen(telling, widened, any(found.alone for found in ordered[: limits.entries]))


def _like(found: _Found, limits: RecognitionLimits) -> list[str]:
    """The lines of an entry that say most of what the recognised one says, the most alike first."""
    share_in, tokens = recogniser(limits.share, limits.worth).share_in, tokens_of(found.text)
    alike = sorted((-round(share_in(line, tokens), 4), place) for place, line in enumerate(found.entry.shows))
    return [found.entry.shows[place] for _, place in alike[: limits.entry_lines]]


@cache
def recogniser(share: float, worth: float) -> Recogniser:
    """The recogniser of the packaged lexicon."""
    return Recogniser(lexicon().entries, share=share, worth=worth)
