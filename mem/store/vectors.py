"""Vectors of nodes: stored beside what they are filtered by, searched exactly or through an index."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.rows import TupleRow

from mem.domain.canonical import sha256_hex
from mem.domain.errors import ModelMismatch
from mem.domain.nodes import Level, VectorKind
from mem.ports import Clock, Embedder, Reach, Vector, VectorHit
from mem.store import embeddings, journal, nodes
from mem.store.pool import Connection, Pool, in_transaction
from mem.store.queries import sql
from mem.store.reaching import within
from mem.store.vector_index import check_active

EXACT_LIMIT = 15_000
"""Up to so many live vectors a scan is fast enough, finds all, and orders the same after a rebuild."""

Place = tuple[str, int]
"""The sha of a node, and the number of a part of it."""

_PARTS_OF_EACH = 4
"""So many vectors are read of an index for one node that is wanted, since several may be of one node."""

_GROUPS: tuple[tuple[str, frozenset[Level]], ...] = (
    ("lesson", frozenset({"L1", "L2"})),
    ("L0", frozenset({"L0"})),
    ("R", frozenset({"R"})),
)
_SEVERAL = "R"
"""The nodes of this group have several vectors."""


async def embed_and_put(
    pool: Pool, kind: VectorKind, texts: Mapping[Place, str], embedder: Embedder, clock: Clock
) -> None:
    """Embed parts of nodes and store their vectors, a batch at a time, each in a transaction of its own.

    Raises:
        NotFound: a node does not exist.
        ConfigurationError: no model is active.
        ModelMismatch: another one is.
    """
    remaining = iter(sorted(texts.items()))
    while batch := dict(islice(remaining, embeddings.AT_ONCE)):
        await _put_batch(pool, kind, batch, embedder, clock)


async def _put_batch(
    pool: Pool, kind: VectorKind, texts: Mapping[Place, str], embedder: Embedder, clock: Clock
) -> None:
    fresh = await embeddings.embed_missing(pool, embedder, set(texts.values()))
    await in_transaction(pool, lambda c: put(c, kind, texts, embedder, fresh, clock.now()))


async def put(
    connection: Connection,
    kind: VectorKind,
    texts: Mapping[Place, str],
    embedder: Embedder,
    fresh: Mapping[str, bytes],
    now: datetime,
) -> None:
    """Store the vectors of parts of nodes, recording those embeddings in `fresh` that no one recorded before."""
    await check_active(connection, embedder.model_id, embedder.dimensions)
    text_shas = {place: sha256_hex(text) for place, text in texts.items()}
    shas = sorted({sha for sha, _ in texts})
    used = {sha: fresh[sha] for sha in text_shas.values() if sha in fresh}
    recorded = await embeddings.record(connection, embedder, set(text_shas.values()), used)
    await nodes.require(connection, shas)
    await connection.execute(sql("vectors.lock_nodes"), {"shas": shas})
    await insert(connection, kind, {place: recorded.embeddings[text_sha] for place, text_sha in text_shas.items()})
    await journal.append(connection, recorded.entries, now)


async def insert(connection: Connection, kind: VectorKind, vectors: Mapping[Place, bytes]) -> None:
    """Add the vectors of parts of nodes, of recorded embeddings; one that is there stays."""
    parameters = {
        "kind": kind,
        "shas": [sha for sha, _ in vectors],
        "parts": [part for _, part in vectors],
        "embeddings": [embeddings.halfvec(embedding) for embedding in vectors.values()],
    }
    await connection.execute(sql("vectors.insert"), parameters)


async def missing_parts(connection: Connection, shas: Sequence[str]) -> dict[Place, str]:
    """What is embedded of nodes and has no vector yet.

    Raises:
        NotFound: a node does not exist.
    """
    await nodes.require(connection, shas)
    rows = await (await connection.execute(sql("vectors.missing_parts"), {"shas": list(shas)})).fetchall()
    return {(sha, part): text for sha, part, text in rows}


async def kinds(connection: Connection, sha: str) -> list[VectorKind]:
    """Which vectors a node has, `text` first."""
    return [kind for (kind,) in await (await connection.execute(sql("vectors.kinds"), {"sha": sha})).fetchall()]


async def nearest(
    connection: Connection,
    kind: VectorKind,
    levels: Sequence[Level],
    vector: Vector,
    reach: Reach,
    limit: int,
    exact_limit: int = EXACT_LIMIT,
) -> list[VectorHit]:
    """The nearest nodes, best first; each group of levels has an index, so each is a search of its own."""
    hits: list[VectorHit] = []
    parameters = {
        "vector": HalfVector(list(vector)),
        "limit": limit,
        "parts": limit * _PARTS_OF_EACH,
        "exact_limit": exact_limit,
        **within(reach),
    }
    for group, members in _GROUPS:
        if wanted := tuple(sorted(members.intersection(levels))):
            hits += await search(connection, _statement(kind, group, wanted), parameters)
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.sha))[:limit]


@cache
def _statement(kind: VectorKind, group: str, levels: tuple[Level, ...]) -> bytes:
    """As bytes, which the driver remembers; of anything else it would write and read it again each time."""
    by_part = sql("vectors.nearest_by_part") if group == _SEVERAL else sql("vectors.nearest")
    return nodes.with_literals(by_part, levels=levels, kind=kind, level_group=group).as_bytes()


async def search(connection: Connection, statement: bytes, parameters: Mapping[str, Any]) -> list[VectorHit]:
    """The hits of a statement that gives shas and similarities, in its order.

    Raises:
        ModelMismatch: the vector has another dimension than the index.
    """
    # A vector without length has no angle to any other.
    found = await rows(connection, statement, parameters)
    return [VectorHit(sha, similarity) for sha, similarity in found if not math.isnan(similarity)]


async def rows(connection: Connection, statement: bytes, parameters: Mapping[str, Any]) -> list[TupleRow]:
    """The rows of a statement that compares with a vector.

    Raises:
        ModelMismatch: the vector has another dimension than the index.
    """
    try:
        return await (await connection.execute(statement, parameters)).fetchall()
    except psycopg.errors.DataException as error:
        raise ModelMismatch(
            f"The query vector does not fit the vector index: {str(error).splitlines()[0]}.",
            "Use the embedding model that the index was made with.",
        ) from error
