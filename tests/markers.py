"""Secrets that are made at run time, one for each place that they are put, and the search for them afterwards."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick

_LETTERS = string.ascii_letters + string.digits
_PIECE = 1 << 24


def _made(length: int, alphabet: str = _LETTERS) -> str:
    """Characters of which some are digits and some letters, so that every rule takes them for generated."""
    return "a7" + "".join(secrets.choice(alphabet) for _ in range(length - 2))


KINDS = {
    "github": (36, "ghp_{}"),
    "aws": (16, "AKIA{}"),
    "url": (20, "postgres://svc:{}@db.internal/app"),
    "bearer": (40, "Authorization: Bearer {}"),
    "password": (20, "password={}"),
    "own": (43, "memtok_{}"),
    "payload-key": (44, "MEM_PAYLOAD_KEY=k1:{}"),
    "npm": (36, "npm_{}"),
}
"""Length of the secret part, and how it stands in a text."""
NAMES = {"github", "own", "npm"}
"""Those that are of the characters of a project."""


class Markers:
    """What was put where: `put` makes a secret for a place, `found` tells the places whose secrets stand in bytes."""

    def __init__(self) -> None:
        self._places: dict[bytes, str] = {}
        self._kinds = cycle(sorted(KINDS))
        self._names = cycle(sorted(NAMES))

    def put(self, place: str) -> str:
        """A secret of the next kind, as it stands in a text."""
        return self._put(place, next(self._kinds))

    def name(self, place: str) -> str:
        """A secret that could be the name of something."""
        return self._put(place, next(self._names))

    def _put(self, place: str, kind: str) -> str:
        length, form = KINDS[kind]
        alphabet = string.ascii_uppercase + string.digits if kind == "aws" else _LETTERS
        core = _made(length, alphabet)
        core = core.upper() if kind == "aws" else core
        self._places[core.encode()] = f"{place} ({kind})"
        return form.format(core)

    def word(self, place: str) -> str:
        """A word that is no secret, to see that the search finds what is there."""
        word = "".join(secrets.choice(string.ascii_lowercase) for _ in range(20))
        self._places[word.encode()] = place
        return word

    def found(self, *texts: bytes | str) -> set[str]:
        """The places whose secrets stand in one of the texts, in whatever case."""
        patterns = list(self._places)
        finder = BytesAhoCorasick([pattern.lower() for pattern in patterns])
        return {
            self._places[patterns[index]]
            for text in texts
            for index, _, _ in finder.find_matches_as_indexes(
                (text.encode() if isinstance(text, str) else text).lower()
            )
        }

    def found_below(self, *folders: Path) -> dict[str, set[str]]:
        """By file, the places whose secrets stand in it, in its name or content."""
        found = {str(path): self.found(str(path), *_pieces(path)) for folder in folders for path in _files(folder)}
        return {path: places for path, places in found.items() if places}


def _files(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def _pieces(path: Path) -> Iterator[bytes]:
    """A file in overlapping pieces; one that is gone meanwhile has none."""
    try:
        with path.open("rb") as opened:
            kept = b""
            while piece := opened.read(_PIECE):
                yield kept + piece
                kept = piece[-200:]
    except FileNotFoundError:
        return
