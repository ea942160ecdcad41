"""A text that a pattern matches, made from the pattern itself."""

from __future__ import annotations

import re
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {op.CATEGORY_DIGIT: "7", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "w", op.CATEGORY_NOT_SPACE: "x"}
_REST = "xX7_ .-/:(\"'[<"


def sample(pattern: str, *, repeat: int = 1) -> str:
    """A line that `pattern` should match, with what it repeats freely repeated `repeat` times more than it must.

    Where a word must begin is not looked at, so there are patterns for which the line is none of theirs.
    """
    plain = re.sub(r"\\x\{([0-9a-fA-F]+)\}", lambda found: re.escape(chr(int(found[1], 16))), pattern)
    plain = plain.replace(r"\z", r"\Z").replace(r"\pL", "[a-z]").replace("(?P<", "(?P<_")
    plain = re.sub(r"\(\?([ims]+)\)", "", plain)
    return _of(parser.parse(plain), repeat)


def _of(nodes: Any, repeat: int) -> str:
    return "".join(_one(kind, value, repeat) for kind, value in nodes)


def _one(kind: Any, value: Any, repeat: int) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return next(char for char in _REST if ord(char) != value)
    if kind is op.ANY:
        return "x"
    if kind is op.IN:
        return _in(value)
    if kind is op.BRANCH:
        return _of(value[1][0], repeat)
    if kind is op.SUBPATTERN:
        return _of(value[3], repeat)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        low, high, inner = value
        return _of(inner, repeat) * min(low + repeat, int(high))
    return ""


def _in(items: Any) -> str:
    """A character of a class."""
    negated = items[0][0] is op.NEGATE
    if negated:
        return next(char for char in _REST if not any(_holds(char, item) for item in items[1:]))
    kind, value = items[0]
    if kind is op.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is op.RANGE else _CATEGORIES.get(value, ".")


def _holds(char: str, item: Any) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return ord(char) == value
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return {
        op.CATEGORY_DIGIT: char.isdigit(),
        op.CATEGORY_SPACE: char.isspace(),
        op.CATEGORY_WORD: char.isalnum() or char == "_",
    }.get(value, False)
