"""The rolling summaries of users: a line for each live lesson that somebody owns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mem.domain.errors import NotFound
from mem.store import journal, nodes
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.writing.snapshot import LINE_BY, headline

_PAGE = 500


class Noted(NamedTuple):
    """A lesson for a summary, and the record of the journal that appended it."""

    sha: str
    text: str
    seq: int


async def refresh(connection: Connection, sha: str) -> int:
    """Enter what the summary of a memory's owner lacks; how many lessons it has then, none without an owner.

    Raises:
        NotFound: the memory does not exist.
    """
    await journal.lock(connection, [])  # tables are not exchanged meanwhile
    found = await nodes.by_sha(connection, [sha])
    if sha not in found:
        raise NotFound(f"No node {sha}.", "Accept it first, or name another.")
    owner = found[sha].owner
    if owner is None:
        return 0
    after = ""
    while missing := await _outdated(connection, owner, after):
        await _renew(connection, missing)
        after = missing[-1]
    row = await (await connection.execute(sql("snapshots.count"), {"owner": owner})).fetchone()
    return int(row[0]) if row else 0


async def put(connection: Connection, noted: Sequence[Noted]) -> None:
    """Enter lessons that are live."""
    if not noted:
        return
    given = {
        "shas": [one.sha for one in noted],
        "seqs": [one.seq for one in noted],
        "lines": [headline(one.text) for one in noted],
        "line_by": LINE_BY,
    }
    await connection.execute(sql("snapshots.put"), given)


async def drop(connection: Connection, shas: Sequence[str]) -> None:
    """Take lessons out that are being superseded in this transaction."""
    await connection.execute(sql("snapshots.drop"), {"shas": list(shas)})


async def fill_snapshots(pool: Pool) -> int:
    """Make the lines that are missing, or of other rules than those of this version; returns how many they were.

    Page by page, each in a transaction of its own, beside all other work; to be repeated at any time.
    """
    done, after = 0, ""
    while shas := await on_connection(pool, lambda c, after=after: _outdated(c, None, after)):  # type: ignore[misc]
        done += await in_transaction(pool, lambda c, shas=shas: _renew_locked(c, shas))  # type: ignore[misc]
        after = shas[-1]
    return done


async def _outdated(connection: Connection, owner: str | None, after: str) -> list[str]:
    given = {"owner": owner, "after": after, "line_by": LINE_BY, "limit": _PAGE}
    return [sha for (sha,) in await (await connection.execute(sql("snapshots.outdated"), given)).fetchall()]


async def _renew_locked(connection: Connection, shas: Sequence[str]) -> int:
    await journal.lock(connection, [])
    return await _renew(connection, shas)


async def _renew(connection: Connection, shas: Sequence[str]) -> int:
    rows = await (await connection.execute(sql("snapshots.hold"), {"shas": list(shas)})).fetchall()
    await put(connection, [Noted(*row) for row in rows])
    return len(rows)
