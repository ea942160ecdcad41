"""Nodes, edges, projections and vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from mem.domain.accepting import MadeProjection, Projection
from mem.domain.ids import SHARED
from mem.domain.nodes import Level, Node, Parent, StoredNode, VectorKind
from mem.ports.models import Embedder, Vector


class Reach(NamedTuple):
    """Whose memories a read may see: one project or all of them, shared ones always, of visibility `global`.

    `readable`: the projects that the caller may read; one that is federated sees those alone, and its own; None: all.
    """

    project: str
    federated: bool
    readable: tuple[str, ...] | None = None

    @property
    def counted(self) -> tuple[str, ...] | None:
        """The projects whose sightings are seen; None: all."""
        if not self.federated:
            return (self.project,)
        return None if self.readable is None else tuple(sorted({self.project, *self.readable}))

    @property
    def seen(self) -> tuple[str, ...] | None:
        """The projects whose memories are seen, the shared ones among them; None: all."""
        return None if self.counted is None else (*self.counted, SHARED)

    @property
    def told(self) -> tuple[str, ...] | None:
        """The projects of which an answer may tell at all, be it in what stands for a hit; None: all."""
        return None if self.readable is None else tuple(sorted({self.project, *self.readable, SHARED}))


class AppendPlan(NamedTuple):
    """An accepted candidate, or one that says what `duplicate_of` says, ready to be appended in one transaction.

    `overruled` where a person decided that it is another lesson than the one that it resembles.
    """

    key: str
    node: Node
    evidence: tuple[Node, ...]
    parents: tuple[str, ...]
    supersedes: tuple[str, ...]
    duplicate_of: str | None = None
    overruled: bool = False


class Appended(NamedTuple):
    """What the transaction did.

    `duplicate_of` is set when a live node says the same: `sha` is of that one, and it got the evidence. `overtaken_by`
    is set when another memory superseded first what this one was to supersede; nothing was written then.
    """

    sha: str
    evidence: tuple[str, ...]
    duplicate_of: str | None
    overtaken_by: str | None = None


class Alike(NamedTuple):
    """A lesson that says what a candidate says.

    `equal`: in the same words but for white space and case. `successor`: the newest one, where it was superseded.
    """

    sha: str
    equal: bool
    successor: str | None = None


class Superseded(NamedTuple):
    """What a person superseded by what; `sha` is of the successor."""

    old: str
    sha: str


class VectorHit(NamedTuple):
    """A node near a query; `similarity` is the cosine, or the trigram similarity of the lexical leg."""

    sha: str
    similarity: float


class WordHit(NamedTuple):
    """A node that fits the words of a question: by its `own`, and by those of its `context` with it, both 0 to 1.

    The context of evidence is two turns on each side in the same source of the project, that of a chunk of reference
    its document; that of a lesson is the lesson.
    """

    sha: str
    own: float
    context: float

    @property
    def similarity(self) -> float:
        """Both as one measure, 0 to 1."""
        return (self.own + self.context) / 2


class Lineage(NamedTuple):
    """A live node that stands for a hit, the superseded shas between the two, oldest first, and the node's projection.

    `symptom` is empty where the node has none, or an empty one.
    """

    node: StoredNode
    supersedes: tuple[str, ...]
    symptom: str


class Memories(Protocol):
    """Nodes, edges, projections and vectors."""

    async def resolve(self, prefix: str) -> str:
        """The full sha that begins with `prefix`.

        Raises:
            NotFound: no node does.
            AmbiguousPrefix: several do.
            InvalidRequest: `prefix` is no hex of 4 to 64 digits.
        """
        ...

    async def nodes(self, shas: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes that exist among `shas`."""
        ...

    async def alike(self, node: Node, excluded: Sequence[str] = ()) -> Alike | None:
        """The lesson of the same project, visibility, owner and container that says the same as `node`.

        Live ones come before superseded ones, equal ones before similar ones. Neither the excluded ones count nor
        what they superseded.
        """
        ...

    async def returned_alike(self, node: Node, readable: Collection[str] | None = None) -> StoredNode | None:
        """The lesson of another project that says the same as `node` and that a lookup returned to its project.

        Args:
            readable: the projects of which it may be; None: any.
        """
        ...

    async def supersede(self, old: str, new: str) -> Superseded:
        """Make `new` the successor of `old`, with its journal record; again it returns the same.

        Raises:
            NotFound: one of them does not exist.
            InvalidRequest: they do not fit together, or one has a successor.
        """
        ...

    async def successor(self, sha: str) -> str | None:
        """The newest live successor of a superseded node."""
        ...

    async def append(self, plan: AppendPlan) -> Appended:
        """Append nodes, edges, supersessions and the journal record `plan.key`, or return what was appended first.

        Takes an advisory lock of the project and checks for a duplicate again, which gets the evidence then.
        """
        ...

    async def put_projection(self, sha: str, projection: MadeProjection) -> Projection:
        """Record a projection once per (sha, prompt sha, model id); returns the recorded one."""
        ...

    async def projection(self, sha: str) -> Projection | None:
        """The projection of a node, which may be empty; None where none was made yet."""
        ...

    async def put_vectors(self, kind: VectorKind, texts: Mapping[str, str], embedder: Embedder) -> None:
        """Embed the text given for each node sha and store the vectors.

        An embedding recorded before under (model id, text sha) is replayed; a new one is recorded in the journal.
        """
        ...

    async def vector_kinds(self, sha: str) -> list[VectorKind]:
        """Which vectors a node has, `text` first."""
        ...

    async def evidence(self, sha: str) -> list[StoredNode]:
        """The L0 nodes below a node, through L1 parents for an L2, in order of source, turn and sha."""
        ...

    async def lessons(self, after: str, limit: int) -> list[str]:
        """The shas of L1 and L2 behind `after`, superseded ones included, in their order."""
        ...

    async def projects(self) -> list[str]:
        """The projects of which anything is known that all may read, by name; `*` where something is shared."""
        ...

    async def parents(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, list[Parent]]:
        """The parents of each node and of the L1 among these, by child, in order of level, source, turn and sha.

        Args:
            told: the projects whose nodes may be among them; None: all.
        """
        ...

    async def lineages(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, Lineage]:
        """For each sha the live node that stands for it; a superseded one without a live successor is left out.

        Args:
            told: the projects whose nodes may stand for one, and be named on the way; None: all.
        """
        ...

    async def nearest(
        self, kind: VectorKind, levels: Sequence[Level], vector: Vector, reach: Reach, limit: int
    ) -> list[VectorHit]:
        """The nearest nodes by cosine, best first, superseded ones included, ties by sha.

        Of a node with several vectors the nearest counts.
        """
        ...

    async def lexical(self, text: str, levels: Sequence[Level], reach: Reach, limit: int) -> list[VectorHit]:
        """The nodes whose text or projection is most similar by trigrams, best first, ties by sha."""
        ...

    async def words(self, terms: Sequence[str], levels: Sequence[Level], reach: Reach, limit: int) -> list[WordHit]:
        """The nodes that fit the terms of a question best, by own words and context together, ties by sha.

        BM25 over the highest score that the question could reach. Superseded ones are included. Where very many nodes
        are within reach, those that hold none of the rarest terms may be missing.
        """
        ...

    async def by_tool(self, tool: str, reach: Reach, limit: int) -> list[str]:
        """Lessons whose signatures carry the tool, superseded ones included.

        The own project comes first, then what occurred more often, then by sha.
        """
        ...
