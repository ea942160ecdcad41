"""Whether anything is known of a project, and which ones have a name like it."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
from typing import NamedTuple

from mem.domain.ids import SHARED
from mem.ports import Memories

NEAREST = 3


class Known(NamedTuple):
    """Whether there is anything of the project itself, anything shared, and the projects nearest in name."""

    own: bool
    shared: bool
    nearest: list[str]


class FindProjects:
    """Says what is known of a project."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    async def __call__(self, project: str, *, readable: Collection[str] | None = None) -> Known:
        """Whether there is anything to find for a project.

        Args:
            readable: the projects that may be named; None: all.

        Raises:
            Unavailable: the store does not answer, or not in time.
        """
        known = await self._memories.projects()
        others = [name for name in known if name not in {SHARED, project} and (readable is None or name in readable)]
        nearest = sorted(others, key=lambda name: (-_likeness(name, project), name))[:NEAREST]
        return Known(project in known and (readable is None or project in readable), SHARED in known, nearest)


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, name.lower(), other.lower()).ratio()
