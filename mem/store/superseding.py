"""Supersession: by a candidate in its own transaction, or by a person afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mem.domain.errors import NotFound
from mem.ports import Superseded
from mem.store import journal, nodes, snapshots
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.writing import entries
from mem.writing.superseding import check_supersession


async def supersede(connection: Connection, old: str, new: str, now: datetime) -> Superseded:
    """Make `new` the successor of `old`, or return what was done before.

    Raises:
        NotFound: one of them does not exist.
        InvalidRequest: they do not fit together, or one has a successor.
    """
    await journal.lock(connection, [])  # before anything is read: tables are not exchanged from here on
    found = await nodes.by_sha(connection, [old])
    if old not in found:
        raise NotFound(f"No node {old}.", "Check the sha.")
    project, key = found[old].project, entries.superseded_key(old)
    # The lock of the project is that of its acceptances, so what is read behind it stays so.
    await journal.lock(connection, [f"project:{project}"])
    await journal.lock(connection, [key])
    await nodes.require(connection, [new])
    found = await nodes.by_sha(connection, [old, new])
    recorded = await journal.find(connection, key)
    if found[old].superseded_by == new or (recorded is not None and recorded.data["new"] == new):
        return Superseded(old, new)
    newest = {sha: one for sha in found if (one := await nodes.successor(connection, sha)) is not None}
    check_supersession(found[old], found[new], newest)
    await replace(connection, [old], new)
    await journal.append(connection, [entries.superseded(old, new, project)], now)
    return Superseded(old, new)


async def replace(connection: Connection, old: Sequence[str], new: str) -> None:
    """Name the successor of nodes, retire their vectors and take them out of summaries; what has one keeps it."""
    superseded = {"shas": list(old), "successor": new}
    # Each a statement of its own: the last one must see vectors that the first one waited for.
    await connection.execute(sql("nodes.lock_for_change"), superseded)
    await connection.execute(sql("nodes.supersede"), superseded)
    await connection.execute(sql("nodes.retire_vectors"), superseded)
    await snapshots.drop(connection, old)
