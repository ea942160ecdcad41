"""Conversations and questions about them, read leniently from `turns.jsonl` and `qa.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

COUNTED = ("1", "2", "3", "4")
"""Categories that ask for something that was said: multi-hop, temporal, open-domain and single-hop."""


class Turn(NamedTuple):
    """One turn; `place` counts the turns of its session from 1."""

    id: str
    session: str
    place: int
    text: str


class Asked(NamedTuple):
    """A question and the ids of the turns that answer it."""

    id: str
    question: str
    category: str
    evidence: tuple[str, ...]


class Talk(NamedTuple):
    """A conversation, its turns in their order, and what is asked about it."""

    name: str
    turns: list[Turn]
    questions: list[Asked]

    def gold(self, asked: Asked) -> set[str]:
        """The evidence that is a turn of this conversation."""
        return set(asked.evidence) & {turn.id for turn in self.turns}


def read_talks(folder: Path) -> list[Talk]:
    """The conversations of a folder, in the order of their first turns; a question about none of them has one alone."""
    talks: dict[str, Talk] = {}

    def talk_of(row: dict[str, Any]) -> Talk:
        name = str(row.get("conversation") or "")
        return talks.setdefault(name, Talk(name, [], []))

    places: dict[tuple[str, str], int] = {}
    for number, row in enumerate(_rows(folder / "turns.jsonl")):
        talk, session = talk_of(row), str(row.get("session", ""))
        place = places[talk.name, session] = places.get((talk.name, session), 0) + 1
        talk.turns.append(Turn(str(row.get("id", number)), session, place, told(row)))
    for number, row in enumerate(_rows(folder / "qa.jsonl")):
        evidence = row.get("evidence") or []
        ids = [evidence] if isinstance(evidence, str | int) else evidence
        question = Asked(
            str(row.get("id", number)), _said(row, "question"), str(row.get("category", "")), tuple(map(str, ids))
        )
        talk_of(row).questions.append(question)
    return list(talks.values())


def told(row: dict[str, Any]) -> str:
    """A turn as one text: when, who, what, and what a shared picture shows."""
    date, speaker, text, caption = (_said(row, name) for name in ("date_time", "speaker", "text", "caption"))
    head = " ".join(part for part in (f"[{date}]" if date else "", f"{speaker}:" if speaker else "") if part)
    picture = f"[picture: {caption}]" if caption else ""
    return " ".join(part for part in (head, text, picture) if part) or "[nothing]"


def recall_at(found: Sequence[str], gold: set[str], most: int = 10) -> float:
    """The part of the evidence that is among the first."""
    return len(gold.intersection(found[:most])) / len(gold)


def _said(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return " ".join(str(value).split()) if value is not None else ""


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
