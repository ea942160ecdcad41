"""Writes of nodes: an accepted candidate with all that belongs to it, and reference."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mem.domain.journal import Record
from mem.domain.nodes import Node
from mem.ports import Appended, AppendPlan
from mem.store import journal, nodes
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.writing import entries


async def append(connection: Connection, plan: AppendPlan, now: datetime) -> Appended:
    """Append an accepted candidate, in the order that keeps writers from waiting for each other.

    First the project and the key are locked, then rows are written, then the head of the journal moves.
    """
    await journal.lock(connection, [f"project:{plan.node.project}"])
    await journal.lock(connection, [plan.key])
    recorded = await journal.find(connection, plan.key)
    if recorded is None:
        standing = await _standing(connection, plan)
        overtaken = None if standing else await _overtaken(connection, plan)
        if standing is None and overtaken is None:
            await _write(connection, plan)
        (recorded,) = await journal.append(connection, [entries.appended(plan, standing, overtaken)], now)
    return _outcome(recorded)


async def add_reference(connection: Connection, chunks: Sequence[Node], source: str, now: datetime) -> int:
    """Add the chunks of a source; how many were new the first time."""
    key = entries.reference_key(chunks, source)
    await journal.lock(connection, [key])
    recorded = await journal.find(connection, key)
    if recorded is None:
        added = 0
        for chunk in sorted(chunks, key=lambda chunk: chunk.sha):
            added += await _insert(connection, chunk)
        (recorded,) = await journal.append(connection, [entries.reference(chunks, source, added)], now)
    return int(recorded.data["added"])


async def _standing(connection: Connection, plan: AppendPlan) -> str | None:
    """The node that says the same and stands; a superseded one is stood for by its successor.

    That way a new node is always new, and no chain of successors can become a circle.
    """
    sha = plan.node.sha
    superseded = [one for one in plan.supersedes if one != sha]
    return await nodes.live_duplicate(connection, plan.node, superseded) or await nodes.successor(connection, sha)


async def _overtaken(connection: Connection, plan: AppendPlan) -> str | None:
    """The first memory that superseded what this one is to supersede; the project's lock keeps others from doing so."""
    found = await nodes.by_sha(connection, plan.supersedes)
    return next((node.superseded_by for _, node in sorted(found.items()) if node.superseded_by is not None), None)


async def _write(connection: Connection, plan: AppendPlan) -> None:
    await nodes.require(connection, [*plan.parents, *plan.supersedes])
    for node in sorted({node.sha: node for node in (*plan.evidence, plan.node)}.items()):
        await _insert(connection, node[1])
    sha = plan.node.sha
    parents = sorted({*plan.parents, *(node.sha for node in plan.evidence)} - {sha})
    await connection.execute(sql("nodes.link_parents"), {"sha": sha, "parents": parents})
    if plan.supersedes:
        superseded = {"shas": list(plan.supersedes), "successor": sha}
        # Each a statement of its own: the last one must see vectors that the first one waited for.
        await connection.execute(sql("nodes.lock_for_change"), superseded)
        await connection.execute(sql("nodes.supersede"), superseded)
        await connection.execute(sql("nodes.retire_vectors"), superseded)


async def _insert(connection: Connection, node: Node) -> int:
    row = {**node.model_dump(), "sha": node.sha, "plain_sha": entries.plain_sha(node.text)}
    return (await connection.execute(sql("nodes.insert"), row)).rowcount


def _outcome(record: Record) -> Appended:
    evidence = tuple(Node(**fields).sha for fields in record.data["evidence"])
    return Appended(record.data["sha"], evidence, record.data["duplicate_of"], record.data["overtaken_by"])
