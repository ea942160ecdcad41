"""One node with all that the store has on it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mem.domain.shown import Named, ShownMemory


class ShowQuery(NamedTuple):
    """Which node, by its sha or what that begins with; of visibility `global` alone.

    readable: the projects whose memories may be read; None: all. Shared ones always may.
    """

    sha: str
    readable: tuple[str, ...] | None


class Showing(Protocol):
    """What is told of one node. A node that may not be read is not there, at the end of no edge either."""

    async def named(self, query: ShowQuery, limit: int) -> list[Named]:
        """The first nodes whose sha begins with the query's, by sha."""
        ...

    async def shown(self, query: ShowQuery) -> ShownMemory | None:
        """The node of a whole sha; None where there is none.

        A title is the beginning of the text, as it is stored, and a message is as it is stored, too: nothing is cut
        to a line, nor redacted again.
        """
        ...
