"""The demonstration's incidents and queries, read from their files."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from mem.domain.lookup import MatchedKind, Tier
from mem.domain.nodes import Level


class _Material(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class IncidentEvidence(_Material):
    """One evidence record: a log below logs/, or the text itself."""

    source: str
    turn: int | None = None
    log: str | None = None
    text: str | None = None


class Incident(_Material):
    """One candidate; parents and supersedes name earlier incidents."""

    id: str
    project: str
    level: Level
    text: str
    tool: str | None = None
    evidence: list[IncidentEvidence] = []
    parents: list[str] = []
    supersedes: list[str] = []
    expect: str


class DemoQuery(_Material):
    """One lookup, and what it is to show."""

    id: str
    title: str
    project: str
    log: str | None = None
    tool: str | None = None
    task: str | None = None
    tier: Tier
    matched_kind: MatchedKind | None = None
    incident: str | None = None
    reference: str | None = None


def incidents() -> list[Incident]:
    """In the order in which they are accepted."""
    return [Incident.model_validate(each) for each in _toml("incidents.toml")["incident"]]


def queries() -> list[DemoQuery]:
    """In the order in which they are asked."""
    return [DemoQuery.model_validate(each) for each in _toml("queries.toml")["query"]]


def log_text(name: str) -> str:
    """A captured log."""
    return files(__package__).joinpath("logs", name).read_text(encoding="utf-8")


def reference_texts() -> dict[str, str]:
    """The reference documents by file name."""
    folder = files(__package__).joinpath("reference")
    return {each.name: each.read_text("utf-8") for each in sorted(folder.iterdir(), key=lambda each: each.name)}


def skill_text() -> str:
    """The one skill."""
    return files(__package__).joinpath("skills", "ci-triage", "SKILL.md").read_text(encoding="utf-8")


def _toml(name: str) -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
