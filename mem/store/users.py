"""What a user's next turn may be grounded in: the users port over Postgres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, LiteralString

from pgvector import HalfVector
from psycopg.rows import class_row, dict_row

from mem.domain.nodes import StoredNode, VectorKind
from mem.domain.signatures import ALGO
from mem.ports import Audience, KnownUser, Neighbour, Remembered, SnapshotEntry, Vector, VectorHit, WordHit
from mem.store import lexical, snapshots, user_words, vectors
from mem.store.audience import Found, best_standing, common, parameters, statement
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.reaching import within
from mem.writing.snapshot import ENTRIES

_DAY = 10
"""Characters of a time that name its day."""

EXACT_LIMIT = 3_000
"""Fewer than for a lookup, since a turn waits for less: so many are scanned in two milliseconds."""


class PostgresUsers:
    """The users port; every method is one round of `in_transaction` or `on_connection`.

    Args:
        kept: connections that keep plans, for the statements that are as good for all parameters; without it `pool`.
        algo: the version of the algorithm of signatures that is the current one.
        exact_limit: up to so many live vectors that are for everybody, of a kind, a scan of them all finds the nearest.
        exact_words: among so many lessons that are for everybody every one that holds a term is scored.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        kept: Pool | None = None,
        algo: int = ALGO,
        exact_limit: int = EXACT_LIMIT,
        exact_words: int = lexical.EXACT_LIMIT,
    ) -> None:
        self._pool = pool
        self._kept = pool if kept is None else kept
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

        return await on_connection(self._kept, work)

    async def snapshot(self, audience: Audience) -> list[SnapshotEntry]:
        """The newest of the user's own lessons that the audience may read, a line for each, newest first."""

        async def work(connection: Connection) -> list[SnapshotEntry]:
            asked = {**parameters(audience), "limit": ENTRIES}
            rows = await (await connection.execute(statement("users.snapshot"), asked)).fetchall()
            return [SnapshotEntry(*row) for row in rows]

        return await on_connection(self._kept, work)

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
        name: LiteralString = "users.nearest_own" if audience.scope == "user" else "users.nearest"
        asked = {
            "vector": HalfVector(list(vector)),
            "exact_limit": self._exact_limit,
            **parameters(audience),
            **within(common(audience)),
        }

        async def work(connection: Connection) -> list[VectorHit]:
            async def fetch(wanted: int) -> Found[VectorHit]:
                rows = await vectors.rows(connection, statement(name, kind), {**asked, "limit": wanted})
                return _found(rows, wanted)

            return await best_standing(connection, audience, fetch, limit)

        return await on_connection(self._pool, work)

    async def words(self, terms: Sequence[str], audience: Audience, limit: int) -> list[WordHit]:
        """The readable lessons that fit the terms best (BM25, as `Memories.words`), ties by sha."""
        return await on_connection(
            self._kept, lambda connection: user_words.search(connection, terms, audience, limit, self._exact_words)
        )

    async def labelled(self, labels: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that carry one of the labels: a tool of their signatures, a project, a container."""

        async def work(connection: Connection) -> list[str]:
            asked = {"labels": list(labels), **parameters(audience)}

            async def fetch(wanted: int) -> Found[VectorHit]:
                cursor = await connection.execute(statement("users.labelled"), {**asked, "limit": wanted})
                return _found(await cursor.fetchall(), wanted)

            return [hit.sha for hit in await best_standing(connection, audience, fetch, limit)]

        return await on_connection(self._kept, work) if labels else []

    async def neighbours(self, shas: Sequence[str], audience: Audience, limit: int) -> list[Neighbour]:
        """The readable lessons that an edge or a shared signature ties to another one, which is among `shas`."""

        async def work(connection: Connection) -> list[Neighbour]:
            asked = {"shas": list(shas), "algo": self._algo, "limit": limit, **parameters(audience)}
            cursor = connection.cursor(row_factory=class_row(Neighbour))
            return await (await cursor.execute(statement("users.neighbours"), asked)).fetchall()

        return await on_connection(self._kept, work) if shas else []

    async def signed(self, keys: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that a signature with one of these exact keys points at, by sha."""

        async def work(connection: Connection) -> list[str]:
            asked = {"keys": list(keys), "limit": limit, **parameters(audience)}
            rows = await (await connection.execute(statement("users.signed"), asked)).fetchall()
            return [sha for (sha,) in rows]

        return await on_connection(self._kept, work) if keys else []

    async def remembered(self, shas: Sequence[str], audience: Audience) -> dict[str, Remembered]:
        """Those of `shas` that are readable lessons, whoever found them."""

        async def work(connection: Connection) -> dict[str, Remembered]:
            asked = {"shas": list(shas), **parameters(audience)}
            cursor = connection.cursor(row_factory=dict_row)
            rows = await (await cursor.execute(statement("users.remembered"), asked)).fetchall()
            return {row["stored_sha"]: _remembered(row) for row in rows}

        return await on_connection(self._kept, work) if shas else {}


def _remembered(row: dict[str, Any]) -> Remembered:
    symptom, tool, at = row.pop("projected"), row.pop("tool"), row.pop("at")
    # What the store holds was checked when it was written.
    return Remembered(StoredNode.model_construct(**row), symptom, tool, at and at[:_DAY])


def _found(rows: Sequence[Any], wanted: int) -> Found[VectorHit]:
    """Rows of the search that each is of, its sha and similarity, and whether it is live."""
    # A vector without length has no angle to any other.
    told = [row for row in rows if not math.isnan(row[2])]
    searches: dict[str, list[float]] = {}
    for search, _, similarity, _ in told:
        searches.setdefault(search, []).append(similarity)
    left = max((min(each) for each in searches.values() if len(each) >= wanted), default=None)
    hits = [VectorHit(sha, similarity) for _, sha, similarity, _ in told]
    return Found(hits, [sha for _, sha, _, live in told if not live], left)
