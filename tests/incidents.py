"""The development incidents and the memories that explain no failure, as values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "fixtures" / "incidents"
DECISIONS = "decisions.toml"

# Words that carry grammar, not content. What an error and a memory may share is these and words of one or two letters.
STOP_WORDS = frozenset(
    """about above after again against all also although always among and another any anything are around because been
    before being below between both but came can cannot could did does doing done down during each either else enough
    even ever every few first for from get gets getting got had has have having her here him his how however into its
    itself just last least less let like made make makes making many may might more most much must neither never next
    nor not nothing now off once one only onto other others our out over own per rather same she should since some
    something still such than that the their them then there these they thing things this those though three through
    thus too twice two under unless until upon upward very was well were what when where whereas whether which while who
    whole whom whose why will with within without would yet you your""".split()
)

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
    memory: str
    evidence: tuple[Evidence, ...]


def incidents() -> tuple[Incident, ...]:
    """The incidents of all files, by file name and in the order of each file."""
    return tuple(incident for path in sorted(FOLDER.glob("*.toml")) for incident in _incidents(path))


def decisions() -> tuple[Decision, ...]:
    """The memories that explain no failure, in the order of their file."""
    entries = _read(FOLDER / DECISIONS).get("decision", [])
    return tuple(Decision(entry["id"], entry["memory"].strip(), _evidence(entry)) for entry in entries)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry content: case-folded, without a plural s, identifiers whole and in their parts.

    A string of digits is a word of any length; of letters from three on.
    """
    words: set[str] = set()
    for piece in _PIECE.findall(text):
        for word in (piece, *_HUMP.split(piece)):
            folded = word.casefold()
            if folded.isdigit() or (len(folded) > 2 and folded not in STOP_WORDS):
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
