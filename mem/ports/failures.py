"""Signatures, their links to memories, and their occurrences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Protocol

from mem.domain.accepting import LinkedSignature
from mem.domain.gaps import Gap
from mem.domain.rebuild import Compared
from mem.domain.signatures import Signature
from mem.ports.memories import Reach


class KnownHit(NamedTuple):
    """A node that a signature points at."""

    sig_sha: str
    sha: str


class Known(NamedTuple):
    """What is known of exact keys.

    `first_seen` is the UTC date of the first sighting of each key that an acceptance saw; other keys have none, since a
    lookup of one would be the first sighting that the next lookup tells.
    """

    hits: list[KnownHit]
    first_seen: dict[str, str]


class CoarseHit(NamedTuple):
    """A node whose signature agrees with one of the query's in all but versions, test ids and symbols."""

    sig_coarse: str
    sha: str


class Seen(NamedTuple):
    """How often a signature was seen within a reach, and the UTC date of the last time."""

    times: int
    last: str | None


class GapQuery(NamedTuple):
    """Which gaps are asked for.

    counted: the projects whose sightings count; None: all.
    readable: the projects whose memories make a failure known; None: all. Only those of visibility `global` do.
    since: the first day whose sightings count; None: all days do.
    algo: the current version of the key algorithm.
    """

    counted: tuple[str, ...] | None
    readable: tuple[str, ...] | None
    tool: str | None
    since: date | None
    limit: int
    algo: int


class GapsFound(NamedTuple):
    """The first gaps, and the number of all of them."""

    gaps: list[Gap]
    total: int


class Failures(Protocol):
    """Signatures, their links to memories, and their occurrences."""

    async def link(
        self, *, project: str, request_id: str, sha: str, signatures: Sequence[Signature]
    ) -> list[LinkedSignature]:
        """Link signatures to a memory, count the acceptance as a sighting of each, and journal both once.

        Returns the recorded links, in the order first given.
        """
        ...

    async def linked(self, sha: str) -> list[LinkedSignature]:
        """The signatures that point at a memory, ordered by sig_sha."""
        ...

    async def compare(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """How what is stored differs from these signatures pointing at a memory."""
        ...

    async def relink(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """Make these signatures, derived anew, point at a memory; counts nothing, since nothing was seen.

        Journaled where something was new or changed, so that all follows from the journal alone. Returns how what was
        stored differed. Links of other versions stay.

        Raises:
            NotFound: the memory does not exist.
        """
        ...

    async def known(self, sig_shas: Sequence[str], reach: Reach, algo: int) -> Known:
        """The nodes that the signatures point at, superseded ones included, by signature and sha; and since when.

        A node that has signatures of the version `algo` answers to those alone: what another version took for its
        failure no longer counts.
        """
        ...

    async def coarse(self, sig_coarse: Sequence[str], reach: Reach, algo: int, limit: int) -> list[CoarseHit]:
        """The nodes with a signature of equal coarse key, ordered by coarse key and sha; `algo` as for `known`."""
        ...

    async def seen(self, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
        """The counts of each signature; zero where it was never seen."""
        ...

    async def gaps(self, query: GapQuery) -> GapsFound:
        """The signatures that were seen and point at no live memory that is readable.

        One that points at a superseded memory is known where a live successor stands for it. By count, then by last
        day, both from the highest, then by sig_sha.

        A signature of another version than `algo` that says the same as one of that version is not told beside it. One
        of `algo` is no gap while a memory answers to an earlier one that says the same. The same: tool, rule, code and
        message are equal.
        """
        ...
