"""The sets that abstention is measured on: lessons with their failures, and what none of them explains."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mem.domain.canonical import sha256_hex

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures"
DEVELOPMENT = (FIXTURES / "incidents", FIXTURES / "abstention")
EXPLAINED = FIXTURES / "abstention" / "explained.toml"
GOLDEN = FIXTURES / "golden_logs"
GOLDEN_STEP = 3
"""So many are enough: of each tool some remain."""
TALK = frozenset({"decision", "small talk", "work", "how to"})
"""Kinds of unrelated texts that are asked as a task, too."""


class Evidence(NamedTuple):
    """One record behind a memory."""

    source: str
    turn: int | None
    text: str


class Memory(NamedTuple):
    """A lesson or a decision, with the failures and the tasks that it is to be found by."""

    id: str
    tool: str
    text: str
    evidence: tuple[Evidence, ...]
    errors: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    shows: bool = False
    same: frozenset[str] = frozenset()
    """Other lessons about the same failure."""


class Unrelated(NamedTuple):
    """A text that no memory explains."""

    id: str
    kind: str
    text: str
    explained: frozenset[str] = frozenset()
    """Lessons that do explain it, and so are hidden while it is asked."""


@dataclass
class Material:
    """All of a set."""

    memories: list[Memory] = field(default_factory=list)
    unrelated: list[Unrelated] = field(default_factory=list)
    tasks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, other: Material) -> None:
        """Take in another set."""
        self.memories += other.memories
        self.unrelated += other.unrelated
        self.tasks |= other.tasks


def development() -> Material:
    """The project's own set: the incidents, what was written for this, and the golden logs of other failures."""
    found = load(DEVELOPMENT)
    known = tomllib.loads(EXPLAINED.read_text("utf-8"))
    same = {one: frozenset(group) - {one} for group in known["same"] for one in group}
    memories = [each._replace(same=same.get(each.id, frozenset())) for each in found.memories]
    return Material(memories, found.unrelated + _golden(known["golden"]))


def load(paths: Iterable[Path]) -> Material:
    """The sets in JSON or TOML files, or in all TOML files of folders."""
    found = Material()
    for path in paths:
        for file in sorted(path.glob("*.toml")) if path.is_dir() else [path]:
            raw = file.read_text("utf-8")
            found.add(_material(json.loads(raw) if file.suffix == ".json" else tomllib.loads(raw), file.stem))
    found.memories = [each._replace(tasks=each.tasks + found.tasks.pop(each.id, ())) for each in found.memories]
    if found.tasks:
        raise ValueError(f"There are tasks for memories that there are not: {sorted(found.tasks)}.")
    return found


def _material(data: dict[str, Any], name: str) -> Material:
    lessons = [*data.get("incidents", []), *data.get("incident", [])]
    decisions = [*data.get("decisions", []), *data.get("decision", [])]
    texts = [(each["kind"], text) for each in data.get("texts", []) for text in each["texts"]]
    texts += [(each["kind"], each["text"]) for each in data.get("unrelated", [])]
    return Material(
        [_memory(each) for each in (*lessons, *decisions)],
        [Unrelated(f"{name}-{sha256_hex(text)[:8]}", kind.replace("-", " "), text.strip("\n")) for kind, text in texts],
        {each["memory"]: tuple(each["tasks"]) for each in data.get("ask", [])},
    )


def _memory(each: dict[str, Any]) -> Memory:
    errors: Sequence[str] = each.get("errors", [each["error"]] if "error" in each else [])
    return Memory(
        id=each["id"],
        tool=each.get("tool", ""),
        text=each["memory"].strip(),
        evidence=tuple(
            Evidence(one["source"], one.get("turn"), one["text"].strip("\n")) for one in each.get("evidence", [])
        ),
        errors=tuple(one.strip("\n") for one in errors),
        tasks=tuple(each.get("tasks", ())),
        shows=bool(each.get("shows", False)),
    )


def golden_logs() -> list[tuple[str, bool, str]]:
    """Name, whether it fails, and text of each golden log, without the verdict in it."""
    found = []
    for path in sorted(GOLDEN.glob("*.log")):
        verdict, _, log = path.read_text("utf-8").partition("#: ---\n")
        found.append((path.stem, not verdict.startswith("#: rule: none"), log.strip("\n")))
    return found


def _golden(explained: dict[str, list[str]]) -> list[Unrelated]:
    return [
        Unrelated(name, "golden log" if fails else "green log", log, frozenset(explained.get(name, ())))
        for name, fails, log in golden_logs()[::GOLDEN_STEP]
    ]
