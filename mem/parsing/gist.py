"""What a line says, without what a logger sets around it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from mem.parsing.rules import Gists, load

_ROUNDS = 4
_DEPTH = 4
_SHORT = 3
"""A line is never cut to fewer characters."""


def gist(line: str) -> str:
    """`line` without times, hosts, process ids and levels; of a record in JSON or in pairs what it says happened."""
    text = _bare(" ".join(line.split()))
    brace = text.find("{")
    if brace >= 0 and text.endswith("}"):
        said = _joined(_said_in(text[brace:]))
        return f"{text[:brace]}{said}" if said else text
    if _rules().pairs.search(text) is not None:
        return _joined(found.group(1).strip('"') for found in _rules().field.finditer(text)) or text
    return text


def is_error_record(line: str) -> bool:
    """Whether a record, in JSON or in pairs, says of itself that it is an error."""
    return _rules().erring.search(line) is not None


def _joined(said: Iterable[str]) -> str:
    """What a record says, each once, without the marks of a page that it may quote."""
    plain = (" ".join(_rules().markup.sub(" ", one).split()) for one in said)
    return " ".join(one for one in dict.fromkeys(plain) if one)


def _bare(text: str) -> str:
    """`text` without what stands before the message, one thing after the other."""
    for _ in range(_ROUNDS):
        before = text
        for prefix in _rules().prefix:
            found = prefix.search(text)
            if found is not None and len(text) - found.end() >= _SHORT:
                text = text[found.end() :]
        if text == before:
            break
    return text


def _said_in(record: str) -> Iterator[str]:
    """The fields of a record in JSON that say what happened; none where it is no JSON."""
    try:
        data = json.loads(record)
    except (ValueError, RecursionError):
        return
    if isinstance(data, dict):
        yield from _said(data, _DEPTH)


def _said(data: dict[str, Any], depth: int) -> Iterator[str]:
    for name in _rules().saying:
        value = data.get(name)
        if isinstance(value, str) and value.strip():
            yield value
    for name in sorted(data):
        if isinstance(data[name], dict) and depth:
            yield from _said(data[name], depth - 1)


@cache
def _rules() -> Gists:
    return load("gist.toml", Gists)
