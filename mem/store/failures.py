"""Failure signatures, their links to memories, and how often they were seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from psycopg.rows import class_row, dict_row

from mem.domain.accepting import LinkedSignature
from mem.domain.journal import Record
from mem.domain.rebuild import Compared
from mem.domain.signatures import Signature
from mem.ports import Clock, CoarseHit, GapQuery, GapsFound, Known, KnownHit, Reach, Seen
from mem.store import gaps, journal, nodes
from mem.store.pool import Connection, Pool, execute_each, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.reaching import within
from mem.writing import entries
from mem.writing.links import compared

NEVER = Seen(0, None)


class PostgresFailures:
    """The failures port."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def link(
        self, *, project: str, request_id: str, sha: str, signatures: Sequence[Signature]
    ) -> list[LinkedSignature]:
        """Link signatures to a memory and count the acceptance as a sighting of each, once.

        Raises:
            NotFound: the memory does not exist.
        """
        key = entries.signatures_key(project, request_id)

        async def work(connection: Connection) -> Record:
            await journal.lock(connection, [key])
            recorded = await journal.find(connection, key)
            if recorded is not None:
                return recorded
            now = self._clock.now()
            await nodes.require(connection, [sha])
            await add(connection, signatures)
            await link(connection, sha, signatures)
            await count(connection, project, "accept", request_id, signatures, now)
            entry = entries.signatures(project, request_id, sha, signatures)
            return (await journal.append(connection, [entry], now))[0]

        record = await in_transaction(self._pool, work)
        return [LinkedSignature.model_validate(signature) for signature in record.data["signatures"]]

    async def linked(self, sha: str) -> list[LinkedSignature]:
        """The signatures that point at a memory, ordered by sig_sha."""

        async def work(connection: Connection) -> list[LinkedSignature]:
            cursor = connection.cursor(row_factory=class_row(LinkedSignature))
            return await (await cursor.execute(sql("failures.linked"), {"sha": sha})).fetchall()

        return await on_connection(self._pool, work)

    async def compare(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """How what is stored differs from these signatures pointing at a memory."""
        return await on_connection(self._pool, lambda c: compare(c, sha, signatures))

    async def relink(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """Make signatures that were derived anew point at a memory, journaled where that changes anything.

        Raises:
            NotFound: the memory does not exist.
        """

        async def work(connection: Connection) -> Compared:
            prefix = entries.derived_prefix(sha)
            await journal.lock(connection, [prefix])
            await nodes.require(connection, [sha])
            compared = await compare(connection, sha, signatures)
            if compared.new or compared.changed:
                await put(connection, signatures)
                await link(connection, sha, signatures)
                revision = await journal.count(connection, prefix) + 1
                await journal.append(connection, [entries.derived(sha, revision, signatures)], self._clock.now())
            return compared

        return await in_transaction(self._pool, work)

    async def known(self, sig_shas: Sequence[str], reach: Reach, algo: int) -> Known:
        """The nodes that the signatures point at, superseded ones included, by signature and sha; and since when."""

        async def work(connection: Connection) -> Known:
            parameters = {"sig_shas": list(sig_shas), "algo": algo, **within(reach)}
            rows = await (await connection.execute(sql("failures.known"), parameters)).fetchall()
            return Known(
                [KnownHit(sig_sha, sha) for sig_sha, sha, _ in rows if sha is not None],
                {sig_sha: first.isoformat() for sig_sha, _, first in rows if first is not None},
            )

        return await on_connection(self._pool, work)

    async def coarse(self, sig_coarse: Sequence[str], reach: Reach, algo: int, limit: int) -> list[CoarseHit]:
        """The nodes with a signature of equal coarse key, ordered by coarse key and sha."""

        async def work(connection: Connection) -> list[CoarseHit]:
            cursor = connection.cursor(row_factory=class_row(CoarseHit))
            parameters = {"sig_coarse": list(sig_coarse), "algo": algo, "limit": limit, **within(reach)}
            return await (await cursor.execute(sql("failures.coarse"), parameters)).fetchall()

        return await on_connection(self._pool, work)

    async def seen(self, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
        """The counts of each signature; zero where it was never seen."""
        return await on_connection(self._pool, lambda c: seen(c, sig_shas, reach))

    async def gaps(self, query: GapQuery) -> GapsFound:
        """The signatures that were seen and point at no live memory that is readable."""
        return await on_connection(self._pool, lambda c: gaps.find(c, query))


async def add(connection: Connection, signatures: Sequence[Signature]) -> None:
    """Add the signatures that are new."""
    await execute_each(connection, sql("failures.insert_signature"), _rows(signatures))


async def put(connection: Connection, signatures: Sequence[Signature]) -> None:
    """Add signatures, or correct what identifies those that are there."""
    await execute_each(connection, sql("failures.put_signature"), _rows(signatures))


async def link(connection: Connection, sha: str, signatures: Sequence[Signature]) -> None:
    """Make signatures point at a node."""
    await connection.execute(sql("failures.link"), {"sha": sha, "sig_shas": _shas(signatures)})


async def compare(connection: Connection, sha: str, signatures: Sequence[Signature]) -> Compared:
    """How what is stored differs from these signatures pointing at a node."""
    parameters = {"sha": sha, "sig_shas": _shas(signatures)}
    cursor = connection.cursor(row_factory=dict_row)
    stored = await (await cursor.execute(sql("failures.stored"), parameters)).fetchall()
    linked = {row["sig_sha"] for row in stored if row.pop("linked")}
    return compared(signatures, {row["sig_sha"]: row for row in stored}, linked)


async def count(
    connection: Connection,
    project: str,
    operation: str,
    request_id: str,
    signatures: Sequence[Signature],
    now: datetime,
) -> None:
    """Record one sighting of each signature; an occurrence that is there counts nothing again."""
    day = now.astimezone(UTC).date()
    await connection.execute(sql("failures.count"), count_row(project, operation, request_id, signatures, day))


def count_row(
    project: str, operation: str, request_id: str, signatures: Sequence[Signature], day: date
) -> dict[str, Any]:
    """One sighting of each signature, as it is counted."""
    return {
        "project": project,
        "operation": operation,
        "request_id": request_id,
        "sig_shas": _shas(signatures),
        "seen_on": day,
    }


async def seen(connection: Connection, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
    """The counts of each signature within a reach."""
    cursor = await connection.execute(sql("failures.seen"), {"sig_shas": list(sig_shas), **within(reach)})
    found = {sha: Seen(times, last.isoformat()) for sha, times, last in await cursor.fetchall()}
    return {sha: found.get(sha, NEVER) for sha in sig_shas}


def _rows(signatures: Sequence[Signature]) -> list[dict[str, Any]]:
    return [signature.model_dump() for signature in entries.by_sha(signatures)]


def _shas(signatures: Sequence[Signature]) -> list[str]:
    return sorted({signature.sig_sha for signature in signatures})
