"""Projections made again from the journal: the rebuilding port over Postgres."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from mem.domain.errors import ConfigurationError
from mem.domain.replaying import Position, ReplayReport, Shadow
from mem.store import digests, journal, shadow
from mem.store.pool import Connection, Pool, in_transaction
from mem.store.replaying import Chained

Outcome = TypeVar("Outcome")

CATCH_UP_PAGE = 1000
"""Records a page when the last ones are replayed."""


class PostgresRebuilding:
    """The rebuilding port; every method is one transaction."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, run: Shadow) -> Position:
        """Make empty tables for this run, or find those that it has."""

        async def work(connection: Connection) -> Position:
            found = await shadow.exists(connection, shadow.schema_of(run))
            if found:
                async with connection.transaction() as looking:
                    await shadow.enter(connection, shadow.schema_of(run))
                    if await shadow.is_mine(connection, run):
                        return await _position(connection, await shadow.position(connection, run))
                    raise psycopg.Rollback(looking)
            await shadow.create(connection, run)
            return await _position(connection, await shadow.position(connection, run))

        return await self._run(work)

    async def replay(self, run: Shadow, limit: int) -> Position:
        """Replay the next records, at most `limit`.

        Raises:
            NotFound: the tables are gone, or of another run.
            JournalCorrupt: the journal does not hold.
        """

        async def work(connection: Connection) -> Position:
            await shadow.enter(connection, shadow.schema_of(run))
            return await _position(connection, await shadow.advance(connection, run, limit))

        return await self._run(work)

    async def index(self, run: Shadow) -> int:
        """Build the next index, and how many are missing still.

        Raises:
            NotFound: as for `replay`.
        """
        return await self._run(lambda connection: shadow.build_next_index(connection, run))

    async def swap(self, run: Shadow) -> ReplayReport:
        """Keep writers out, replay the last records, and put the tables in the place of the live ones.

        Raises:
            NotFound: as for `replay`.
            Unavailable: readers held the live tables for too long.
        """

        async def work(connection: Connection) -> ReplayReport:
            seq, sha = await shadow.exchange(connection, run, CATCH_UP_PAGE)
            return ReplayReport(check=False, records=seq, head=sha)

        return await self._run(work)

    async def compare(self, run: Shadow) -> ReplayReport:
        """Replay the last records and compare every table with the live one, all at one moment.

        Raises:
            NotFound: as for `replay`.
        """

        async def work(connection: Connection) -> ReplayReport:
            await digests.hold(connection)
            schema = shadow.schema_of(run)
            await shadow.enter(connection, schema)
            seq, sha = await shadow.catch_up(connection, run, CATCH_UP_PAGE)
            tables = await digests.compare_all(connection, schema)
            return ReplayReport(check=True, records=seq, head=sha, tables=tables)

        return await self._run(work)

    async def discard(self, run: Shadow) -> None:
        """Remove the tables of this run, if there are any."""

        async def work(connection: Connection) -> None:
            schema = shadow.schema_of(run)
            await shadow.enter(connection, schema)
            if await shadow.is_mine(connection, run):
                await shadow.drop(connection, schema)

        await self._run(work)

    async def _run(self, work: Callable[[Connection], Awaitable[Outcome]]) -> Outcome:
        try:
            return await in_transaction(self._pool, work)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The role of the worker may not exchange tables: {str(error).splitlines()[0]}.",
                "Let the worker connect as the owner of the schema, with the right to create schemas.",
            ) from error


async def _position(connection: Connection, at: Chained) -> Position:
    return Position(seq=at.seq, length=(await journal.head(connection)).length)
