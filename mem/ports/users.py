"""What a user's next turn may be grounded in: the memories that the user may read, each read within an audience."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from mem.domain.grounding import ScopeLevel
from mem.domain.nodes import StoredNode, VectorKind
from mem.ports.memories import VectorHit, WordHit
from mem.ports.models import Vector


class Audience(NamedTuple):
    """Whose memories a read may see: live lessons (L1, L2) in the readable projects; `readable` None means all.

    What is shared by all projects (`*`) may always be read. What finds a superseded lesson that may be read finds the
    live one at the end of its successors in its place, where that may be read as well.

    Scope `user`: what the user owns, of visibility `user` or `global`. `user_global`: what is `global` besides,
    whoever owns it. `user_global_container`: what the user owns of visibility `container` besides, in `containers`.
    Never what another user owns, unless it is `global`.
    """

    user: str
    scope: ScopeLevel
    containers: tuple[str, ...] = ()
    readable: tuple[str, ...] | None = None


class KnownUser(NamedTuple):
    """Whether a user owns a lesson in the readable projects, live or not, and which of the containers carry one."""

    found: bool
    containers: tuple[str, ...]


class SnapshotEntry(NamedTuple):
    """One memory of a user's rolling summary; `line` is what the summary says of it."""

    sha: str
    line: str


class Neighbour(NamedTuple):
    """A lesson that is tied to another one, by an edge or by a signature that both carry."""

    sha: str
    of: str
    by: Literal["edge", "signature"]


class Remembered(NamedTuple):
    """A lesson as a turn is told of it, with its projection, the tool that it concerns and the UTC date it is from.

    `symptom` is empty where it has none; `tool` is the first by name of those that its signatures carry.
    """

    node: StoredNode
    symptom: str = ""
    tool: str | None = None
    day: str | None = None


class Users(Protocol):
    """The memories of users."""

    async def known(self, audience: Audience) -> KnownUser:
        """What is known of a user; the containers asked for count whatever the scope is, in the order asked for."""
        ...

    async def snapshot(self, audience: Audience) -> list[SnapshotEntry]:
        """The newest of the user's own lessons that the audience may read, a line for each, newest first."""
        ...

    async def refresh_snapshot(self, sha: str) -> int:
        """Bring the rolling summary of a memory's owner up to date; how many entries it has.

        A pure function of what is stored, so that it may be repeated and a rebuild gives the same. A lesson that is
        superseded leaves the summary in the same moment.

        Raises:
            NotFound: the memory does not exist.
        """
        ...

    async def nearest(self, kind: VectorKind, vector: Vector, audience: Audience, limit: int) -> list[VectorHit]:
        """The nearest readable lessons by cosine, best first, ties by sha."""
        ...

    async def words(self, terms: Sequence[str], audience: Audience, limit: int) -> list[WordHit]:
        """The readable lessons that fit the terms best (BM25, as `Memories.words`), ties by sha.

        What a term weighs is counted among what the audience may read alone.
        """
        ...

    async def labelled(self, labels: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that carry one of the labels: a tool of their signatures, a project, a container.

        A container is one of the user's own lessons; in which one that of another user came up is nobody's business.
        More labels first, then the user's own, then by sha. Of a label that hundreds for everybody carry, which then
        says little, some may stand for all; of the user's own all count.
        """
        ...

    async def neighbours(self, shas: Sequence[str], audience: Audience, limit: int) -> list[Neighbour]:
        """The readable lessons that an edge or a shared signature ties to another one, which is among `shas`.

        An edge ties a synthesis to its lessons, and lessons that share a readable parent. What is tied to a lesson that
        one of `shas` superseded counts as tied to that. Signatures of an earlier version of the algorithm tie what has
        none of the current one. At most `limit` for each of `shas`, in all by `of`, `by` and sha.
        """
        ...

    async def signed(self, keys: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that a signature with one of these exact keys points at, by sha."""
        ...

    async def remembered(self, shas: Sequence[str], audience: Audience) -> dict[str, Remembered]:
        """Those of `shas` that are readable lessons, whoever found them."""
        ...
