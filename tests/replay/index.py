"""What the histories are of: `index.toml`, and the matrix that it has to fill."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

INDEX = Path(__file__).parent / "index.toml"


class Told(NamedTuple):
    """What a kind of run is.

    Args:
        row: a workflow, or a task of one.
        case: what happened to it.
        tells: the same in words.
    """

    row: str
    case: str
    tells: str


def index() -> dict[str, Told]:
    """All kinds, by their names."""
    return {name: Told(**told) for name, told in tomllib.loads(INDEX.read_text(encoding="utf-8")).items()}
