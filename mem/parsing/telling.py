"""What kind of thing a question wants to be told, what kinds a text tells, and which months and years either names."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

Kind = Literal["time", "number", "name"]

_REMEMBERED = 4096
_READ = 4000
"""So many characters of a text are read: an answer is short."""
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_NAME = re.compile(r"(?:(?<=[^\W.!?…:] )|(?<=, ))[\"\u201c'\u2018]?([A-Z][a-z]{2,})")
_NUMBER = re.compile(r"\d")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-\d\d(?!\d)")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ENDS_ASKING = re.compile(r"\?[^\w?]*\Z")


class TellingRules(NamedTuple):
    """Words by what they tell, as data."""

    months: dict[str, int]
    roles: frozenset[str]
    reports: tuple[str, ...]
    time: re.Pattern[str]
    number: re.Pattern[str]
    wants_time: re.Pattern[str]
    wants_number: re.Pattern[str]
    wants_name: re.Pattern[str]


class Wanted(NamedTuple):
    """A question: its words without endings of possession, the kinds that it wants, months and years that it names."""

    words: frozenset[str]
    kinds: frozenset[Kind]
    months: frozenset[int]
    years: frozenset[int]


@cache
def telling_rules() -> TellingRules:
    """The words of this version."""
    data = tomllib.loads(files(__package__).joinpath("telling.toml").read_text(encoding="utf-8"))

    def pattern(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(data[name])})\b", re.IGNORECASE)

    return TellingRules(
        {word: number for number, words in enumerate(data["months"], 1) for word in words.split()},
        frozenset(data["roles"].split()),
        tuple(data["reports"].split()),
        *(pattern(name) for name in ("time", "number", "wants_time", "wants_number", "wants_name")),
    )


@lru_cache(_REMEMBERED)
def wanted(question: str) -> Wanted:
    """Read a question."""
    rules = telling_rules()
    asked: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("time", rules.wants_time), ("number", rules.wants_number), ("name", rules.wants_name)
    )  # fmt: skip
    named = dates(question)
    return Wanted(
        frozenset(_WORD.findall(_POSSESSIVE.sub("", question.lower()))),
        frozenset(kind for kind, pattern in asked if pattern.search(question)),
        frozenset(month for _, month in named if month is not None),
        frozenset(year for year, _ in named if year is not None),
    )


@lru_cache(_REMEMBERED)
def tells(said: str) -> frozenset[Kind]:
    """The kinds of things that a text tells."""
    rules, text = telling_rules(), said[:_READ]
    found: tuple[tuple[Kind, bool], ...] = (
        ("time", rules.time.search(text) is not None),
        ("number", _NUMBER.search(text) is not None or rules.number.search(text) is not None),
        ("name", any(map(_names, _NAME.findall(text)))),
    )
    return frozenset(kind for kind, here in found if here)


def _names(word: str) -> bool:
    """Whether a word with a capital names something other than a day or a month."""
    rules = telling_rules()
    return word.lower() not in rules.months and rules.time.fullmatch(word) is None


def asks(said: str) -> bool:
    """Whether a text ends with a question, so that it rather wants to be told something."""
    return _ENDS_ASKING.search(said[-_READ:]) is not None


def dates(text: str) -> set[tuple[int | None, int | None]]:
    """The years with months, years and months that a text names; "may" with a capital, and not as the first word."""
    found: set[tuple[int | None, int | None]] = {(int(year), int(month)) for year, month in _ISO.findall(text)}
    if found:
        return found
    words = _WORD.findall(text)
    months = [
        telling_rules().months[word.lower()]
        for place, word in enumerate(words)
        if word.lower() in telling_rules().months and (len(word) > 3 or (word[0].isupper() and place > 0))
    ]
    years = [int(year) for year in _YEAR.findall(text)]
    if len(months) == len(years) == 1:
        return {(years[0], months[0])}
    return {(None, month) for month in months} | {(year, None) for year in years}
