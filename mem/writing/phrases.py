"""Phrases to be found in prose, whatever endings their words take there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mem.writing.words import Words, stem, words_of

_START = 3
"""A word with an open end has at least so many letters."""


class Phrase(NamedTuple):
    """Words in a row; `*` at the end of one stands for any ending."""

    words: tuple[str, ...]
    prefixes: tuple[bool, ...]

    @classmethod
    def of(cls, text: str) -> Phrase:
        """The phrase that `text` writes."""
        parts = text.split()
        prefixes = tuple(part.endswith("*") for part in parts)
        words = tuple(part[:-1] if open_end else stem(part) for part, open_end in zip(parts, prefixes, strict=True))
        return cls(words, prefixes)

    @staticmethod
    def is_plain(text: str) -> bool:
        """Whether `text` is words as they are compared: lower case, without marks."""
        return all(part.rstrip("*") in words_of(part).plain for part in text.split())

    def stands_at(self, words: Words, place: int) -> bool:
        """Whether the phrase begins at word number `place`."""
        if place + len(self.words) > len(words.plain):
            return False
        return all(
            words.plain[at].startswith(word) if open_end else words.stems[at] == word
            for at, (word, open_end) in enumerate(zip(self.words, self.prefixes, strict=True), place)
        )


class Phrases:
    """Phrases to be found together."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_word: dict[str, list[Phrase]] = defaultdict(list)
        self._by_start: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in sorted({Phrase.of(text) for text in phrases}):
            first = phrase.words[0]
            (self._by_start[first[:_START]] if phrase.prefixes[0] else self._by_word[first]).append(phrase)

    def count(self, words: Words) -> int:
        """How many of the phrases stand in `words`, each counted once."""
        return len(self.of(words))

    def of(self, words: Words) -> set[Phrase]:
        """Those of the phrases that stand in `words`."""
        return {phrase for _, phrase in self._found(words)}

    def behind(self, words: Words, reach: int) -> set[int]:
        """The places of the `reach` words behind each phrase."""
        places: set[int] = set()
        for place, phrase in self._found(words):
            end = place + len(phrase.words)
            places.update(range(end, end + reach))
        return places

    def _found(self, words: Words) -> Iterator[tuple[int, Phrase]]:
        for place, (plain, base) in enumerate(zip(words.plain, words.stems, strict=True)):
            for phrase in (*self._by_word.get(base, ()), *self._by_start.get(plain[:_START], ())):
                if phrase.stands_at(words, place):
                    yield place, phrase


def alternatives(group: str) -> Iterator[str]:
    """The phrases of a group, which `|` parts."""
    for phrase in group.split("|"):
        if phrase.strip():
            yield phrase.strip()
