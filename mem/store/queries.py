"""SQL by name: the blocks of `sql/*.sql`, each under a line `-- name: NAME` with its description below."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString

_PLACE = re.compile(r"\{\w*\}")
_NAMES: dict[str, str] = {}
_BLOCK = re.compile(r"^-- name: (?P<name>\w+)\n-- (?P<about>.+)\n", re.MULTILINE)


@functools.cache
def _blocks(file: str) -> Mapping[str, str]:
    text = files("mem.store").joinpath("sql", f"{file}.sql").read_text(encoding="utf-8")
    _, *parts = _BLOCK.split(text)
    return {name: statement.strip() for name, statement in zip(parts[::3], parts[2::3], strict=True)}


@functools.cache
def sql(name: str) -> LiteralString:
    """The statement `file.name`; it comes from this package alone, never from input."""
    file, _, block = name.partition(".")
    statement: LiteralString = _blocks(file)[block]
    _NAMES[statement] = name
    return statement


def name_of(statement: str) -> str | None:
    """The name of a statement that `sql` gave, `file.name`, filled in or not; None of another one."""
    if (name := _NAMES.get(statement)) is not None:
        return name
    fitting = [name for block, name in _NAMES.items() if "{" in block and _filled(block).fullmatch(statement)]
    # Of several, the one that says most is no part of another.
    return max(fitting, key=lambda name: (len(sql(name)), name), default=None)


@functools.cache
def _filled(block: str) -> re.Pattern[str]:
    """What a block looks like once something stands in its places."""
    return re.compile(".*".join(re.escape(part) for part in _PLACE.split(block)), re.DOTALL)
