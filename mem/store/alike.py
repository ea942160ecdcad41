"""Lessons that say the same: equal ones by their plain text, similar ones by bands and then word for word."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mem.domain.nodes import Node, StoredNode
from mem.parsing.likeness import bands, rules_sha, same
from mem.ports import Alike
from mem.store import nodes
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.reaching import listed
from mem.writing.entries import plain_sha

MOST = 50
"""So many candidates are compared, those with the most bands in common: one that says the same shares most of them."""

_PAGE = 500


async def alike(connection: Connection, node: Node, excluded: Sequence[str] = ()) -> Alike | None:
    """The lesson that says the same as `node`; live ones first, then equal ones, then those that share most."""
    scope = {
        "project": node.project,
        "visibility": node.visibility,
        "owner": node.owner,
        "container": node.container,
        "excluded": list(excluded),
    }
    cursor = await connection.execute(sql("nodes.equal"), {"plain_sha": plain_sha(node.text), **scope})
    if (row := await cursor.fetchone()) is not None:
        return Alike(row[0], equal=True)
    cursor = await connection.execute(sql("nodes.near"), {"bands": bands(node.text), "limit": MOST, **scope})
    near = [(sha, successor) for sha, text, successor in await cursor.fetchall() if same(node.text, text)]
    if (live := next((sha for sha, successor in near if successor is None), None)) is not None:
        return Alike(live, equal=False)
    return await _superseded(connection, node, [sha for sha, _ in near], excluded)


async def _superseded(connection: Connection, node: Node, near: Sequence[str], excluded: Sequence[str]) -> Alike | None:
    """The first superseded lesson whose successor the candidate does not mean to supersede in its turn."""
    own = node.sha
    for sha in dict.fromkeys([own, *near]):
        newest = await nodes.successor(connection, sha)
        # A text that was superseded cannot come back: it would be the node that is there.
        if newest is not None and (sha == own or newest not in excluded):
            return Alike(sha, equal=sha == own, successor=newest)
    return None


async def returned_alike(
    connection: Connection, node: Node, readable: Collection[str] | None = None
) -> StoredNode | None:
    """The lesson of another project that says the same and that a lookup returned to the project of `node`."""
    asked = {"project": node.project, "bands": bands(node.text), "readable": listed(readable), "limit": MOST}
    cursor = await connection.execute(sql("nodes.returned"), asked)
    sha = next((sha for sha, text, _ in await cursor.fetchall() if same(node.text, text)), None)
    return None if sha is None else (await nodes.by_sha(connection, [sha]))[sha]


async def fill_bands(pool: Pool) -> int:
    """Compute the bands of the lessons that have none by the rules of this version; returns how many they were.

    Page by page, each in a transaction of its own, beside all other work; to be repeated at any time.
    """
    done, after = 0, ""
    while rows := await on_connection(pool, lambda c, after=after: _without_bands(c, after)):  # type: ignore[misc]
        await in_transaction(pool, lambda c, rows=rows: _put_bands(c, rows))  # type: ignore[misc]
        done, after = done + len(rows), rows[-1][0]
    return done


async def _without_bands(connection: Connection, after: str) -> list[tuple[str, str]]:
    parameters = {"after": after, "bands_by": rules_sha(), "limit": _PAGE}
    return [
        (sha, text) for sha, text in await (await connection.execute(sql("nodes.without_bands"), parameters)).fetchall()
    ]


async def _put_bands(connection: Connection, rows: Sequence[tuple[str, str]]) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany(
            sql("nodes.put_bands"),
            [{"sha": sha, "bands": bands(text), "bands_by": rules_sha()} for sha, text in rows],
        )
