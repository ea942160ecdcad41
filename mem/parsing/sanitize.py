"""Characters that a reader cannot see, or that change what a reader sees, taken out of a text."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
# Zero-width characters, fillers that draw nothing, variation selectors and the
# tag block: each can carry text that a model reads and a person does not.
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"
_LINE_BREAKS = "\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"


class Stripped(NamedTuple):
    """A text without unsafe characters, and how many were taken out or replaced."""

    text: str
    removed: int


def strip_unsafe(text: str) -> Stripped:
    """A short text (a lesson, a task, a name) as plain characters, tabs and line feeds.

    Control characters go, ESC among them, so a raw log loses its colour codes' first character:
    logs take `strip_bidi_and_zero_width`.
    """
    return _strip(text, with_controls=True)


def strip_bidi_and_zero_width(text: str) -> Stripped:
    """A raw log without what hides or reorders text; control characters stay for the ANSI parser."""
    return _strip(text, with_controls=False)


def _strip(text: str, *, with_controls: bool) -> Stripped:
    # No printable ASCII is unsafe, and most texts are nothing else.
    if text.isascii() and (not with_controls or text.isprintable()):
        return Stripped(text, 0)
    text, removed = _removed(with_controls).subn("", text)
    text, spaced = _spaced(with_controls).subn(" ", text)
    text, replaced = _replaced().subn("\ufffd", text)
    return Stripped(text, removed + spaced + replaced)


@cache
def _removed(with_controls: bool) -> re.Pattern[str]:
    unsafe = _BIDI + _INVISIBLE + _NONCHARACTERS + (_CONTROL if with_controls else "")
    return re.compile(f"[{unsafe}]")


@cache
def _spaced(with_controls: bool) -> re.Pattern[str]:
    """Line breaks other than a line feed: a space, so that two words do not become one."""
    return re.compile(f"[{_LINE_BREAKS if with_controls else _LINE_BREAKS[1:]}]")


@cache
def _replaced() -> re.Pattern[str]:
    """Lone surrogates, which no encoding can carry."""
    return re.compile(f"[{_SURROGATES}]")
