"""Reads of nodes, their edges and their successors."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, LiteralString

from psycopg import sql as compose
from psycopg.rows import class_row, dict_row

from mem.domain.errors import AmbiguousPrefix, InvalidRequest, NotFound
from mem.domain.nodes import Level, Node, Parent, StoredNode
from mem.parsing.likeness import bands, rules_sha
from mem.ports import Lineage, Reach, VectorHit
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.store.reaching import listed, within
from mem.writing.entries import plain_sha
from mem.writing.superseding import LESSONS

_PREFIX = re.compile(r"[0-9a-f]{4,64}")
_BEHIND_HEX = "g"


async def resolve(connection: Connection, prefix: str) -> str:
    """The full sha that begins with `prefix`."""
    prefix = prefix.lower()
    if not _PREFIX.fullmatch(prefix):
        raise InvalidRequest(f"{prefix[:80]!r} is no sha.", "Give 4 to 64 hex digits.")
    parameters = {"prefix": prefix, "behind": prefix + _BEHIND_HEX}
    found = [sha for (sha,) in await (await connection.execute(sql("nodes.by_prefix"), parameters)).fetchall()]
    if not found:
        raise NotFound(f"No node begins with {prefix}.", "Check the sha.")
    if len(found) > 1:
        raise AmbiguousPrefix(
            f"Several nodes begin with {prefix}: {', '.join(sha[:12] for sha in found)}.", "Give more digits."
        )
    return str(found[0])


async def by_sha(connection: Connection, shas: Sequence[str]) -> dict[str, StoredNode]:
    """The nodes that exist among `shas`, in the order asked for."""
    if not shas:
        return {}
    cursor = connection.cursor(row_factory=class_row(StoredNode))
    await cursor.execute(sql("nodes.by_sha"), {"shas": list(shas)})
    found = {node.stored_sha: node for node in await cursor.fetchall()}
    return {sha: found[sha] for sha in shas if sha in found}


def row_of(node: Node, passages: Sequence[str] | None = None) -> dict[str, Any]:
    """A node as it is inserted, with all that is derived from it alone, and what is embedded of it; None: its text."""
    lesson = node.level in LESSONS
    return {
        **node.model_dump(),
        "sha": node.sha,
        "plain_sha": plain_sha(node.text),
        "bands": bands(node.text) if lesson else None,
        "bands_by": rules_sha() if lesson else None,
        "passages": None if passages is None else list(passages),
    }


async def existing(connection: Connection, shas: Sequence[str]) -> set[str]:
    """Those of `shas` that are nodes."""
    if not shas:
        return set()
    cursor = await connection.execute(sql("nodes.existing"), {"shas": list(shas)})
    return {sha for (sha,) in await cursor.fetchall()}


async def of_level(connection: Connection, shas: Sequence[str], level: Level) -> list[str]:
    """Those of the nodes that are of a level, in their order."""
    if not shas:
        return []
    cursor = await connection.execute(sql("nodes.of_level"), {"shas": list(shas), "level": level})
    return [sha for (sha,) in await cursor.fetchall()]


async def require(connection: Connection, shas: Sequence[str]) -> None:
    """Refuse to build on nodes that are not there.

    Raises:
        NotFound: one is missing.
    """
    if missing := sorted(set(shas) - await existing(connection, shas)):
        raise NotFound(f"No node {missing[0]}.", "Accept it first, or name another.")


async def lineages(
    connection: Connection, shas: Sequence[str], told: Collection[str] | None = None
) -> dict[str, Lineage]:
    """For each sha the live node at the end of its successors, where it is of a project that may be told of."""
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(sql("nodes.lineages"), {"shas": list(shas), "told": listed(told)})
    found: dict[str, Lineage] = {}
    for row in await cursor.fetchall():
        origin, path, symptom = row.pop("origin"), row.pop("path"), row.pop("projected")
        found[origin] = Lineage(StoredNode(**row), tuple(path), symptom)
    return {sha: found[sha] for sha in shas if sha in found}


async def successor(connection: Connection, sha: str) -> str | None:
    """The live node at the end of the successors of a superseded one."""
    lineage = (await lineages(connection, [sha])).get(sha)
    return lineage.node.stored_sha if lineage and lineage.supersedes else None


async def evidence(connection: Connection, sha: str) -> list[StoredNode]:
    """The L0 nodes below a node."""
    cursor = connection.cursor(row_factory=class_row(StoredNode))
    return await (await cursor.execute(sql("nodes.evidence"), {"sha": sha})).fetchall()


async def lessons(connection: Connection, after: str, limit: int) -> list[str]:
    """The shas of L1 and L2 behind `after`, in their order."""
    cursor = await connection.execute(sql("nodes.lessons"), {"after": after, "limit": limit})
    return [sha for (sha,) in await cursor.fetchall()]


async def projects(connection: Connection) -> list[str]:
    """The projects that have nodes for all."""
    return [project for (project,) in await (await connection.execute(sql("nodes.projects"))).fetchall()]


async def parents(
    connection: Connection, shas: Sequence[str], told: Collection[str] | None = None
) -> dict[str, list[Parent]]:
    """The direct parents of each node, empty for one without, and those of the lessons among them."""
    found: dict[str, list[Parent]] = {sha: [] for sha in shas}
    cursor = await connection.execute(sql("nodes.parents"), {"shas": list(shas), "told": listed(told)})
    for child, level, sha, source, turn in await cursor.fetchall():
        found.setdefault(child, []).append(Parent(level=level, sha=sha, source=source, turn=turn))
    return found


async def lexical(
    connection: Connection, text: str, levels: Sequence[Level], reach: Reach, limit: int
) -> list[VectorHit]:
    """The nodes most similar by trigrams."""
    statement = with_literals(sql("nodes.lexical"), levels=levels)
    cursor = await connection.execute(statement, {"text": text, "limit": limit, **within(reach)})
    return [VectorHit(*row) for row in await cursor.fetchall()]


async def by_tool(connection: Connection, tool: str, reach: Reach, limit: int) -> list[str]:
    """Lessons whose signatures carry the tool, superseded ones included."""
    cursor = await connection.execute(sql("nodes.by_tool"), {"tool": tool, "limit": limit, **within(reach)})
    return [sha for (sha,) in await cursor.fetchall()]


def with_literals(statement: LiteralString, *, levels: Sequence[Level], **more: Any) -> compose.Composed:
    """Write levels and other values into a statement, where only literals let the planner take a partial index."""
    listed = compose.SQL(", ").join(compose.Literal(level) for level in levels)
    return compose.SQL(statement).format(levels=listed, **{name: compose.Literal(one) for name, one in more.items()})
