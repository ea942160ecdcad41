"""A second set of tables in a schema of its own, filled from the journal, and its swap with the live one."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import psycopg
from psycopg import sql as compose

from mem.domain.errors import NotFound, Unavailable
from mem.domain.journal import GENESIS
from mem.domain.replaying import Shadow
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.store.replaying import Chained, replay_page
from mem.store.vector_index import active_index

PROJECTIONS = (
    "failure_signature",
    "lexical_entry",
    "lexical_frequency",
    "lexical_total",
    "memory_edge",
    "memory_node",
    "memory_vector",
    "occurrence",
    "occurrence_count",
    "reference_document",
    "returned_lesson",
    "signature_link",
    "skill",
    "symptom_projection",
    "user_snapshot",
    "vector_count",
)
"""All tables that follow from the journal."""

KEPT = (
    "embedding",
    "embedding_index",
    "journal",
    "journal_head",
    "last_rebuild",
    "migration",
    "proposal",
    "regeneration",
    "request_ledger",
)
"""The journal, the model output beside it, the ledger, and notes of what runs here."""

LOCK_MS = 150
"""So long the swap waits for readers, who queue up behind it meanwhile; then it lets them pass and tries again."""
LOCK_TRIES = 5
LOCK_PAUSE_SECONDS = 0.05
"""So often and with such pauses, a second in all, since writers wait too; whoever asked for the swap asks again."""


class State(NamedTuple):
    """Whose tables they are, what they depend on, and how far the replay is."""

    run: str
    shape: str
    at: Chained


def schema_of(shadow: Shadow) -> str:
    """The schema of a run's tables."""
    if not shadow.check:
        return "mem_rebuild"
    return "mem_nightly" if shadow.nightly else "mem_check"


async def enter(connection: Connection, schema: str) -> None:
    """Let the statements of this transaction work on the tables of `schema`, however long they take."""
    await connection.execute(sql("shadow.enter"), {"path": f"{schema}, mem, public"})


async def exists(connection: Connection, schema: str) -> bool:
    """Whether a schema has the state of a replay."""
    row = await (await connection.execute(sql("shadow.exists"), {"state": f"{schema}.replay_state"})).fetchone()
    return bool(row and row[0])


async def create(connection: Connection, shadow: Shadow) -> None:
    """Make empty tables like the live ones, with their keys alone, in the place of any that are there."""
    schema = schema_of(shadow)
    keys = await (await connection.execute(sql("shadow.keys"), {"tables": list(PROJECTIONS)})).fetchall()
    await drop(connection, schema)
    await connection.execute(_composed("shadow.create", schema), prepare=False)
    for table in PROJECTIONS:
        await connection.execute(_composed("shadow.create_table", schema, table))
    await enter(connection, schema)
    for (statement,) in keys:
        await connection.execute(statement)
    start = {"run": shadow.run, "shape": await _shape(connection), "sha": GENESIS}
    await connection.execute(sql("shadow.start"), start)


async def is_mine(connection: Connection, shadow: Shadow) -> bool:
    """Whether the tables of this run are there, and still fit the database; in the transaction that entered them."""
    if not await exists(connection, schema_of(shadow)):
        return False
    state = await _state(connection)
    return (state.run, state.shape) == (shadow.run, await _shape(connection))


async def position(connection: Connection, shadow: Shadow) -> Chained:
    """How far the replay of this run is, locked; in the transaction that entered its tables.

    Raises:
        NotFound: the tables are gone, or of another run, or the database was migrated since.
    """
    if not await is_mine(connection, shadow):
        raise NotFound(
            "The tables of this rebuild are gone: another one began, or the database was migrated.",
            "Start the rebuild again.",
        )
    return (await _state(connection)).at


async def advance(connection: Connection, shadow: Shadow, limit: int) -> Chained:
    """Replay one page."""
    at = await position(connection, shadow)
    active = await active_index(connection)
    reached = await replay_page(connection, at, limit, active.model_id if active else None)
    if reached != at:
        await connection.execute(sql("replay.advance"), reached._asdict())
    return reached


async def replay_on(connection: Connection, shadow: Shadow, limit: int) -> Chained:
    """Replay page after page until there are no more."""
    at = await position(connection, shadow)
    while (reached := await advance(connection, shadow, limit)) != at:
        at = reached
    return at


async def catch_up(connection: Connection, shadow: Shadow, limit: int) -> Chained:
    """Replay all that this transaction sees, and count the vectors."""
    at = await replay_on(connection, shadow, limit)
    await connection.execute(sql("replay.forget_counts"))
    await connection.execute(sql("replay.count_vectors"))
    return at


async def build_next_index(connection: Connection, shadow: Shadow) -> int:
    """Build the next index or foreign key that the live tables have and these lack; how many are missing still."""
    schema = schema_of(shadow)
    wanted = await _indexes(connection, "mem")
    await enter(connection, schema)
    await position(connection, shadow)
    built = await _indexes(connection, schema)
    missing = [name for name in wanted if name not in built]
    if missing:
        await connection.execute(wanted[missing[0]])
    else:
        await connection.execute(compose.SQL(sql("shadow.analyze")).format(tables=tables_of(schema)))
    return max(len(missing) - 1, 0)


async def exchange(connection: Connection, shadow: Shadow, limit: int) -> Chained:
    """Put the tables in the place of the live ones: writers wait for this transaction, readers for its last moment.

    What an earlier attempt did stands.

    Raises:
        Unavailable: readers held the live tables for too long.
    """
    row = await (await connection.execute(sql("shadow.swapped"), {"run": shadow.run})).fetchone()
    if row is not None:
        return Chained(*row)
    schema = schema_of(shadow)
    triggers = await (await connection.execute(sql("shadow.triggers"), {"tables": list(PROJECTIONS)})).fetchall()
    await connection.execute(sql("shadow.lock_migration"))
    await enter(connection, schema)
    # What was recorded while the indexes were built, so that little is left to do while writers wait.
    await replay_on(connection, shadow, limit)
    await connection.execute(sql("journal.lock_writers_out"))
    reached = await catch_up(connection, shadow, limit)
    await _lock_readers_out(connection)
    await connection.execute(compose.SQL(sql("shadow.drop_live")).format(tables=tables_of("mem")))
    for table in PROJECTIONS:
        await connection.execute(_composed("shadow.move", schema, table))
    for (statement,) in triggers:
        await connection.execute(statement)
    await connection.execute(sql("shadow.note_swap"), {"run": shadow.run, **reached._asdict()})
    await drop(connection, schema)
    return reached


async def drop(connection: Connection, schema: str) -> None:
    """Remove a schema of a replay with all that is in it."""
    await connection.execute(_composed("shadow.drop", schema))


def tables_of(schema: str) -> compose.Composed:
    """The names of all projections in a schema."""
    return compose.SQL(", ").join(compose.Identifier(schema, table) for table in PROJECTIONS)


async def _lock_readers_out(connection: Connection) -> None:
    statement = compose.SQL(sql("shadow.lock_live")).format(tables=tables_of("mem"))
    await connection.execute(sql("shadow.lock_timeout"), {"milliseconds": str(LOCK_MS)})
    for _ in range(LOCK_TRIES):
        try:
            async with connection.transaction():
                await connection.execute(statement)
        except psycopg.errors.LockNotAvailable:
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            return
    raise Unavailable(
        "Others read the tables for so long that they could not be exchanged.",
        "It is tried again; end long transactions, such as a backup, if it persists.",
    )


async def _state(connection: Connection) -> State:
    row = await (await connection.execute(sql("replay.position"))).fetchone()
    run, shape, seq, sha = row or ("", "", 0, GENESIS)
    return State(run, shape, Chained(seq, sha))


async def _shape(connection: Connection) -> str:
    row = await (await connection.execute(sql("shadow.shape"))).fetchone()
    return str(row[0]) if row else ""


async def _indexes(connection: Connection, schema: str) -> dict[str, str]:
    """The indexes and foreign keys of the tables in a schema, as statements, by name."""
    parameters = {"schema": schema, "tables": list(PROJECTIONS)}
    return dict(await (await connection.execute(sql("shadow.indexes"), parameters)).fetchall())


def _composed(name: str, schema: str, table: str = "") -> compose.Composed:
    names = {"schema": compose.Identifier(schema)} | ({"table": compose.Identifier(table)} if table else {})
    return compose.SQL(sql(name)).format(**names)
