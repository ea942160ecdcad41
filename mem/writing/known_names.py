"""Names that belong to failures in general, whoever meets them: what the rules of the parser and the system name."""

from __future__ import annotations

import errno
import re
import signal
from functools import cache
from http import HTTPStatus
from importlib.resources import files

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,}")
_SIGNALLED = 128


def is_known(name: str) -> bool:
    """Whether `name` is such a name; case does not matter."""
    return name.casefold() in _names()


@cache
def _names() -> frozenset[str]:
    names = {word for path in _rule_files() for word in _NAME.findall(path)}
    names |= {word for status in HTTPStatus for word in (str(status.value), *status.phrase.split())}
    names |= set(errno.errorcode.values())
    for number in signal.Signals:
        names |= {number.name, str(_SIGNALLED + number.value)}
    return frozenset(name.casefold() for name in names)


def _rule_files() -> list[str]:
    folder = files("mem.parsing").joinpath("rules")
    return [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".toml")]
