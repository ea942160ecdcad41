"""The acceptance rate, from the journal."""

from __future__ import annotations

import asyncio

import psycopg

from mem.domain.acceptance_rate import AcceptanceRate
from mem.domain.errors import MemError
from mem.store.pool import connect
from mem.store.queries import sql

LAST = 10_000
"""So many candidates are looked at, the last ones, so that the answer takes no longer as the journal grows."""

_SECONDS = 5.0


async def acceptance_rate(url: str, *, last: int = LAST) -> AcceptanceRate | None:
    """How the last acceptances ended; None where the database does not tell."""
    try:
        async with asyncio.timeout(_SECONDS), await connect(url) as connection:
            await connection.execute(sql("session.settings"))
            cursor = await connection.execute(sql("journal.outcomes"), {"last": last})
            return AcceptanceRate.model_validate(dict(await cursor.fetchall()))
    except (MemError, psycopg.Error, TimeoutError):
        return None
