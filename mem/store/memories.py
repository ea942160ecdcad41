"""Nodes, edges, projections and vectors: the memories port over Postgres."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mem.domain.accepting import MadeProjection, Projection
from mem.domain.nodes import Level, Node, Parent, StoredNode, VectorKind
from mem.ports import (
    Alike,
    Appended,
    AppendPlan,
    Clock,
    Embedder,
    Lineage,
    Reach,
    Superseded,
    Vector,
    VectorHit,
    WordHit,
)
from mem.store import alike, appending, lexical, nodes, projections, superseding, vectors
from mem.store.pool import Pool, in_transaction, on_connection


class PostgresMemories:
    """The memories port; every method is one round of `in_transaction` or `on_connection`."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        *,
        exact_limit: int = vectors.EXACT_LIMIT,
        exact_words: int = lexical.EXACT_LIMIT,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._exact_limit = exact_limit
        self._exact_words = exact_words

    async def resolve(self, prefix: str) -> str:
        """The full sha that begins with `prefix`.

        Raises:
            NotFound: no node does.
            AmbiguousPrefix: several do.
            InvalidRequest: `prefix` is no hex of 4 to 64 digits.
        """
        return await on_connection(self._pool, lambda c: nodes.resolve(c, prefix))

    async def nodes(self, shas: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes that exist among `shas`."""
        return await on_connection(self._pool, lambda c: nodes.by_sha(c, shas))

    async def alike(self, node: Node, excluded: Sequence[str] = ()) -> Alike | None:
        """The lesson of the same project, visibility, owner and container that says the same as `node`."""
        return await on_connection(self._pool, lambda c: alike.alike(c, node, excluded))

    async def returned_alike(self, node: Node, readable: Collection[str] | None = None) -> StoredNode | None:
        """The lesson of another project that says the same as `node` and that a lookup returned to its project."""
        return await on_connection(self._pool, lambda c: alike.returned_alike(c, node, readable))

    async def supersede(self, old: str, new: str) -> Superseded:
        """Make `new` the successor of `old`, with its journal record; again it returns the same.

        Raises:
            NotFound: one of them does not exist.
            InvalidRequest: they do not fit together, or one has a successor.
        """
        return await in_transaction(self._pool, lambda c: superseding.supersede(c, old, new, self._clock.now()))

    async def successor(self, sha: str) -> str | None:
        """The newest live successor of a superseded node."""
        return await on_connection(self._pool, lambda c: nodes.successor(c, sha))

    async def append(self, plan: AppendPlan) -> Appended:
        """Append nodes, edges, supersessions and the journal record, or return what was appended first.

        Raises:
            NotFound: a parent or a superseded node does not exist.
        """
        return await in_transaction(self._pool, lambda c: appending.append(c, plan, self._clock.now()))

    async def put_projection(self, sha: str, projection: MadeProjection) -> Projection:
        """Record a projection once per (sha, prompt sha, model id); returns the recorded one.

        Raises:
            NotFound: the node does not exist.
        """
        return await in_transaction(self._pool, lambda c: projections.put(c, sha, projection, self._clock.now()))

    async def projection(self, sha: str) -> Projection | None:
        """The projection of a node, which may be empty; None where none was made yet."""
        return await on_connection(self._pool, lambda c: projections.of_node(c, sha))

    async def put_vectors(self, kind: VectorKind, texts: Mapping[str, str], embedder: Embedder) -> None:
        """Embed the text given for each node sha and store the vectors, a batch at a time.

        Raises:
            NotFound: a node does not exist.
            ConfigurationError: no model is active.
            ModelMismatch: another one is.
        """
        parts = {(sha, 0): text for sha, text in texts.items()}
        await vectors.embed_and_put(self._pool, kind, parts, embedder, self._clock)

    async def vector_kinds(self, sha: str) -> list[VectorKind]:
        """Which vectors a node has, `text` first."""
        return await on_connection(self._pool, lambda c: vectors.kinds(c, sha))

    async def evidence(self, sha: str) -> list[StoredNode]:
        """The L0 nodes below a node, in order of source, turn and sha."""
        return await on_connection(self._pool, lambda c: nodes.evidence(c, sha))

    async def lessons(self, after: str, limit: int) -> list[str]:
        """The shas of L1 and L2 behind `after`, in their order."""
        return await on_connection(self._pool, lambda c: nodes.lessons(c, after, limit))

    async def projects(self) -> list[str]:
        """The projects of which anything is known that all may read, by name; `*` where something is shared."""
        return await on_connection(self._pool, nodes.projects)

    async def parents(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, list[Parent]]:
        """The parents of each node and of the L1 among these, by child, in order of level, source, turn and sha."""
        return await on_connection(self._pool, lambda c: nodes.parents(c, shas, told))

    async def lineages(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, Lineage]:
        """For each sha the live node that stands for it; one without is left out."""
        return await on_connection(self._pool, lambda c: nodes.lineages(c, shas, told))

    async def nearest(
        self, kind: VectorKind, levels: Sequence[Level], vector: Vector, reach: Reach, limit: int
    ) -> list[VectorHit]:
        """The nearest nodes by cosine, best first, superseded ones included, ties by sha.

        Raises:
            ModelMismatch: the vector has another dimension than the index.
        """
        return await on_connection(
            self._pool, lambda c: vectors.nearest(c, kind, levels, vector, reach, limit, self._exact_limit)
        )

    async def lexical(self, text: str, levels: Sequence[Level], reach: Reach, limit: int) -> list[VectorHit]:
        """The nodes whose text or projection is most similar by trigrams, superseded ones included."""
        return await on_connection(self._pool, lambda c: nodes.lexical(c, text, levels, reach, limit))

    async def words(self, terms: Sequence[str], levels: Sequence[Level], reach: Reach, limit: int) -> list[WordHit]:
        """The nodes that fit the terms of a question best, by own words and context together, ties by sha."""
        return await on_connection(
            self._pool, lambda c: lexical.search(c, terms, levels, reach, limit, self._exact_words)
        )

    async def by_tool(self, tool: str, reach: Reach, limit: int) -> list[str]:
        """Live lessons whose signatures carry the tool: the own project first, then by occurrences, then by sha."""
        return await on_connection(self._pool, lambda c: nodes.by_tool(c, tool, reach, limit))
