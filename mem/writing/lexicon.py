"""The lexicon: how causes are told in prose, and how they look when they strike.

Prose tells a cause in words that nobody foresees all of, so no single cue is demanded: an entry is weighed by all the
words that it shares with a text, the rarer in the lexicon the more. Entries are data, in lexicon/*.toml.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import log, sqrt
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import RuleError
from mem.parsing.rules import parse
from mem.writing.phrases import Phrase, Phrases, alternatives
from mem.writing.words import Words, stem, words_of

_PREFIX = 3
"""A cue that ends with `*` has more letters than that."""
_REFUTED = 3
"""So many words behind a refuting phrase do not count."""
_SHOWN = 0.5
"""What a word of the lines counts that an entry shows, beside one of how it is told."""
_ASIDE = 1.0
_REMEMBERED = 1 << 13
_LENGTH = 0.5
"""How much of the advantage is taken from an entry for having many words."""


class Entry(BaseModel):
    """One cause: `told` and `words` are how it is told, `shows` is how it looks when it strikes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    words: str = ""
    told: tuple[str, ...] = Field(min_length=1)
    unless: tuple[str, ...] = ()
    shows: tuple[str, ...] = Field(min_length=2, max_length=8)
    example: str = Field(min_length=20)
    stories: tuple[str, ...] = ()


class LexiconFile(BaseModel):
    """The entries of one subject, or what all subjects share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    refuting: tuple[str, ...] = ()
    empty: str = ""
    entry: tuple[Entry, ...] = ()


class Told(NamedTuple):
    """An entry that a text tells of, and how surely."""

    entry: Entry
    score: float


class Lexicon:
    """Finds the entries that a text tells of."""

    def __init__(self, entries: Sequence[Entry], *, refuting: Sequence[str] = (), empty: str = "") -> None:
        self.entries = tuple(entries)
        self._empty = {stem(word) for word in empty.split()}
        self._refuting = Phrases(refuting)
        self._refused_by: dict[Phrase, set[int]] = defaultdict(set)
        for number, entry in enumerate(self.entries):
            for cue in (cue for group in entry.unless for cue in alternatives(group)):
                self._refused_by[Phrase.of(cue)].add(number)
        self._unless = Phrases(cue for entry in self.entries for group in entry.unless for cue in alternatives(group))
        said = [self._said(entry) for entry in self.entries]
        counts: dict[str, int] = defaultdict(int)
        for words in said:
            for word in words:
                counts[word] += 1
        rarity = {word: log((1 + len(said)) / (0.5 + count)) for word, count in counts.items()}
        whole = [sqrt(sum(words[word] * rarity[word] for word in sorted(words))) for words in said]
        mean = sum(whole) / len(whole) if whole else 1.0
        self._share = [1 / (1 - _LENGTH + _LENGTH * one / mean) for one in whole]
        self._by_word: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, words in enumerate(said):
            for word, weight in words.items():
                self._by_word[word].append((number, weight * rarity[word]))
        self._lengths = sorted({len(word) for word in self._by_word if word.endswith("*")})
        self._worth = lru_cache(_REMEMBERED)(self._worth_of)

    def told(self, text: str, aside: str = "") -> list[Told]:
        """The entries that `text` tells of, surest first; `aside` is what was said or shown beside it."""
        words = words_of(text)
        scores: dict[int, float] = defaultdict(float)
        self._weigh(words, 1.0, scores)
        if aside:
            self._weigh(words_of(aside), _ASIDE, scores)
        refused = {number for phrase in self._unless.of(words) for number in self._refused_by[phrase]}
        found = [
            Told(self.entries[number], round(score * self._share[number], 4))
            for number, score in sorted(scores.items())
            if number not in refused
        ]
        return sorted(found, key=lambda one: (-one.score, one.entry.id))

    def _weigh(self, words: Words, weight: float, scores: dict[int, float]) -> None:
        """Add to `scores` what the words are worth to each entry, every word once."""
        refuted = self._refuting.behind(words, _REFUTED)
        seen: set[str] = set()
        for place, (plain, base) in enumerate(zip(words.plain, words.stems, strict=True)):
            if place in refuted or plain in seen or base in self._empty:
                continue
            seen |= {plain, base}
            for number, worth in self._worth(plain, base):
                scores[number] += weight * worth

    def _worth_of(self, plain: str, base: str) -> tuple[tuple[int, float], ...]:
        """What a word is worth to the entries that know it: by the best of the cues that it meets."""
        best: dict[int, float] = {}
        for number, worth in self._postings(plain, base):
            best[number] = max(best.get(number, 0.0), worth)
        return tuple(best.items())

    def _postings(self, plain: str, base: str) -> Iterator[tuple[int, float]]:
        yield from self._by_word.get(base, ())
        for length in self._lengths:
            if length - 1 > len(plain):
                return
            yield from self._by_word.get(plain[: length - 1] + "*", ())

    def _said(self, entry: Entry) -> dict[str, float]:
        """The words by which an entry is known, each with its weight; one that ends with `*` stands for any ending."""
        weights: dict[str, float] = {}
        for line in entry.shows:
            weights |= dict.fromkeys(self._telling(words_of(line).stems), _SHOWN)
        told = " ".join([entry.example, entry.words, *entry.stories])
        weights |= dict.fromkeys(self._telling(words_of(told).stems), 1.0)
        weights |= {stem(word): 1.0 for word in entry.id.replace(".", "-").split("-") if len(word) > 2}
        for group in entry.told:
            for cue in alternatives(group):
                parts = [part if part.endswith("*") else stem(part) for part in cue.split()]
                weights |= {part: 1.0 for part in parts if part not in self._empty}
        return weights

    def _telling(self, stems: Sequence[str]) -> Iterator[str]:
        for word in stems:
            if word not in self._empty and len(word) > 2 and not word.isdigit():
                yield word


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
        RuleError: a file is no TOML, an entry breaks the form, or an id is taken twice.
    """
    entries: dict[str, Entry] = {}
    refuting: list[str] = []
    empty: list[str] = []
    for name, text in sorted(texts.items()):
        file = parse(name, text, LexiconFile, "entry")
        refuting += file.refuting
        empty.append(file.empty)
        for entry in file.entry:
            if entry.id in entries:
                raise RuleError(f"{name}, entry {entry.id}: the id is taken.", "Give each entry one id.")
            if (fault := _fault(entry)) is not None:
                raise RuleError(f"{name}, entry {entry.id}: {fault}.", "Correct the entry.")
            entries[entry.id] = entry
    return Lexicon(tuple(entries.values()), refuting=refuting, empty=" ".join(empty))


def _fault(entry: Entry) -> str | None:
    for group in (*entry.told, *entry.unless):
        cues = list(alternatives(group))
        if not cues:
            return f"the group {group!r} has no alternative"
        for cue in cues:
            parts = cue.split()
            if any(len(part) <= _PREFIX + 1 for part in parts if part.endswith("*")):
                return f"the prefix in {cue!r} is too short"
            if not Phrase.is_plain(cue):
                return f"{cue!r} is not plain words in lower case"
    if len(set(entry.shows)) != len(entry.shows) or any(not line.strip() or "\n" in line for line in entry.shows):
        return "each line of `shows` is one line, and stands once"
    return None
