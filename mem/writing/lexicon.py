"""The lexicon: how causes are told in prose, and how they look when they strike. Its entries are data in lexicon/*.toml.

No code names an entry. How to write one stands at the head of each file.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mem.domain.errors import RuleError
from mem.writing.words import Words, stem, words_of

_PREFIX = 3
"""A cue that ends with `*` has at least so many letters."""
_REFUTING_REACH = 2


class Entry(BaseModel):
    """One cause: `told` are groups of alternatives, one of each must stand near the others; `shows` is how it looks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    told: tuple[str, ...] = Field(min_length=1)
    words: str = ""
    unless: tuple[str, ...] = ()
    near: int = Field(default=45, ge=1, le=200)
    shows: tuple[str, ...] = Field(min_length=2, max_length=8)
    example: str = Field(min_length=20)


class LexiconFile(BaseModel):
    """The entries of one subject."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    refuting: tuple[str, ...] = ()
    entry: tuple[Entry, ...] = ()


class Told(NamedTuple):
    """An entry that a text tells of, and how sure that is: the rarer its cues, the higher."""

    entry: Entry
    score: float


class _Cue(NamedTuple):
    """A phrase of words; `*` at the end of one stands for any ending."""

    words: tuple[str, ...]
    prefixes: tuple[bool, ...]

    @classmethod
    def of(cls, phrase: str) -> _Cue:
        parts = phrase.split()
        prefixes = tuple(part.endswith("*") for part in parts)
        words = tuple(part[:-1] if any_ending else stem(part) for part, any_ending in zip(parts, prefixes, strict=True))
        return cls(words, prefixes)

    def stands_at(self, words: Words, place: int) -> bool:
        if place + len(self.words) > len(words.plain):
            return False
        return all(
            words.plain[at].startswith(word) if any_ending else words.stems[at] == word
            for at, (word, any_ending) in enumerate(zip(self.words, self.prefixes, strict=True), place)
        )


class Phrases:
    """Phrases to be counted in a text."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_word: dict[str, list[_Cue]] = defaultdict(list)
        self._prefixed: list[_Cue] = []
        for cue in sorted({_Cue.of(phrase) for phrase in phrases}):
            (self._prefixed if cue.prefixes[0] else self._by_word[cue.words[0]]).append(cue)

    def count(self, words: Words) -> int:
        """How many of the phrases stand in `words`, each counted once."""
        found = {cue for place, base in enumerate(words.stems) for cue in self._at(words, place, base)}
        return len(found)

    def _at(self, words: Words, place: int, base: str) -> Iterator[_Cue]:
        for cue in (*self._by_word.get(base, ()), *self._prefixed):
            if cue.stands_at(words, place):
                yield cue


class _Hit(NamedTuple):
    place: int
    worth: float


class Lexicon:
    """Finds the entries that a text tells of."""

    def __init__(self, entries: tuple[Entry, ...], refuting: tuple[str, ...] = ()) -> None:
        self.entries = entries
        self._cues: list[_Cue] = []
        self._number: dict[_Cue, int] = {}
        self._groups = [[self._numbers(group) for group in entry.told] for entry in entries]
        self._unless = [[number for group in entry.unless for number in self._numbers(group)] for entry in entries]
        self._refuting = [_Cue.of(phrase) for phrase in refuting]
        self._by_word, self._by_prefix = self._index()
        self._lengths = sorted({len(prefix) for prefix in self._by_prefix})
        self._worth = self._worths()
        self._holders = self._entries_by_cue()

    def told(self, text: str) -> list[Told]:
        """The entries that `text` tells of, surest first."""
        words = words_of(text)
        hits = self._hits(words)
        asked = {entry for cue in hits for entry in self._holders[cue]}
        found = [one for number in sorted(asked) if (one := self._judge(number, hits)) is not None]
        return sorted(found, key=lambda one: (-one.score, one.entry.id))

    def _judge(self, number: int, hits: Mapping[int, list[int]]) -> Told | None:
        entry = self.entries[number]
        if any(cue in hits for cue in self._unless[number]):
            return None
        groups: list[list[_Hit]] = []
        for group in self._groups[number]:
            places = sorted(_Hit(place, self._worth[cue]) for cue in group for place in hits.get(cue, ()))
            if not places:
                return None
            groups.append(places)
        best = _nearest(groups, entry.near)
        return None if best is None else Told(entry, round(best, 4))

    def _hits(self, words: Words) -> dict[int, list[int]]:
        """Where each cue stands, but for those that the text refutes."""
        found: dict[int, list[int]] = defaultdict(list)
        refuted = self._refuted(words)
        for place, (plain, base) in enumerate(zip(words.plain, words.stems, strict=True)):
            if place in refuted:
                continue
            candidates = list(self._by_word.get(base, ()))
            for length in self._lengths:
                if length > len(plain):
                    break
                candidates += self._by_prefix.get(plain[:length], ())
            for cue in candidates:
                if self._cues[cue].stands_at(words, place):
                    found[cue].append(place)
        return found

    def _refuted(self, words: Words) -> set[int]:
        """The places right behind a phrase that says: it was not this."""
        places: set[int] = set()
        for place in range(len(words.plain)):
            for phrase in self._refuting:
                if phrase.stands_at(words, place):
                    end = place + len(phrase.words)
                    places.update(range(end, end + _REFUTING_REACH))
        return places

    def _numbers(self, group: str) -> list[int]:
        return [self._cue_number(_Cue.of(phrase)) for phrase in _alternatives(group)]

    def _cue_number(self, cue: _Cue) -> int:
        number = self._number.get(cue)
        if number is None:
            number = self._number[cue] = len(self._cues)
            self._cues.append(cue)
        return number

    def _index(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The cues by their first word, those whose first word is a prefix apart."""
        by_word: dict[str, list[int]] = defaultdict(list)
        by_prefix: dict[str, list[int]] = defaultdict(list)
        for number, cue in enumerate(self._cues):
            (by_prefix if cue.prefixes[0] else by_word)[cue.words[0]].append(number)
        return dict(by_word), dict(by_prefix)

    def _entries_by_cue(self) -> list[list[int]]:
        holders: list[list[int]] = [[] for _ in self._cues]
        for number, groups in enumerate(self._groups):
            for cue in sorted({cue for group in groups for cue in group}):
                holders[cue].append(number)
        return holders

    def _worths(self) -> list[float]:
        """What a cue tells: the more, the fewer entries have it, and the more words it is of."""
        counts = [0] * len(self._cues)
        for groups in self._groups:
            for cue in {cue for group in groups for cue in group}:
                counts[cue] += 1
        total = len(self.entries)
        return [
            log((1 + total) / (1 + count)) * (1 + 0.25 * (len(cue.words) - 1))
            for cue, count in zip(self._cues, counts, strict=True)
        ]


def _nearest(groups: list[list[_Hit]], near: int) -> float | None:
    """The most that one hit of each group is worth with all of them within `near` words; None where they are apart."""
    best: float | None = None
    for start in sorted({hit.place for group in groups for hit in group}):
        worth = 0.0
        for group in groups:
            inside = [hit.worth for hit in group if start <= hit.place < start + near]
            if not inside:
                break
            worth += max(inside)
        else:
            best = worth if best is None else max(best, worth)
    return best


def _alternatives(group: str) -> Iterator[str]:
    for phrase in group.split("|"):
        if phrase.strip():
            yield phrase.strip()


@cache
def lexicon() -> Lexicon:
    """The packaged lexicon.

    Raises:
        RuleError: a file of it is wrong; names file and entry.
    """
    return read_lexicon(packaged())


@cache
def packaged() -> dict[str, str]:
    """The packaged files by name."""
    folder = files("mem.writing").joinpath("lexicon")
    found = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return {path.name: path.read_text("utf-8") for path in found}


def read_lexicon(texts: Mapping[str, str]) -> Lexicon:
    """The lexicon that these files make, validated as a whole.

    Raises:
        RuleError: a file is no TOML, an entry breaks the form, an id is taken twice, or a cue matches too much.
    """
    entries: dict[str, Entry] = {}
    refuting: list[str] = []
    for name, text in sorted(texts.items()):
        file = _parse(name, text)
        refuting += file.refuting
        for entry in file.entry:
            if entry.id in entries:
                raise RuleError(f"{name}, entry {entry.id}: the id is taken.", "Give each entry one id.")
            if (fault := _fault(entry)) is not None:
                raise RuleError(f"{name}, entry {entry.id}: {fault}.", "Correct the entry.")
            entries[entry.id] = entry
    return Lexicon(tuple(entries.values()), tuple(refuting))


def _fault(entry: Entry) -> str | None:
    for group in (*entry.told, *entry.unless):
        phrases = list(_alternatives(group))
        if not phrases:
            return f"the group {group!r} has no alternative"
        for phrase in phrases:
            parts = phrase.split()
            if any(len(part) <= _PREFIX for part in parts if part.endswith("*")):
                return f"the prefix in {phrase!r} is too short"
            if any(part.rstrip("*") not in words_of(part).plain for part in parts):
                return f"{phrase!r} is not plain words in lower case"
    if len(set(entry.shows)) != len(entry.shows) or any(not line.strip() or "\n" in line for line in entry.shows):
        return "each line of `shows` is one line, and stands once"
    return None


def _parse(name: str, text: str) -> LexiconFile:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{name} is no TOML: {error}.", "Correct the file.") from None
    try:
        return LexiconFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise RuleError(f"{name}, {_where(data, first['loc'])}: {first['msg']}.", "Correct the entry.") from None


def _where(data: Any, location: tuple[int | str, ...]) -> str:
    """The entry at `location` by its id, followed by the field."""
    place = ".".join(str(part) for part in location)
    if len(location) > 1 and location[0] == "entry" and isinstance(location[1], int):
        raw = data["entry"][location[1]]
        return f"entry {raw.get('id', location[1]) if isinstance(raw, dict) else location[1]} ({place})"
    return place
