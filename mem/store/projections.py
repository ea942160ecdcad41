"""Symptom projections: every one is recorded, the first of a node stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from psycopg.rows import class_row

from mem.domain.accepting import MadeProjection, Projection
from mem.store import journal, lexical, nodes
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.writing import entries


async def put(connection: Connection, sha: str, made: MadeProjection, now: datetime) -> Projection:
    """Record a projection, or return the one recorded under the same node, prompt and model."""
    key = entries.projection_key(sha, made.prompt_sha, made.model_id)
    await journal.lock(connection, [key])
    recorded = await journal.find(connection, key)
    if recorded is not None:
        return Projection.model_validate(recorded.data)
    await nodes.require(connection, [sha])
    row = {"sha": sha, "text": made.text, "model_id": made.model_id, "prompt_sha": made.prompt_sha}
    if (await connection.execute(sql("projections.insert"), row)).rowcount:
        await _show(connection, row, changed=made.text != "")
    await journal.append(connection, [entries.projection(sha, made)], now)
    return Projection.model_validate(row)


async def replace(connection: Connection, sha: str, made: MadeProjection) -> None:
    """Make a projection the one of its node; the vector of the old one goes."""
    row = {"sha": sha, "text": made.text, "model_id": made.model_id, "prompt_sha": made.prompt_sha}
    await connection.execute(sql("projections.replace"), row)
    await _show(connection, row, changed=True)
    await connection.execute(sql("vectors.delete_symptoms"), {"shas": [sha]})


async def of_node(connection: Connection, sha: str) -> Projection | None:
    """The projection of a node."""
    cursor = connection.cursor(row_factory=class_row(Projection))
    return await (await cursor.execute(sql("projections.of_node"), {"sha": sha})).fetchone()


async def _show(connection: Connection, row: Mapping[str, str], *, changed: bool) -> None:
    """Repeat a projection in its node, and where it changes the words of the node in the index of words."""
    found = await (await connection.execute(sql("projections.show"), row)).fetchone()
    if changed and found is not None:
        await lexical.change_texts(connection, [(row["sha"], found[0], row["text"])])
