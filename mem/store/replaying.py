"""Carries out what records did on tables, a page of records at a time: by the statements of the writers themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, LiteralString, NamedTuple, assert_never

from mem.domain.canonical import sha256_hex
from mem.domain.errors import JournalCorrupt
from mem.store import embeddings, journal, lexical, nodes, reference, snapshots, vectors
from mem.store.chain import ChainCheck, Link
from mem.store.failures import count_row
from mem.store.pool import Connection, execute_each
from mem.store.queries import sql
from mem.writing import entries, replay
from mem.writing.replay import Operation

PAGE_BYTES = 16 * 1024 * 1024
"""A page ends before its records are longer than this in all, however few they are."""


class Chained(NamedTuple):
    """The number and sha of the last record that was replayed."""

    seq: int
    sha: str


async def replay_page(connection: Connection, at: Chained, limit: int, model_id: str | None) -> Chained:
    """Replay the next records behind `at`, and return the last one's place; `at` itself where there are none.

    Args:
        model_id: the model whose vectors are stored.

    Raises:
        JournalCorrupt: the chain does not hold, or an embedding is not the recorded one.
    """
    rows = await journal.page(connection, at.seq, limit, PAGE_BYTES)
    if not rows:
        return at
    found = await _embeddings(connection, rows)
    # Megabytes may be parsed here, and lookups go on meanwhile.
    done = await asyncio.to_thread(_checked, at, rows, found)
    await carry_out(connection, done, model_id)
    return Chained(rows[-1].seq, rows[-1].sha)


def _checked(at: Chained, rows: Sequence[journal.StoredRecord], found: Mapping[str, bytes]) -> list[Operation]:
    """What the records behind `at` did, each held to the chain and to the digest of its embedding first."""
    check = ChainCheck(length=at.seq, sha=at.sha)
    done: list[Operation] = []
    for row in rows:
        embedding = found.get(row.key, b"") if row.kind == "embedding" else None
        check.take(Link(row.seq, row.sha, row.previous, row.body.encode(), row.key, row.kind, embedding))
        done += replay.operations(row.record)
    return done


async def carry_out(connection: Connection, operations: Sequence[Operation], model_id: str | None) -> None:
    """Do it all, table after table; within each in the order of the journal."""
    page = _Page()
    for operation in operations:
        page.take(operation)
    await execute_each(connection, sql("nodes.insert"), page.nodes)
    await _reference(connection, page)
    await execute_each(connection, sql("nodes.link_parents"), page.edges)
    for superseded in page.superseded:
        await connection.execute(sql("nodes.supersede"), superseded)
        await connection.execute(sql("nodes.retire_vectors"), superseded)
        await snapshots.drop(connection, superseded["shas"])
    await snapshots.put(connection, page.noted)
    await execute_each(connection, sql("ledger.returned"), page.returned)
    await _signatures(connection, page)
    await _projections(connection, page)
    await lexical.add(connection, [row["sha"] for row in page.nodes])
    if model_id is not None:
        await _vectors(connection, page, model_id)
    await _skills(connection, page)


class _Page:
    """The operations of a page by what they change, as parameters of statements."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.superseded: list[dict[str, Any]] = []
        self.noted: list[snapshots.Noted] = []
        self.projections: list[replay.AddProjection] = []
        self.embedded: list[replay.AddEmbedding] = []
        self.signatures: list[replay.AddSignatures] = []
        self.links: list[dict[str, Any]] = []
        self.sightings: list[dict[str, Any]] = []
        self.returned: list[dict[str, Any]] = []
        self.skills: dict[tuple[str, str], replay.PutSkill] = {}
        self.removed_skills: dict[tuple[str, str], replay.RemoveSkill] = {}
        self.documents: list[dict[str, Any]] = []
        self.removed: dict[str, bool] = {}

    def take(self, operation: Operation) -> None:
        """Add what comes next."""
        match operation:
            case replay.AddNode():
                self.nodes.append(nodes.row_of(operation.node, operation.passages))
            case replay.AddEdges():
                self.edges.append({"sha": operation.child, "parents": list(operation.parents)})
            case replay.Supersede():
                self.superseded.append({"shas": list(operation.shas), "successor": operation.successor})
            case replay.AddToSnapshot():
                self.noted.append(snapshots.Noted(operation.node.sha, operation.node.text, operation.seq))
            case replay.AddProjection():
                self.projections.append(operation)
            case replay.AddEmbedding():
                self.embedded.append(operation)
            case replay.PutSkill():
                self.skills[operation.skill.project, operation.skill.name] = operation
                self.removed_skills.pop((operation.skill.project, operation.skill.name), None)
            case replay.RemoveSkill():
                self.removed_skills[operation.project, operation.name] = operation
            case replay.ChangeDocument():
                self.documents.append(reference.row_of(*operation))
                self.removed |= dict.fromkeys(operation.removed, True) | dict.fromkeys(operation.added, False)
            case _:
                self._take_of_failures(operation)

    def _take_of_failures(self, operation: replay.AddSignatures | replay.Link | replay.Sight | replay.Return) -> None:
        match operation:
            case replay.AddSignatures():
                self.signatures.append(operation)
            case replay.Link():
                shas = sorted({signature.sig_sha for signature in operation.signatures})
                self.links.append({"sha": operation.sha, "sig_shas": shas})
            case replay.Sight():
                self.sightings.append(count_row(*operation))
            case replay.Return():
                self.returned.append({"project": operation.project, "shas": list(operation.shas)})
            case _:
                assert_never(operation)


async def _reference(connection: Connection, page: _Page) -> None:
    """Documents of reference, and the chunks that they lost or have again; a lost one takes its vector with it."""
    await execute_each(connection, sql("reference.put"), page.documents)
    await reference.restore(connection, {sha for sha, removed in page.removed.items() if not removed})
    if gone := {sha for sha, removed in page.removed.items() if removed}:
        await reference.remove(connection, gone)
        await connection.execute(sql("replay.forget_texts"), {"shas": sorted(gone)})


async def _signatures(connection: Connection, page: _Page) -> None:
    for corrects, run in groupby(page.signatures, lambda one: one.corrects):
        statement = sql("failures.put_signature" if corrects else "failures.insert_signature")
        rows = [signature.model_dump() for one in run for signature in entries.once(one.signatures)]
        await execute_each(connection, statement, rows)
    await execute_each(connection, sql("failures.link"), page.links)
    await execute_each(connection, sql("failures.count"), page.sightings)


async def _projections(connection: Connection, page: _Page) -> None:
    """The projections of nodes; one that is replaced takes its vector with it."""
    for replaces, run in groupby(page.projections, lambda one: one.replaces):
        statement = sql("projections.replace" if replaces else "projections.insert")
        await execute_each(connection, statement, [{"sha": one.sha, **one.projection.model_dump()} for one in run])
    if touched := sorted({one.sha for one in page.projections}):
        await connection.execute(sql("replay.show_projections"), {"shas": touched})
        await lexical.change(connection, touched)
    if replaced := sorted({one.sha for one in page.projections if one.replaces}):
        await connection.execute(sql("vectors.delete_symptoms"), {"shas": replaced})
        await connection.execute(sql("replay.forget_symptoms"), {"shas": replaced})


async def _vectors(connection: Connection, page: _Page, model_id: str) -> None:
    """A vector for whatever has a text and an embedding of it, whichever of the two was recorded first."""
    text_shas = {one.text_sha for one in page.embedded if one.model_id == model_id}
    if text_shas:
        await connection.execute(sql("replay.embedded"), {"text_shas": sorted(text_shas)})
    added = [row["sha"] for row in page.nodes]
    text_shas |= await _wanted(connection, sql("replay.want_texts"), added)
    projected = [one.sha for one in page.projections]
    text_shas |= await _wanted(connection, sql("replay.want_symptoms"), projected)
    if not text_shas:
        return
    parameters = {"model_id": model_id, "text_shas": sorted(text_shas)}
    rows = await (await connection.execute(sql("replay.wanted"), parameters)).fetchall()
    for kind, run in groupby(rows, lambda row: row[0]):
        await vectors.insert(connection, kind, {(sha, part): bytes(embedding) for _, sha, part, embedding in run})


async def _wanted(connection: Connection, statement: LiteralString, shas: Sequence[str]) -> set[str]:
    if not shas:
        return set()
    cursor = await connection.execute(statement, {"shas": sorted(set(shas))})
    return {sha for (sha,) in await cursor.fetchall()}


async def _skills(connection: Connection, page: _Page) -> None:
    """The newest revision of each skill, with the embedding that was recorded for it; then those that went."""
    for _, put in sorted(page.skills.items()):
        text_sha = sha256_hex(entries.skill_text(put.skill))
        found = await embeddings.find(connection, put.model_id, [text_sha])
        if text_sha not in found:
            raise JournalCorrupt(
                f"The embedding of skill {put.skill.name} is gone.", "Restore the database from a copy, or an export."
            )
        vector = embeddings.halfvec(found[text_sha])
        row = {**put.skill._asdict(), "revision": put.revision, "model_id": put.model_id, "embedding": vector}
        await connection.execute(sql("skills.put"), row)
    removed = [one._asdict() for _, one in sorted(page.removed_skills.items())]
    await execute_each(connection, sql("skills.remove"), removed)


async def _embeddings(connection: Connection, rows: Iterable[journal.StoredRecord]) -> dict[str, bytes]:
    """The embeddings that records name, by the keys of the records."""
    wanted: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.kind == "embedding":
            data = row.record.data
            wanted.setdefault(str(data["model_id"]), {})[str(data["text_sha"])] = row.key
    found: dict[str, bytes] = {}
    for model_id, keys in wanted.items():
        recorded = await embeddings.find(connection, model_id, keys)
        found |= {keys[text_sha]: embedding for text_sha, embedding in recorded.items()}
    return found
