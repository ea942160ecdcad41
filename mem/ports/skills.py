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


class Skills(Protocol):
    """Skills and their vectors."""

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed."""
        ...

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""
        ...
