"""The use case of one memory shown: all that is known of a node. It reads alone, and counts nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mem.domain.errors import AmbiguousPrefix, InvalidRequest, NotFound
from mem.domain.shown import Kin, Named, ShownMemory
from mem.ports import Showing, ShowQuery
from mem.recall.messages import one_line

CANDIDATES = 20
"""So many of the nodes that a prefix may mean are named."""
_SHORT = 12
_PREFIX = re.compile(r"[0-9a-f]{4,64}")


class ShowMemory:
    """Answers what is known of a memory, by its sha or an unambiguous prefix of it."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing

    async def __call__(self, sha: str, *, readable: Collection[str] | None = None) -> ShownMemory:
        """The node with its edges, projection, signatures, sightings and successors.

        Memories of visibility `global` alone: others are not found, nor told of at the end of an edge.

        Args:
            readable: the projects whose memories and sightings the caller may read; None: all of them.

        Raises:
            InvalidRequest: `sha` is no hex of 4 to 64 digits.
            AmbiguousPrefix: several nodes that the caller may read begin with it.
            NotFound: none does.
            Unavailable: the store does not answer, or not in time.
        """
        prefix = sha.lower()
        if not _PREFIX.fullmatch(prefix):
            raise InvalidRequest(f"{sha[:80]!r} is no sha.", "Give 4 to 64 hex digits.")
        query = ShowQuery(prefix, None if readable is None else tuple(sorted(readable)))
        found = await self._showing.named(query, CANDIDATES + 1)
        if len(found) > 1:
            raise _ambiguous(prefix, found)
        shown = await self._showing.shown(query._replace(sha=found[0].sha)) if found else None
        if shown is None:
            raise NotFound(f"No memory begins with {prefix}.", "Check the sha.")
        return _presentable(shown)


def _ambiguous(prefix: str, found: Sequence[Named]) -> AmbiguousPrefix:
    digits = max(_SHORT, len(prefix) + 4)
    named = [f"{one.sha[:digits]} ({one.level})" for one in found[:CANDIDATES]]
    more = " and more" if len(found) > CANDIDATES else ""
    return AmbiguousPrefix(
        f"Several memories begin with {prefix}: {', '.join(named)}{more}.",
        "Give more digits.",
        candidates=[one.sha for one in found[:CANDIDATES]],
    )


def _presentable(shown: ShownMemory) -> ShownMemory:
    signatures = [one.model_copy(update={"message": one_line(one.message)}) for one in shown.signatures]
    titled = {"parents": _titled(shown.parents), "children": _titled(shown.children)}
    return shown.model_copy(update={"signatures": signatures, **titled})


def _titled(kin: Sequence[Kin]) -> list[Kin]:
    return [one.model_copy(update={"title": _title(one.title)}) for one in kin]


def _title(beginning: str) -> str:
    """The first line that says something."""
    lines = (one_line(line) for line in beginning.splitlines())
    return next((line for line in lines if any(char.isalnum() for char in line)), "")
