"""The words by which likeness is judged, read from `likeness.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from mem.domain.canonical import sha256_hex
from mem.parsing.likeness.stem import stem


class Opposites(NamedTuple):
    """Two directions, as stems; `alone` are those that count where the other text names none."""

    plus: frozenset[str]
    minus: frozenset[str]
    alone: frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """What `likeness.toml` holds, words as stems."""

    thresholds: Mapping[str, float]
    rows: int
    bands: int
    grammar: frozenset[str]
    prose: frozenset[str]
    negation: frozenset[str]
    light: frozenset[str]
    auxiliary: frozenset[str]
    restriction: frozenset[str]
    order: frozenset[str]
    sequence: frozenset[str]
    contrary_order: tuple[tuple[str, str], ...]
    connectives: frozenset[str]
    phrases: re.Pattern[str]
    phrase_of: Mapping[str, str]
    irregular: Mapping[str, str]
    synonyms: Mapping[str, str]
    opposites: tuple[Opposites, ...]
    joined: frozenset[str]
    contrary: tuple[str, ...]
    numbers: Mapping[str, str]
    units: Mapping[str, str]
    unspaced_negation: tuple[str, ...]
    unspaced_opposites: tuple[tuple[str, str], ...]

    @property
    def markers(self) -> frozenset[str]:
        """The words that say something about the term behind them."""
        return self.order | {word for pair in self.contrary_order for word in pair}

    def term(self, word: str) -> str:
        """A word in the form in which words are compared."""
        plain = stem(self.irregular.get(word, word))
        return self.synonyms.get(plain, plain)


@cache
def rules_sha() -> str:
    """The digest of the file, short: what was computed under other rules is computed anew."""
    return sha256_hex(_text())[:16]


@cache
def lexicon() -> Lexicon:
    """The lexicon of this version."""
    found = tomllib.loads(_text())
    synonyms = {stem(word): stem(group[0]) for group in found["synonyms"]["groups"] for word in group}
    irregular = found["irregular"]

    def terms(words: Iterable[str]) -> frozenset[str]:
        plain = (stem(irregular.get(word, word)) for word in words)
        return frozenset(synonyms.get(word, word) for word in plain)

    phrases = sorted(found["phrases"], key=lambda phrase: (-len(phrase), phrase))
    return Lexicon(
        thresholds=found["threshold"],
        rows=found["bands"]["rows"],
        bands=found["bands"]["bands"],
        grammar=frozenset(found["words"]["grammar"]),
        prose=terms(found["words"]["prose"]),
        negation=frozenset(found["negation"]["words"]),
        light=terms(found["negation"]["light"]),
        auxiliary=frozenset(found["negation"]["auxiliary"]),
        restriction=frozenset(found["restriction"]["words"]),
        order=frozenset(found["order"]["words"]),
        sequence=frozenset(found["order"]["sequence"]),
        connectives=frozenset(found["order"]["connectives"]),
        contrary_order=tuple((one, other) for one, other in found["order"]["contrary"]),
        phrases=re.compile(r"\b(?:" + "|".join(map(re.escape, phrases)) + r")\b"),
        phrase_of=found["phrases"],
        irregular=irregular,
        synonyms=synonyms,
        opposites=tuple(_opposites(one, terms) for one in found["opposites"]),
        joined=frozenset(found["prefixes"]["joined"]),
        contrary=tuple(found["prefixes"]["contrary"]),
        numbers=found["numbers"]["words"],
        units=found["numbers"]["units"],
        unspaced_negation=tuple(found["unspaced"]["negation"]),
        unspaced_opposites=tuple((one, other) for one, other in found["unspaced"]["opposites"]),
    )


def _opposites(fields: Mapping[str, Any], terms: Any) -> Opposites:
    return Opposites(terms(fields["plus"]), terms(fields["minus"]), terms(fields.get("decides_alone", ())))


def _text() -> str:
    return files("mem.parsing.likeness").joinpath("likeness.toml").read_text(encoding="utf-8")
