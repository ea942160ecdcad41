"""The append-only log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from mem.domain.journal import Entry, Head, Record


class Journal(Protocol):
    """The append-only log."""

    async def record(self, entry: Entry) -> Record:
        """Append `entry`, or return the record that already has its key."""
        ...

    async def find(self, key: str) -> Record | None:
        """The record with that key."""
        ...

    def read(self, *, after: int = 0) -> AsyncIterator[Record]:
        """All records in order, beginning behind sequence number `after`."""
        ...

    async def head(self) -> Head:
        """Length of the journal and sha of its last record."""
        ...
