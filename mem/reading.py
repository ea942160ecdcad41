"""The store opened to read alone: for the gateway, for commands, and for programs that have the database's address.

Neither a worker nor a model is needed, nor Temporal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from mem.clients.clock import SystemClock
from mem.ports.watching import Spans
from mem.recall.gaps import FindGaps
from mem.recall.projects import FindProjects
from mem.recall.recorded import OpenAnswer
from mem.recall.show import ShowMemory
from mem.store.failures import PostgresFailures
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.pool import check, open_pool
from mem.store.showing import PostgresShowing

READ_STATEMENT_MS = 20_000
"""Above what any read takes; a statement that somebody gave up on ends by it."""


@dataclass(frozen=True)
class Reader:
    """What can be read straight from the store, each a use case."""

    gaps: FindGaps
    show: ShowMemory
    answer: OpenAnswer
    projects: FindProjects
    check: Callable[[], Awaitable[None]]
    """Returns if the database answers, else raises `Unavailable`."""


@asynccontextmanager
async def open_reader(database_url: str, *, size: int = 4, spans: Spans | None = None) -> AsyncIterator[Reader]:
    """Open a migrated database to read alone, over up to `size` connections; with `spans` each statement is one.

    Raises:
        ConfigurationError: the address is none, or the database is not migrated.
        Unavailable: the database does not answer.
    """
    pool = await open_pool(database_url, size=size, statement_timeout_ms=READ_STATEMENT_MS, read_only=True, spans=spans)
    clock = SystemClock()
    async with pool:
        yield Reader(
            gaps=FindGaps(PostgresFailures(pool, clock), clock),
            show=ShowMemory(PostgresShowing(pool)),
            answer=OpenAnswer(PostgresLedger(pool, clock)),
            projects=FindProjects(PostgresMemories(pool, clock)),
            check=partial(check, pool),
        )
