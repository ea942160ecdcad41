"""The documents of the reference corpus: the reference port over Postgres."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, TypeVar

from mem.domain.canonical import sha256_hex
from mem.ports import Clock, Document, DocumentChange, Embedder, HeldDocument
from mem.store import embeddings, journal, lexical, nodes, vectors
from mem.store.pool import Connection, Pool, execute_each, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.vector_index import active_index
from mem.writing.documents import DocumentPlan, document_plan

T = TypeVar("T")

_VECTORS_AT_ONCE = 256
"""Vectors that one statement adds, so that the longest document keeps within its time."""


class PostgresReference:
    """The reference port; every method is one round of `in_transaction` or `on_connection`, what embeds one a batch."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def documents(self, project: str | None = None, within: str | None = None) -> list[HeldDocument]:
        """The documents that have chunks, by project and source."""

        async def work(connection: Connection) -> list[HeldDocument]:
            parameters = {"project": project, "within": within}
            rows = await (await connection.execute(sql("reference.documents"), parameters)).fetchall()
            return [HeldDocument(owner, source, tuple(shas), origin, day) for owner, source, shas, origin, day in rows]

        return await on_connection(self._pool, work)

    async def embed(self, texts: Sequence[str], embedder: Embedder) -> int:
        """Embed those of the texts of which no embedding is recorded, and record each batch; how many those were."""
        made = 0
        for batch in _batches(list(dict.fromkeys(texts)), embeddings.AT_ONCE):
            made += await self._embed(batch, embedder)
        return made

    async def _embed(self, texts: Sequence[str], embedder: Embedder) -> int:
        fresh = await embeddings.embed_missing(self._pool, embedder, texts)
        if fresh:
            await in_transaction(self._pool, lambda c: _record(c, embedder, fresh, self._clock.now()))
        return len(fresh)

    async def put(self, documents: Sequence[Document]) -> list[DocumentChange]:
        """Make each document what it is to be, in one transaction with their journal records."""
        return await in_transaction(self._pool, lambda c: put(c, documents, self._clock.now()))

    async def complete(self, shas: Sequence[str], embedder: Embedder) -> None:
        """Embed the passages of chunks, as they were recorded, and store the vectors that are missing.

        Raises:
            NotFound: a chunk does not exist.
            ConfigurationError: no model is active.
            ModelMismatch: another one is.
        """
        missing = await on_connection(self._pool, lambda c: vectors.missing_parts(c, shas))
        await vectors.embed_and_put(self._pool, "text", missing, embedder, self._clock)


async def put(connection: Connection, documents: Sequence[Document], now: datetime) -> list[DocumentChange]:
    """Make each document what it is to be: the project is locked, rows are written, then the journal's head moves."""
    # One writer of a project's reference at a time: rows that count words and vectors are touched more than once.
    await journal.lock(connection, [f"reference:{one.project}" for one in documents])
    held = await _held(connection, documents)
    plans = [document_plan(one, held.get((one.project, one.source), _NONE).shas) for one in documents]
    made = sorted((plan for plan in plans if plan.changes), key=lambda plan: plan.document[:2])
    added = {node.sha: nodes.row_of(node, plan.passages.get(node.sha)) for plan in made for node in plan.added}
    await _write(connection, added, {sha for plan in made for sha in plan.removed} - added.keys())
    day = now.astimezone(UTC).date()
    await execute_each(connection, sql("reference.put"), [row_of(*_parts(plan), day) for plan in made])
    revisions = [held.get(plan.document[:2], _NONE).revision + 1 for plan in made]
    await journal.append(connection, [plan.entry(number) for plan, number in zip(made, revisions, strict=True)], now)
    return [plan.change for plan in plans]


def row_of(
    project: str, source: str, origin: str, added: Sequence[str], removed: Sequence[str], day: date
) -> dict[str, Any]:
    """A change of a document as it is written."""
    return {
        "project": project,
        "source": source,
        "origin": origin,
        "added": list(added),
        "removed": list(removed),
        "updated_on": day,
    }


async def remove(connection: Connection, shas: Collection[str]) -> None:
    """Mark chunks that no document has any more, and take out their vectors and words."""
    if shas:
        parameters = {"shas": sorted(shas)}
        await connection.execute(sql("reference.remove"), parameters)
        await connection.execute(sql("reference.delete_vectors"), parameters)
        await lexical.remove(connection, sorted(shas))


async def restore(connection: Connection, shas: Collection[str]) -> None:
    """Take the mark from chunks that a document has again."""
    if shas:
        await connection.execute(sql("reference.restore"), {"shas": sorted(shas)})


class _Held(NamedTuple):
    shas: Sequence[str]
    revision: int


_NONE = _Held((), 0)


async def _held(connection: Connection, documents: Sequence[Document]) -> dict[tuple[str, str], _Held]:
    parameters = {"projects": [one.project for one in documents], "sources": [one.source for one in documents]}
    rows = await (await connection.execute(sql("reference.held"), parameters)).fetchall()
    return {(project, source): _Held(shas, revision) for project, source, shas, revision in rows}


def _parts(plan: DocumentPlan) -> tuple[str, str, str, list[str], Sequence[str]]:
    document = plan.document
    return document.project, document.source, document.origin, [node.sha for node in plan.added], plan.removed


async def _write(connection: Connection, added: Mapping[str, dict[str, Any]], removed: Collection[str]) -> None:
    """The rows of nodes, words and vectors, those of nodes in the order of their shas, as all writers touch them."""
    await connection.execute(sql("nodes.lock_for_change"), {"shas": sorted({*added, *removed})})
    await remove(connection, removed)
    await restore(connection, added)
    await execute_each(connection, sql("nodes.insert"), [added[sha] for sha in sorted(added)])
    await lexical.add(connection, sorted(added))
    active = await active_index(connection)
    if active is None:
        return
    missing = await vectors.missing_parts(connection, sorted(added))
    text_shas = {place: sha256_hex(text) for place, text in missing.items()}
    found = await embeddings.find(connection, active.model_id, set(text_shas.values()))
    embedded = {place: found[text_sha] for place, text_sha in text_shas.items() if text_sha in found}
    for batch in _batches(list(embedded), _VECTORS_AT_ONCE):
        await vectors.insert(connection, "text", {place: embedded[place] for place in batch})


async def _record(connection: Connection, embedder: Embedder, fresh: Mapping[str, bytes], now: datetime) -> None:
    recorded = await embeddings.record(connection, embedder, fresh.keys(), fresh)
    await journal.append(connection, recorded.entries, now)


def _batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]
