"""English words without the endings that a rewording changes; a word of another language mostly stays as it is."""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLE = re.compile(r"([bdgmnprt])\1$")
_LEAST = 3
"""So many letters stay at least."""

# Tried in this order; the first that fits and leaves enough is taken off.
_ENDINGS = ("ization", "isation", "ation", "ating", "ated", "ate", "ion", "ing", "ed", "ment", "ly")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of a word in lower case; equal for its inflections, and not meant for reading."""
    if len(word) <= _LEAST or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    word = word[:-1] if word.endswith("eed") else word
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _LEAST and _VOWEL.search(rest):
            return _tidy(rest)
    return _tidy(word)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and _VOWEL.search(word[:-1]):
        return word[:-1]
    return word


def _tidy(word: str) -> str:
    """One form for `pinn(ed)` and `pin`, `cach(ed)` and `cache`, `retri(ed)` and `retry`."""
    if len(word) > _LEAST:
        word = _DOUBLE.sub(r"\1", word)
    if len(word) > _LEAST and word.endswith("e"):
        word = word[:-1]
    return f"{word[:-1]}y" if word.endswith("i") else word
