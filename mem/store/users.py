"""What a user's next turn may be grounded in: the users port over Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pgvector import HalfVector
from psycopg.rows import class_row

from mem.domain.nodes import VectorKind
from mem.domain.signatures import ALGO
from mem.ports import Audience, KnownUser, Neighbour, SnapshotEntry, Vector, VectorHit, WordHit
from mem.store import lexical, snapshots, user_words, vectors
from mem.store.audience import best_standing, parameters, statement
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.writing.snapshot import ENTRIES


class PostgresUsers:
    """The users port; every method is one round of `in_transaction` or `on_connection`."""

    def __init__(
        self,
        pool: Pool,
        *,
        algo: int = ALGO,
        exact_limit: int = vectors.EXACT_LIMIT,
        exact_words: int = lexical.EXACT_LIMIT,
    ) -> None:
        self._pool = pool
        self._algo = algo
        self._exact_limit = exact_limit
        self._exact_words = exact_words

    async def known(self, audience: Audience) -> KnownUser:
        """What is known of a user; the containers asked for count whatever the scope is, in the order asked for."""

        async def work(connection: Connection) -> KnownUser:
            asked = {**parameters(audience), "asked": list(audience.containers)}
            row = await (await connection.execute(sql("users.known"), asked)).fetchone()
            found, containers = row or (False, ())
            return KnownUser(found, tuple(containers))

        return await on_connection(self._pool, work)

    async def snapshot(self, audience: Audience) -> list[SnapshotEntry]:
        """The newest of the user's own lessons that the audience may read, a line for each, newest first."""

        async def work(connection: Connection) -> list[SnapshotEntry]:
            asked = {**parameters(audience), "limit": ENTRIES}
            rows = await (await connection.execute(statement("users.snapshot"), asked)).fetchall()
            return [SnapshotEntry(*row) for row in rows]

        return await on_connection(self._pool, work)

    async def refresh_snapshot(self, sha: str) -> int:
        """Bring the rolling summary of a memory's owner up to date; how many entries it has.

        Raises:
            NotFound: the memory does not exist.
        """
        return await in_transaction(self._pool, lambda connection: snapshots.refresh(connection, sha))

    async def nearest(self, kind: VectorKind, vector: Vector, audience: Audience, limit: int) -> list[VectorHit]:
        """The nearest readable lessons by cosine, best first, ties by sha.

        Raises:
            ModelMismatch: the vector has another dimension than the index.
        """

        async def work(connection: Connection) -> list[VectorHit]:
            asked = {"vector": HalfVector(list(vector)), "exact_limit": self._exact_limit, **parameters(audience)}
            blocks = [statement("users.nearest_own", kind)]
            if audience.scope != "user":
                blocks.append(statement("users.nearest_global", kind))

            async def fetch(wanted: int) -> tuple[Sequence[VectorHit], float | None]:
                return await _nearest(connection, blocks, asked, wanted)

            return await best_standing(connection, audience, fetch, limit)

        return await on_connection(self._pool, work)

    async def words(self, terms: Sequence[str], audience: Audience, limit: int) -> list[WordHit]:
        """The readable lessons that fit the terms best (BM25, as `Memories.words`), ties by sha."""
        return await on_connection(
            self._pool, lambda connection: user_words.search(connection, terms, audience, limit, self._exact_words)
        )

    async def labelled(self, labels: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that carry one of the labels: a tool of their signatures, a project, a container."""

        async def work(connection: Connection) -> list[str]:
            asked = {"labels": list(labels), "limit": limit, **parameters(audience)}
            rows = await (await connection.execute(statement("users.labelled"), asked)).fetchall()
            return [sha for (sha,) in rows]

        return await on_connection(self._pool, work) if labels else []

    async def neighbours(self, shas: Sequence[str], audience: Audience, limit: int) -> list[Neighbour]:
        """The readable lessons that an edge or a shared signature ties to one of `shas`, without these."""

        async def work(connection: Connection) -> list[Neighbour]:
            asked = {"shas": list(shas), "algo": self._algo, "limit": limit, **parameters(audience)}
            cursor = connection.cursor(row_factory=class_row(Neighbour))
            return await (await cursor.execute(statement("users.neighbours"), asked)).fetchall()

        return await on_connection(self._pool, work) if shas else []


async def _nearest(
    connection: Connection, blocks: Sequence[bytes], asked: dict[str, Any], wanted: int
) -> tuple[list[VectorHit], float | None]:
    """The hits of each search, and from where on one of them was cut."""
    hits: list[VectorHit] = []
    cut: list[float] = []
    for block in blocks:
        found = await vectors.search(connection, block, {**asked, "limit": wanted})
        hits += found
        if len(found) >= wanted:
            cut.append(min(hit.similarity for hit in found))
    return hits, max(cut, default=None)
