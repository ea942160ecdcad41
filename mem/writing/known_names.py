"""Names that belong to failures in general, whoever meets them: those of the system, the rules and the lexicon."""

from __future__ import annotations

import builtins
import errno
import re
import signal
import tomllib
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from mem.writing.lexicon import lexicon

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,}")
_SIGNALLED = 128
"""A shell tells a command that a signal ended by this and the signal's number."""


def is_known(name: str) -> bool:
    """Whether `name` is such a name; case does not matter."""
    return name.casefold() in _names()


@cache
def _names() -> frozenset[str]:
    shown = [line for entry in lexicon().entries for line in entry.shows]
    names = {word for text in (*_rule_files(), *shown) for word in _NAME.findall(text)} | _listed()
    names |= {str(status.value) for status in HTTPStatus} | set(errno.errorcode.values())
    names |= {name for name, value in vars(builtins).items() if isinstance(value, type)}
    for number in signal.Signals:
        names |= {number.name, str(_SIGNALLED + number.value)}
    return frozenset(name.casefold() for name in names)


def _listed() -> set[str]:
    rules = tomllib.loads(files(__package__).joinpath("rules/known_names.toml").read_text(encoding="utf-8"))
    return {word for group, words in rules.items() if group != "version" for word in words.split()}


def _rule_files() -> list[str]:
    folder = files("mem.parsing").joinpath("rules")
    return [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".toml")]
