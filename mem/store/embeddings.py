"""Embeddings, each recorded once under model and text, and replayed ever after."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from pgvector import HalfVector

from mem.domain.canonical import sha256_hex
from mem.domain.errors import ConfigurationError
from mem.domain.journal import Entry
from mem.ports import Embedder, Vector
from mem.store import journal
from mem.store.pool import Connection, Pool, on_connection
from mem.store.queries import sql
from mem.writing import entries

AT_ONCE = 16
"""Texts embedded and recorded in one transaction: so much work a crash may cost, and no more commits than that need."""


class Recorded(NamedTuple):
    """The embeddings that stand, and the journal entries of those that are new."""

    embeddings: dict[str, bytes]
    entries: list[Entry]


async def embed_missing(pool: Pool, embedder: Embedder, texts: Collection[str]) -> dict[str, bytes]:
    """Embed the texts of which no embedding is recorded; by the sha of the text.

    No connection is held meanwhile, since a model may take its time.
    """
    by_sha = {sha256_hex(text): text for text in sorted(texts)}
    known = await on_connection(pool, lambda connection: find(connection, embedder.model_id, by_sha))
    missing = [sha for sha in by_sha if sha not in known]
    if not missing:
        return {}
    vectors = await embedder.embed([by_sha[sha] for sha in missing])
    if wrong := {len(vector) for vector in vectors} - {embedder.dimensions}:
        raise ConfigurationError(
            f"The model {embedder.model_id} made vectors of {min(wrong)} dimensions instead of {embedder.dimensions}.",
            "Correct the dimensions of the embedder.",
        )
    return {sha: float32(vector) for sha, vector in zip(missing, vectors, strict=True)}


async def record(
    connection: Connection, embedder: Embedder, text_shas: Collection[str], fresh: Mapping[str, bytes]
) -> Recorded:
    """Record fresh embeddings unless others were there first; their entries remain to be appended."""
    model_id = embedder.model_id
    await journal.lock(connection, [entries.embedding_key(model_id, sha) for sha in fresh])
    known = await find(connection, model_id, text_shas)
    new = {sha: fresh[sha] for sha in sorted(fresh) if sha not in known}
    if new:
        await connection.execute(
            sql("embeddings.insert"),
            {"model_id": model_id, "text_shas": list(new), "embeddings": list(new.values())},
        )
    return Recorded(
        known | new,
        [
            entries.embedding(model_id, sha, sha256_hex(embedding), embedder.dimensions)
            for sha, embedding in new.items()
        ],
    )


async def find(connection: Connection, model_id: str, text_shas: Collection[str]) -> dict[str, bytes]:
    """The recorded embeddings among `text_shas`."""
    cursor = await connection.execute(sql("embeddings.find"), {"model_id": model_id, "text_shas": list(text_shas)})
    return {sha: bytes(embedding) for sha, embedding in await cursor.fetchall()}


def float32(vector: Vector) -> bytes:
    """A vector as it is recorded: float32, little-endian."""
    return np.asarray(vector, dtype="<f4").tobytes()


def halfvec(embedding: bytes) -> HalfVector:
    """A recorded vector as it is searched."""
    return HalfVector(np.frombuffer(embedding, dtype="<f4"))
