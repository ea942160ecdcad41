"""Answered requests: the same bytes for the same request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from mem.domain.signatures import Signature
from mem.ports.failures import Seen
from mem.ports.memories import Reach


class LedgerKey(NamedTuple):
    """Names one answered request."""

    operation: str
    scope: str
    request_id: str


class Settlement(NamedTuple):
    """A lookup to be counted and stored in one transaction; `returned` are the shas of its lessons."""

    key: LedgerKey
    fingerprint: str
    sightings: tuple[Signature, ...]
    reach: Reach
    returned: tuple[str, ...] = ()

    @property
    def keys(self) -> list[str]:
        """The exact keys under every version, under each of which there may be counts."""
        return [key for signature in self.sightings for key in signature.keys]


class Ledger(Protocol):
    """Answered requests: the same bytes for the same request."""

    async def find(self, key: LedgerKey, fingerprint: str) -> bytes | None:
        """The stored response.

        Raises:
            RequestConflict: the request id was answered for another body.
        """
        ...

    async def recorded(self, key: LedgerKey) -> bytes | None:
        """The response to whatever was asked under a key."""
        ...

    async def store(self, key: LedgerKey, fingerprint: str, response: bytes) -> bytes:
        """Store a response, or return the one stored first.

        Raises:
            RequestConflict: as for `find`.
        """
        ...

    async def settle(self, settlement: Settlement, render: Callable[[Mapping[str, Seen]], bytes]) -> bytes:
        """Count the sightings, journal them, and store the response, in one transaction.

        `render` gets the counts of all keys, with the current call in them, and makes the response; where the request
        was answered before it is not called, nothing is counted, and the stored response returns.

        Raises:
            RequestConflict: as for `find`.
        """
        ...

    async def expire(self, *, limit: int = 1000) -> int:
        """Delete a batch of expired rows; how many went."""
        ...
