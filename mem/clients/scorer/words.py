"""What a text says, in a form in which two texts can be compared: words in their order, pairs, names."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import NamedTuple

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(r"[A-Za-z]\w*(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z])\w*")
_NAMED = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]")
"""Each name has this in it, and most texts have no name: to look for it takes a fraction of the time."""
_QUALIFIER = re.compile(r"\b(?:[a-z_]\w*[./])+(?=[A-Z])")
"""What stands before the name of a class: all errors of a library share it."""
_QUALIFIED = re.compile(r"[./][A-Z]")
"""Each qualifier ends at this."""
_DIGITS = range(3, 6)
"""Numbers of so many digits are statuses, codes and ports; others are counts, times and parts of hashes."""
_REMEMBERED = 4096
_LONG = 4000


class Said(NamedTuple):
    """A text, taken apart.

    `order` has the words of each line as they stand, `lines` the different ones of each with what they weigh, `words`
    all of them; `pairs` are neighbours in a line, `names` what programs give names to.
    """

    order: tuple[tuple[str, ...], ...]
    lines: tuple[tuple[frozenset[str], float], ...]
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]


@lru_cache(_REMEMBERED)
def said(text: str) -> Said:
    """Take a text apart; the same memories come up again and again, so what was taken apart is remembered."""
    text = text[:_LONG]
    if _QUALIFIED.search(text):
        text = _QUALIFIER.sub("", text)
    order = tuple(found for line in text.split("\n") if (found := _words(line)))
    lines = [frozenset(line) for line in order]
    return Said(
        order,
        tuple((line, mass(line)) for line in lines),
        frozenset().union(*lines),
        frozenset(chain.from_iterable(map(pairwise, order))),
        frozenset(map(str.lower, _NAME.findall(text))) if _NAMED.search(text) else frozenset(),
    )


def _words(line: str) -> tuple[str, ...]:
    # Lists, and no call for each word: this is most of what it costs to score a memory for the first time.
    return tuple(
        [
            token.lower()
            for token in _TOKEN.findall(line)
            if len(token) > 1 and (len(token) in _DIGITS or not token[0].isdigit())
        ]
    )


@cache
def _table() -> tuple[dict[str, float], float, float]:
    data = tomllib.loads(files(__package__).joinpath("common.toml").read_text(encoding="utf-8"))
    total = data["texts"]
    return (
        {word: math.log(total / int(times)) for times, words in data["words"].items() for word in words.split()},
        math.log(total / data["least"]),
        data["number"],
    )


def weight(word: str) -> float:
    """How much it says that two texts share a word: little for one that failures are full of."""
    common, rare, number = _table()
    return number if word[0].isdigit() else common.get(word, rare)


def mass(words: Iterable[str]) -> float:
    """What words weigh together, whatever their order."""
    common, rare, number = _table()
    return math.fsum([number if word[0].isdigit() else common.get(word, rare) for word in words])
