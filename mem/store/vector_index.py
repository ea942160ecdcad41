"""The index over the vectors of the one active model."""

from __future__ import annotations

from typing import NamedTuple

from psycopg import sql as compose

from mem.domain.errors import ConfigurationError, ModelMismatch
from mem.domain.nodes import Level, VectorKind
from mem.store.journal import lock
from mem.store.pool import Connection, Pool, in_transaction
from mem.store.queries import sql

MAX_DIMENSIONS = 4000
"""What an HNSW index over halfvec can hold."""


class HnswIndex(NamedTuple):
    """A partial index: vectors of one kind and one group of levels."""

    name: str
    kind: VectorKind
    levels: tuple[Level, ...]


INDEXES = (
    HnswIndex("memory_vector_text", "text", ("L1", "L2")),
    HnswIndex("memory_vector_symptom", "symptom", ("L1", "L2")),
    HnswIndex("memory_vector_evidence", "text", ("L0",)),
    HnswIndex("memory_vector_reference", "text", ("R",)),
)


class ActiveIndex(NamedTuple):
    """The model whose vectors are stored and searched."""

    model_id: str
    dimensions: int


async def ensure_vector_index(pool: Pool, model_id: str, dimensions: int) -> None:
    """Make `model_id` the active model with its partial HNSW indexes, or find that it is.

    Raises:
        ConfigurationError: the vectors are too long for an index.
        ModelMismatch: another model, or another dimension, is active.
    """
    if not 0 < dimensions <= MAX_DIMENSIONS:
        raise ConfigurationError(
            f"The model {model_id} makes vectors of {dimensions} dimensions; an index holds up to {MAX_DIMENSIONS}.",
            "Choose another embedding model, or shorten its vectors.",
        )
    wanted = ActiveIndex(model_id, dimensions)

    async def ensure(connection: Connection) -> None:
        await lock(connection, ["vector-index"])
        active = await active_index(connection)
        if active is None:
            await _create(connection, wanted)
        elif active != wanted:
            raise _mismatch(wanted, active)

    await in_transaction(pool, ensure)


async def active_index(connection: Connection) -> ActiveIndex | None:
    """The active model, if there is one."""
    row = await (await connection.execute(sql("index.active"))).fetchone()
    return ActiveIndex(*row) if row else None


async def check_active(connection: Connection, model_id: str, dimensions: int) -> None:
    """Refuse vectors that the index is not for.

    Raises:
        ConfigurationError: no model is active.
        ModelMismatch: another one is.
    """
    active = await active_index(connection)
    if active is None:
        raise ConfigurationError("No embedding model is active in the database.", "Run `mem migrate`.")
    if active != ActiveIndex(model_id, dimensions):
        raise _mismatch(ActiveIndex(model_id, dimensions), active)


def _mismatch(wanted: ActiveIndex, active: ActiveIndex) -> ModelMismatch:
    return ModelMismatch(
        f"The embedder is {wanted.model_id} ({wanted.dimensions} dimensions), the vector index is of "
        f"{active.model_id} ({active.dimensions} dimensions).",
        "Install the locked versions that the index was made with; rebuilding it is not part of this version.",
    )


async def _create(connection: Connection, index: ActiveIndex) -> None:
    await connection.execute(
        compose.SQL(sql("index.set_dimensions")).format(dimensions=compose.Literal(index.dimensions))
    )
    for hnsw in INDEXES:
        await build(connection, hnsw)
    await connection.execute(sql("index.activate"), index._asdict())


async def build(connection: Connection, hnsw: HnswIndex) -> None:
    """Build one of the indexes over what is there."""
    statement = compose.SQL(sql("index.create_hnsw"))
    levels = compose.SQL(", ").join(compose.Literal(level) for level in hnsw.levels)
    await connection.execute(
        statement.format(name=compose.Identifier(hnsw.name), kind=compose.Literal(hnsw.kind), levels=levels)
    )
