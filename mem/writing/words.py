"""Prose as words that can be compared: lower case, without endings, in their order."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[A-Za-z0-9]+(?:['\u2019][a-z]+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_APOSTROPHE = str.maketrans("", "", "'\u2019")
_SHORT = 4
_REMEMBERED = 1 << 14

_IRREGULAR = {
    form: base
    for base, forms in {
        "break": "broke broken", "run": "ran", "lose": "lost", "freeze": "froze frozen", "grow": "grew grown",
        "die": "died dying dies", "fall": "fell fallen", "go": "went gone goes", "hang": "hung", "get": "got gotten",
        "send": "sent", "build": "built", "keep": "kept", "leave": "left", "write": "wrote written",
        "throw": "threw thrown", "take": "took taken", "find": "found", "see": "saw seen", "tear": "tore torn",
        "eat": "ate eaten", "be": "been", "give": "gave given", "rise": "rose risen", "think": "thought",
        "bind": "bound", "hold": "held", "fill": "filled", "drop": "dropped", "tie": "tied tying", "lie": "lying",
        "have": "had having", "read": "reading reads", "blow": "blew blown", "stick": "stuck",
        "choose": "chose chosen", "speak": "spoke spoken", "steal": "stole stolen", "shut": "shutting",
        "drive": "drove driven", "begin": "began begun", "wake": "woke woken", "forget": "forgot forgotten",
        "hit": "hitting", "lead": "led", "mean": "meant", "need": "needed needing", "spin": "spun", "swap": "swapped",
        "child": "children", "index": "indices indexes", "query": "queries", "mismatch": "mismatched",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""Forms that no rule of endings leads back to their base."""


class Words(NamedTuple):
    """The words of a text: as they stand (lower case), and as stems."""

    plain: tuple[str, ...]
    stems: tuple[str, ...]


def words_of(text: str) -> Words:
    """The words of `text`; names in snake, dotted or dashed form are several words."""
    plain = tuple(found.group().translate(_APOSTROPHE).lower() for found in _WORD.finditer(text))
    return Words(plain, tuple(map(stem, plain)))


def sentences(text: str) -> list[str]:
    """The sentences and clauses of `text`, in order."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


@lru_cache(_REMEMBERED)
def stem(word: str) -> str:
    """`word` without plural and verb endings: what forms of one word have in common."""
    return _regular(_IRREGULAR.get(word, word))


def _regular(word: str) -> str:
    if len(word) < _SHORT or not word.isalpha():
        return word
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + "i"
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            word = _undoubled(word[: -len(ending)], ending)
            break
    return word[:-1] + "i" if word.endswith("y") and len(word) >= _SHORT else word


def _undoubled(base: str, ending: str) -> str:
    """`base` with one consonant where its ending had doubled it."""
    if ending in ("ing", "ed") and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base
