"""The names of `names.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal


@cache
def names(form: Literal["html", "rst"], use: str) -> frozenset[str]:
    """The elements, classes or directives of one use."""
    return frozenset(_all()[form][use])


@cache
def _all() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("mem.parsing.documents").joinpath("names.toml").read_text(encoding="utf-8"))
