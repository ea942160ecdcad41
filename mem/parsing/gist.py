"""What a line says, without what a logger sets around it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from mem.parsing.rules import Gists, load

_ROUNDS = 4
_SHORT = 3
"""A line is never cut to fewer characters."""


def gist(line: str) -> str:
    """`line` without times, hosts, process ids and levels; of a record in JSON or in pairs what it says happened."""
    text = _bare(" ".join(line.split()))
    brace = text.find("{")
    if brace >= 0 and text.endswith("}"):
        return " ".join(dict.fromkeys(_said_in(text[brace:]))) or text
    if _rules().pairs.search(text) is not None:
        said = [found.group(1).strip('"') for found in _rules().field.finditer(text)]
        return " ".join(dict.fromkeys(said)) or text
    return text


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
        yield from _said(data)


def _said(data: dict[str, Any]) -> Iterator[str]:
    for name in _rules().saying:
        value = data.get(name)
        if isinstance(value, str) and value.strip():
            yield " ".join(value.split())
        elif isinstance(value, dict):
            yield from _said(value)


@cache
def _rules() -> Gists:
    return load("gist.toml", Gists)
