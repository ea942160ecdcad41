"""What the projector would say today: kept beside the projections, and put in their place only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mem.domain.regenerating import Proposal
from mem.ports.models import Embedder, ProjectorKey


class Proposals(Protocol):
    """The proposals of the last run; of an earlier one nothing is kept."""

    async def begin(self, run: str, key: ProjectorKey, *, keep: bool) -> None:
        """Make room for the proposals of a run.

        With `keep`, those that the last run made under the same key, and nobody applied, become those of this one: what
        was shown is what is applied.
        """
        ...

    async def made(self, shas: Sequence[str]) -> set[str]:
        """Those of the nodes for which there is a proposal."""
        ...

    async def put(self, run: str, proposal: Proposal) -> None:
        """Keep a proposal; the first one for a node stands.

        Raises:
            NotFound: another run has begun.
        """
        ...

    async def page(self, after: str, limit: int) -> list[Proposal]:
        """The next proposals behind a sha, in the order of their shas."""
        ...

    async def apply(self, run: str, sha: str, embedder: Embedder) -> bool:
        """Journal a proposal as the projection of its node and replace text and vector; whether that changed anything.

        Raises:
            NotFound: another run has begun, or there is no such proposal.
        """
        ...

    async def close(self, run: str) -> None:
        """Note that all was applied; the proposals stay to be read until the next run."""
        ...
