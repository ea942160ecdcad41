"""The development incidents and the memories that explain no failure, as values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "fixtures" / "incidents"
DECISIONS = "decisions.toml"
WORDS = "words.toml"

_PIECE = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Evidence(NamedTuple):
    """One record behind a memory, as it is brought to an acceptance."""

    source: str
    turn: int
    text: str


class Incident(NamedTuple):
    """A lesson, what it was learned from, and the failure as it strikes the next time."""

    id: str
    tool: str
    memory: str
    shows: bool
    error: str
    evidence: tuple[Evidence, ...]
    file: str


class Decision(NamedTuple):
    """A memory that explains no failure."""

    id: str
    kind: str
    memory: str
    evidence: tuple[Evidence, ...]


@cache
def incidents() -> tuple[Incident, ...]:
    """The incidents of all files, by file name and in the order of each file."""
    return tuple(incident for path in sorted(FOLDER.glob("*.toml")) for incident in _incidents(path))


def decisions() -> tuple[Decision, ...]:
    """The memories that explain no failure, in the order of their file."""
    entries = _read(FOLDER / DECISIONS).get("decision", [])
    return tuple(Decision(entry["id"], entry["kind"], entry["memory"].strip(), _evidence(entry)) for entry in entries)


@cache
def tools() -> frozenset[str]:
    """The names that an incident's tool may have."""
    return frozenset(_read(FOLDER / WORDS)["tools"].split())


@cache
def stop_words() -> frozenset[str]:
    """The words that carry grammar and no content."""
    return frozenset(_read(FOLDER / WORDS)["stop_words"].split())


def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry content: case-folded, without a plural s, identifiers whole and in their parts.

    A string of digits is a word of any length; of letters from three on.
    """
    words: set[str] = set()
    for piece in _PIECE.findall(text):
        for word in (piece, *_HUMP.split(piece)):
            folded = word.casefold()
            if folded.isdigit() or (len(folded) > 2 and folded not in stop_words()):
                words.add(_singular(folded))
    return frozenset(words)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _incidents(path: Path) -> Iterator[Incident]:
    for entry in _read(path).get("incident", []):
        yield Incident(
            id=entry["id"],
            tool=entry["tool"],
            memory=entry["memory"].strip(),
            shows=entry["shows"],
            error=entry["error"].strip("\n"),
            evidence=_evidence(entry),
            file=path.name,
        )


def _evidence(entry: dict[str, Any]) -> tuple[Evidence, ...]:
    records = entry.get("evidence", [])
    return tuple(Evidence(record["source"], record["turn"], record["text"].strip("\n")) for record in records)


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
