"""Skills and their vectors."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mem.ports.memories import Reach
from mem.ports.models import Embedder, Vector


class Skill(NamedTuple):
    """A skill: what an agent can do about a kind of work."""

    name: str
    description: str
    body: str
    project: str


class ListedSkill(NamedTuple):
    """A skill as it stands, and the number of its revision."""

    skill: Skill
    revision: int


class Skills(Protocol):
    """Skills and their vectors."""

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed. One that was removed comes back."""
        ...

    async def remove(self, project: str, name: str) -> bool:
        """Take a skill out of all that finds it, with its journal record; False where that was done before.

        Raises:
            NotFound: there never was one of this name in this project.
        """
        ...

    async def listed(self, project: str | None) -> list[ListedSkill]:
        """The skills that a project sees, shared ones first, by name; without one all of all projects."""
        ...

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""
        ...
