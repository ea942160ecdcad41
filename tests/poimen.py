"""The fixture journal of the project poimen: what was handed in, what is asked of it, and the journal itself."""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "fixtures" / "poimen"
JOURNAL = FOLDER / "journal.jsonl.gz"
PROJECT, NEIGHBOUR = "poimen", "crofter"


class Handed(NamedTuple):
    """A candidate as it is handed in; parents and what it supersedes by the ids of others."""

    id: str
    project: str
    level: str
    text: str
    tool: str | None
    evidence: tuple[dict[str, Any], ...]
    parents: tuple[str, ...]
    supersedes: tuple[str, ...]
    expect: str


class Superseding(NamedTuple):
    """What a person said afterwards of two that were accepted."""

    old: str
    new: str


class Asked(NamedTuple):
    """A question, and the memories that answer it."""

    ask: str
    gold: tuple[str, ...]


@cache
def handed_in() -> tuple[Handed | Superseding, ...]:
    """All files in their order, each from top to bottom, and what a person said last."""
    return tuple(step for path in sorted(FOLDER.glob("*.toml")) for step in _steps(tomllib.loads(path.read_text())))


@cache
def questions() -> tuple[Asked, ...]:
    """The questions that were written before any answer was looked at."""
    found = tomllib.loads((FOLDER / "questions.toml").read_text())["question"]
    return tuple(Asked(one["ask"], tuple(one["gold"])) for one in found)


def candidates(project: str = PROJECT) -> dict[str, Handed]:
    """The candidates of a project by id."""
    return {one.id: one for one in handed_in() if isinstance(one, Handed) and one.project == project}


def refused() -> list[Handed]:
    """The candidates of which nothing was kept."""
    return [one for one in candidates().values() if one.id.startswith("refused-")]


def syntheses() -> list[Handed]:
    """The syntheses that were accepted."""
    return [one for one in candidates().values() if one.level == "L2" and one.expect == "accepted"]


def superseded() -> dict[str, str]:
    """The ids of those that were superseded, and their successors."""
    by_candidate = {old: one.id for one in candidates().values() for old in one.supersedes}
    return by_candidate | {one.old: one.new for one in handed_in() if isinstance(one, Superseding)}


@cache
def journal_lines() -> tuple[str, ...]:
    """The lines of the export."""
    with gzip.open(JOURNAL, "rt", encoding="utf-8", newline="\n") as file:
        return tuple(file)


@cache
def shas() -> dict[str, str]:
    """By the ids of candidates, the memories that stand for them in the journal; those that were refused have none."""
    found = {}
    for line in journal_lines()[:-1]:
        body = json.loads(line)["body"]
        if body["kind"] == "appended":
            found[body["key"].rsplit(":", 1)[1]] = body["data"]["sha"]
    return found


def _steps(file: dict[str, Any]) -> Iterator[Handed | Superseding]:
    for one in file.get("candidate", ()):
        yield Handed(
            id=one["id"],
            project=one.get("project", PROJECT),
            level=one["level"],
            text=one["text"].strip(),
            tool=one.get("tool"),
            evidence=tuple({**record, "text": record["text"].strip("\n")} for record in one.get("evidence", ())),
            parents=tuple(one.get("parents", ())),
            supersedes=tuple(one.get("supersedes", ())),
            expect=one.get("expect", "accepted"),
        )
    for one in file.get("supersede", ()):
        yield Superseding(one["old"], one["new"])
