"""What a lesson rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mem.domain.nodes import Parent
from mem.ports import Memories


async def rests_on(memories: Memories, shas: Sequence[str], told: Collection[str] | None) -> dict[str, list[Parent]]:
    """The parents of each lesson, and of those that are lessons theirs, which have source and turn.

    Each once, nearest first; of the projects that may be told of, None for all.
    """
    below = await memories.parents(shas, told) if shas else {}
    return {sha: _walked(below[sha], below) for sha in shas}


def each_place_once(parents: Sequence[Parent]) -> list[Parent]:
    """Of several with the same source and turn the first."""
    found: dict[tuple[str | None, ...], Parent] = {}
    for one in parents:
        place = (one.sha,) if one.source is None else (one.source, str(one.turn))
        found.setdefault((one.level, *place), one)
    return list(found.values())


def _walked(parents: Sequence[Parent], further: Mapping[str, Sequence[Parent]]) -> list[Parent]:
    found = {parent.sha: parent for parent in parents}
    for parent in [each for each in parents if each.level == "L1"]:
        for one in further.get(parent.sha, ()):
            found.setdefault(one.sha, one)
    return list(found.values())
