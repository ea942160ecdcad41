"""Every projection of the journal, made again beside the live ones, then compared with them or put in their place."""

from __future__ import annotations

from typing import Protocol

from mem.domain.replaying import Position, ReplayReport, Shadow


class Rebuilding(Protocol):
    """Tables of one run, filled from the journal in their own room while readers and writers go on.

    Every method finds what an earlier attempt at it did, and goes on from there.
    """

    async def begin(self, shadow: Shadow) -> Position:
        """Make empty tables for this run, or find those that it has; where its replay stands."""
        ...

    async def replay(self, shadow: Shadow, limit: int) -> Position:
        """Replay the next records, at most `limit`, in one transaction.

        Raises:
            NotFound: the tables are gone, or of another run.
            JournalCorrupt: the journal does not hold.
        """
        ...

    async def index(self, shadow: Shadow) -> int:
        """Build the next index, and how many are missing still.

        Raises:
            NotFound: as for `replay`.
        """
        ...

    async def swap(self, shadow: Shadow) -> ReplayReport:
        """Keep writers out, replay the last records, and put the tables in the place of the live ones.

        Raises:
            NotFound: as for `replay`.
            Unavailable: readers held the live tables for too long.
        """
        ...

    async def compare(self, shadow: Shadow) -> ReplayReport:
        """Replay the last records and compare every table with the live one, all at one moment.

        Raises:
            NotFound: as for `replay`.
        """
        ...

    async def discard(self, shadow: Shadow) -> None:
        """Remove the tables of this run, if there are any."""
        ...
