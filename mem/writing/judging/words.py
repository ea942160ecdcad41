"""Texts as sentences and words, all in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Han, kana and Thai are written without spaces: there each character tells about as much as a short word.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}](?:(?![{_UNSPACED}])[\w'-])*")
_ALONE = re.compile(f"[{_UNSPACED}]")
_END = re.compile(r"(?<=[.!?;\u2026])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+")
_TOKEN = re.compile(r"[^\W_]+")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def sentences(text: str) -> list[str]:
    """The sentences of a text, without white space around them; a line feed and a semicolon end one, too."""
    return [piece.strip() for piece in _END.split(text) if piece.strip()]


def words(text: str) -> list[str]:
    """Words as a person counts them, in lower case: `lock-file`, `don't` and `1.22`'s parts."""
    return [match.group().lower() for match in _WORD.finditer(text)]


def tells(word: str) -> bool:
    """Whether a word is long enough, or figure or sign enough, to tell a reader something."""
    return len(word) > 2 or any(char.isdigit() or _ALONE.match(char) for char in word)


def tokens(text: str) -> list[str]:
    """Runs of letters and digits in lower case, colour codes left out: what makes two texts verbatim the same."""
    return _TOKEN.findall(_COLOUR.sub("", text).lower())


def stem(word: str) -> str:
    """A word without the endings that change with its place in a sentence; crude, and the same on both sides."""
    for ending in ("ations", "ation", "ing", "ies", "ied", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def lines_with(cues: Any, text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """The lines from `start` on that a cue finds, each once, with the place where the cue ends."""
    done = start
    for found in cues.finditer(text, start):
        if found.start() >= done:
            begin = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.start())
            done = len(text) if end < 0 else end
            yield found.end(), text[begin:done]


def says(cues: Any, text: str) -> str | None:
    """The first words of `text` that a cue finds."""
    found = cues.search(text)
    return None if found is None else str(found.group())
