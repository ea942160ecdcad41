"""The memories that try to break out of a prompt, and the lessons that only look a little like them, as data."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

FIXTURES = Path(__file__).parent / "fixtures"


class Hostile(NamedTuple):
    """One attempt: its class, what becomes of it, and its text or texts."""

    kind: str
    expect: str
    texts: tuple[str, ...]


@cache
def hostile() -> tuple[Hostile, ...]:
    """All of `hostile.toml`."""
    return tuple(
        Hostile(each["class"], each["expect"], _texts(each))
        for each in tomllib.loads((FIXTURES / "hostile.toml").read_text(encoding="utf-8"))["memory"]
    )


def _texts(each: dict) -> tuple[str, ...]:
    if "json" in each:
        return (json.loads(each["json"]),)
    return tuple(each["texts"]) if "texts" in each else (each["text"],)


@cache
def ordinary() -> tuple[str, ...]:
    """Lessons and wishes as people hand them in: those that look like orders, the gate's good ones, and incidents."""
    near = tomllib.loads((FIXTURES / "ordinary.toml").read_text(encoding="utf-8"))["texts"]
    good = [each["text"] for each in tomllib.loads((FIXTURES / "gate" / "good.toml").read_text("utf-8"))["memory"]]
    return tuple(dict.fromkeys([*near, *good, *_incidents()]))


def _incidents() -> list[str]:
    files = sorted((FIXTURES / "incidents").glob("*.toml"))
    groups = [group for file in files for group in tomllib.loads(file.read_text(encoding="utf-8")).values()]
    return [each["memory"] for group in groups if isinstance(group, list) for each in group if "memory" in each]
