"""The write of an accepted candidate with all that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mem.domain.journal import Record
from mem.domain.nodes import Node
from mem.ports import Appended, AppendPlan
from mem.store import journal, lexical, nodes
from mem.store.alike import alike
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.store.superseding import replace
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
        parents: Sequence[str] = ()
        if overtaken is None:
            parents = await _parents(connection, plan, standing)
            await (
                _write(connection, plan) if standing is None else attach(connection, standing, plan.evidence, parents)
            )
        entry = entries.appended(plan, standing, overtaken, parents)
        (recorded,) = await journal.append(connection, [entry], now)
    return _outcome(recorded)


async def attach(connection: Connection, sha: str, evidence: Sequence[Node], parents: Sequence[str]) -> None:
    """Add evidence, and nodes that are there, to the parents of a node; what is there stays."""
    await _insert_all(connection, evidence)
    await _link(connection, sha, evidence, parents)


async def _standing(connection: Connection, plan: AppendPlan) -> str | None:
    """The node that says the same and stands; a superseded one is stood for by its successor.

    That way a new node is always new, and no chain of successors can become a circle.
    """
    if plan.duplicate_of is not None:
        await nodes.require(connection, [plan.duplicate_of])
        return await nodes.successor(connection, plan.duplicate_of) or plan.duplicate_of
    sha = plan.node.sha
    found = await alike(connection, plan.node, [one for one in plan.supersedes if one != sha])
    if found is None or (plan.overruled and not found.equal):
        return None
    return found.successor or found.sha


async def _overtaken(connection: Connection, plan: AppendPlan) -> str | None:
    """The first memory that superseded what this one is to supersede; the project's lock keeps others from doing so."""
    found = await nodes.by_sha(connection, plan.supersedes)
    return next((node.superseded_by for _, node in sorted(found.items()) if node.superseded_by is not None), None)


async def _parents(connection: Connection, plan: AppendPlan, standing: str | None) -> list[str]:
    """The parents that the candidate brings; to one that stands only its evidence is added."""
    await nodes.require(connection, plan.parents)
    return sorted(set(plan.parents)) if standing is None else await nodes.of_level(connection, plan.parents, "L0")


async def _write(connection: Connection, plan: AppendPlan) -> None:
    await nodes.require(connection, plan.supersedes)
    sha = plan.node.sha
    await _insert_all(connection, (*plan.evidence, plan.node))
    await _link(connection, sha, plan.evidence, plan.parents)
    if plan.supersedes:
        await replace(connection, plan.supersedes, sha)


async def _insert_all(connection: Connection, added: Sequence[Node]) -> None:
    for _, node in sorted({node.sha: node for node in added}.items()):
        await connection.execute(sql("nodes.insert"), nodes.row_of(node))
    await lexical.add_new(connection, added)


async def _link(connection: Connection, sha: str, evidence: Sequence[Node], parents: Sequence[str]) -> None:
    below = sorted({*parents, *(node.sha for node in evidence)} - {sha})
    await connection.execute(sql("nodes.link_parents"), {"sha": sha, "parents": below})


def _outcome(record: Record) -> Appended:
    evidence = tuple(Node(**fields).sha for fields in record.data["evidence"])
    return Appended(record.data["sha"], evidence, record.data["duplicate_of"], record.data["overtaken_by"])
