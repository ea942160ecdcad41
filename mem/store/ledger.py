"""Answered requests, and the settlement that counts a lookup and stores its answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from mem.domain.errors import RequestConflict
from mem.ports import Clock, LedgerKey, Seen, Settlement
from mem.store import failures, journal
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.writing import entries


class Answered(NamedTuple):
    """A row that has not expired."""

    fingerprint: str
    response: bytes


class PostgresLedger:
    """The ledger port; what it stores is invisible after `days`."""

    def __init__(self, pool: Pool, clock: Clock, *, days: int = 30) -> None:
        self._pool = pool
        self._clock = clock
        self._lifetime = timedelta(days=days)

    async def find(self, key: LedgerKey, fingerprint: str) -> bytes | None:
        """The stored response.

        Raises:
            RequestConflict: the request id was answered for another body.
        """
        return await on_connection(self._pool, lambda c: _find(c, key, fingerprint, self._clock.now()))

    async def recorded(self, key: LedgerKey) -> bytes | None:
        """The response to whatever was asked under a key."""
        found = await on_connection(self._pool, lambda c: _row(c, key, self._clock.now()))
        return None if found is None else bytes(found.response)

    async def store(self, key: LedgerKey, fingerprint: str, response: bytes) -> bytes:
        """Store a response, or return the one stored first.

        Raises:
            RequestConflict: the request id was answered for another body.
        """

        async def work(connection: Connection) -> bytes:
            # No lock: the row's key makes one of two that store at once wait for the other.
            while not await self._insert(connection, key, fingerprint, response, now):
                # One that is gone again has just expired.
                if (found := await _find(connection, key, fingerprint, now)) is not None:
                    return found
            return response

        now = self._clock.now()
        return await on_connection(self._pool, work)

    async def settle(self, settlement: Settlement, render: Callable[[Mapping[str, Seen]], bytes]) -> bytes:
        """Count the sightings, journal them, and store the response, in one transaction.

        Raises:
            RequestConflict: the request id was answered for another body, be it that the answer has expired.
        """
        return await in_transaction(self._pool, lambda c: self._settle(c, settlement, render))

    async def expire(self, *, limit: int = 1000) -> int:
        """Delete a batch of expired rows; how many went."""

        async def work(connection: Connection) -> int:
            parameters = {"now": self._clock.now(), "limit": limit}
            return (await connection.execute(sql("ledger.expire"), parameters)).rowcount

        return await on_connection(self._pool, work)

    async def _settle(
        self, connection: Connection, settlement: Settlement, render: Callable[[Mapping[str, Seen]], bytes]
    ) -> bytes:
        key, fingerprint, sightings, reach, returned = settlement
        now = self._clock.now()
        journal_key = entries.lookup_key(*key)
        await journal.lock(connection, [journal_key])
        found, recorded = await _before(connection, key, journal_key, now)
        if found is not None:
            return _response(found, key, fingerprint)
        if recorded is None:
            await failures.add(connection, sightings)
            await failures.count(connection, reach.project, key.operation, key.request_id, sightings, now)
            await note_returned(connection, reach.project, returned)
        elif recorded != fingerprint:
            raise RequestConflict.of(key.request_id)
        response = render(await failures.seen(connection, settlement.keys, reach))
        await self._insert(connection, key, fingerprint, response, now)
        if recorded is None:
            await journal.append(connection, [entries.lookup(settlement)], now)
        return response

    async def _insert(
        self, connection: Connection, key: LedgerKey, fingerprint: str, response: bytes, now: datetime
    ) -> bool:
        cursor = await connection.execute(
            sql("ledger.store"),
            {
                **key._asdict(),
                "fingerprint": fingerprint,
                "response": response,
                "now": now,
                "expires_at": now + self._lifetime,
            },
        )
        return cursor.rowcount > 0


async def note_returned(connection: Connection, project: str, shas: Sequence[str]) -> None:
    """Note which lessons of other projects were given out to a project."""
    if shas:
        await connection.execute(sql("ledger.returned"), {"project": project, "shas": list(shas)})


async def _find(connection: Connection, key: LedgerKey, fingerprint: str, now: datetime) -> bytes | None:
    found = await _row(connection, key, now)
    return None if found is None else _response(found, key, fingerprint)


async def _row(connection: Connection, key: LedgerKey, now: datetime) -> Answered | None:
    row = await (await connection.execute(sql("ledger.find"), {**key._asdict(), "now": now})).fetchone()
    return None if row is None else Answered(*row)


async def _before(
    connection: Connection, key: LedgerKey, journal_key: str, now: datetime
) -> tuple[Answered | None, str | None]:
    """What is stored for a request, and the fingerprint of its record in the journal, which outlives it."""
    parameters = {**key._asdict(), "journal_key": journal_key, "now": now}
    row = await (await connection.execute(sql("ledger.before"), parameters)).fetchone()
    if row is None:
        return None, None
    fingerprint, response, recorded = row
    return None if fingerprint is None else Answered(fingerprint, response), recorded


def _response(answered: Answered, key: LedgerKey, fingerprint: str) -> bytes:
    if answered.fingerprint != fingerprint:
        raise RequestConflict.of(key.request_id)
    return bytes(answered.response)
