"""The contract of one memory shown: the node itself, and all that the store has on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.accepting import Projection
from mem.domain.nodes import Level, Parent, VectorKind, Visibility

MAX_KIN = 1000
"""So many nodes are told at the other ends of a memory's edges, in each direction."""


class Kin(Parent):
    """A node at the other end of an edge; `title` is the first line of its text, short and redacted."""

    title: str


class Sighting(BaseModel):
    """How often a project saw a failure, and between which UTC days."""

    model_config = ConfigDict(frozen=True)

    project: str
    seen_count: int
    first_seen: date
    last_seen: date


class ShownSignature(BaseModel):
    """A failure signature that points at the memory.

    `message` is masked, redacted, one line and short. The count and the days are over `sightings`, the projects that
    the caller may read, the one that saw it most first; nobody there saw it where the days are null.
    """

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    sig_coarse: str
    algo: int
    tool: str
    rule: str
    code: str | None
    message: str
    seen_count: int
    first_seen: date | None
    last_seen: date | None
    sightings: list[Sighting]

    @classmethod
    def of(cls, sightings: Sequence[Sighting], **identity: Any) -> ShownSignature:
        """A signature with what all sightings together make."""
        return cls(
            **identity,
            seen_count=sum(one.seen_count for one in sightings),
            first_seen=min((one.first_seen for one in sightings), default=None),
            last_seen=max((one.last_seen for one in sightings), default=None),
            sightings=list(sightings),
        )


class Acceptance(BaseModel):
    """Which request brought a lesson, and when that was recorded: UTC in ISO 8601, to the second."""

    model_config = ConfigDict(frozen=True)

    request_id: str
    at: str


class ShownMemory(BaseModel):
    """One node, with what it rests on, what rests on it, and by what it is found.

    `project` is null for what every project sees. `parents` are what it rests on, `children` what rests on it, each in
    order of level, source, turn and sha. `projection` is null where none was made yet; its text is empty where the
    memory explains no failure. `superseded_by` is the next one in its place, `successor` the newest live one,
    `supersedes` all whose place it takes, the oldest first. `accepted` is null for what no request brought as a lesson:
    evidence and reference. Whatever the caller may not read is left out, so a memory that is not `live` may name no
    successor. A chunk of reference that is not `live` was removed: its document has it no more. `more_parents` and
    `more_children` tell how many there are beyond the thousand that are named, where there are.
    """

    model_config = ConfigDict(frozen=True)

    sha: str
    level: Level
    project: str | None
    text: str
    visibility: Visibility
    owner: str | None
    container: str | None
    source: str | None
    turn: int | None
    live: bool
    accepted: Acceptance | None
    superseded_by: str | None
    successor: str | None
    supersedes: list[str]
    projection: Projection | None
    vectors: list[VectorKind]
    signatures: list[ShownSignature]
    parents: list[Kin]
    children: list[Kin]
    more_parents: int = Field(default=0, exclude_if=lambda more: more == 0)
    more_children: int = Field(default=0, exclude_if=lambda more: more == 0)


class Named(BaseModel):
    """A node as a message names it."""

    model_config = ConfigDict(frozen=True)

    sha: str
    level: Level
