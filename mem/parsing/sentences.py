"""The sentences of a lesson: versions, paths, code, lists and abbreviations end none."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_QUOTE = re.compile(r"(?:\s{0,3}>(?!=)\s?)*")
_STOP = re.compile(r"[.!?\u2026]+[\"')\]\u201d\u2019*_`]*(?=\s)|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*")
_SPAN = re.compile(r"`[^`\n]{1,400}`|\([^()\n]{1,400}\)|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d")
_LAST_WORD = re.compile(r"[\w.'-]*\Z")
_CLOSING = "\"'`\u201d\u2019"
_LOOK_BACK = 40


class _Words(NamedTuple):
    open: frozenset[str]
    before_small: frozenset[str]
    before_figure: frozenset[str]
    leaning: frozenset[str]


def sentences(text: str) -> list[str]:
    """The sentences of `text`, each on one line; code that is announced with a colon stays with its announcement."""
    found: list[str] = []
    for block, code in _blocks(text):
        pieces = [block] if code else list(_split(block))
        if code and found and found[-1].endswith(":"):
            found[-1] = f"{found[-1]} {pieces[0]}"
        else:
            found += pieces
    return found


def leans(sentence: str) -> bool:
    """Whether a sentence says little without the one before it."""
    first = re.match(r"[\w'\u2019]+", sentence)
    return first is not None and first.group().lower().replace("\u2019", "'") in _words().leaning


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, items and headings as one line each, and whether it is code."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            yield from _joined(lines, code=fenced)
            lines, fenced = [], not fenced
        elif fenced:
            lines.append(line)
        else:
            bare = line[quoted.end() :] if (quoted := _QUOTE.match(line)) else line
            heading = _HEADING.match(bare)
            opening = heading or _ITEM.match(bare)
            if opening or not bare.strip():
                yield from _joined(lines, code=False)
                lines = []
            lines.append(bare[opening.end() :] if opening else bare)
            if heading:
                yield from _joined(lines, code=False)
                lines = []
    yield from _joined(lines, code=fenced)


def _joined(lines: list[str], *, code: bool) -> Iterator[tuple[str, bool]]:
    block = " ".join(" ".join(lines).split())
    if block:
        yield block, code


def _split(block: str) -> Iterator[str]:
    """The sentences of a paragraph; a stop inside of code, quotes or parentheses ends none."""
    spans = [span.span() for span in _SPAN.finditer(block)]
    start = at = 0
    for stop in _STOP.finditer(block):
        while at < len(spans) and spans[at][1] <= stop.start():
            at += 1
        # A stop right before a closing quote or bracket is the span's own and may end the sentence around it.
        inside = at < len(spans) and spans[at][0] < stop.start() and stop.end() < spans[at][1]
        if inside or not _ends(block, stop.start(), stop.end()):
            continue
        yield block[start : stop.end()].strip()
        start = stop.end()
    if rest := block[start:].strip():
        yield rest


def _ends(block: str, stop: int, behind: int) -> bool:
    following = block[behind:].lstrip()[:1]
    if not following or block[stop] in "\u3002\uff01\uff1f":
        return True
    small = following.islower()
    # Behind a closing quote, as behind a question mark, only a capital begins another sentence.
    if block[stop] in "!?\u2026" or block[stop : stop + 2] == ".." or block[behind - 1] in _CLOSING:
        return not small
    words = _words()
    last = _LAST_WORD.search(block[max(0, stop - _LOOK_BACK) : stop])
    word = last.group().lower() if last else ""
    if word in words.open or (len(word) == 1 and word.isalpha() and block[stop - 1].isupper()):
        return False
    return not (small and word in words.before_small) and not (following.isdigit() and word in words.before_figure)


@cache
def _words() -> _Words:
    data = tomllib.loads(files(__package__).joinpath("sentences.toml").read_text(encoding="utf-8"))
    return _Words(*(frozenset(data[name].split()) for name in _Words._fields))
