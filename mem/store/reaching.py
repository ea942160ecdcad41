"""What a reach is to a statement: lists of projects, or NULL for all, which the planner leaves out of a custom plan."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mem.ports import Reach


def within(reach: Reach) -> dict[str, Any]:
    """The parameters `project`, `seen` (whose nodes) and `counted` (whose sightings)."""
    return {"project": reach.project, "seen": listed(reach.seen), "counted": listed(reach.counted)}


def listed(projects: Collection[str] | None) -> list[str] | None:
    """As the driver takes an array."""
    return None if projects is None else list(projects)
