"""The composition root: settings go in, ports come out. Nothing else chooses an implementation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from mem.addresses import Addresses
from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.clients.temporal.connection import connect
from mem.clients.temporal.search_attributes import register_search_attributes
from mem.clients.tokens import Cl100kCounter
from mem.ports import Clock, Embedder, Failures, Journal, Ledger, Memories, Projector, Reranker, Skills, TokenCounter
from mem.recall.look_up import LookUp, LookUpPorts
from mem.settings import Settings
from mem.store.alike import fill_bands
from mem.store.failures import PostgresFailures
from mem.store.journal import PostgresJournal
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import Pool, on_connection, open_pool
from mem.store.skills import PostgresSkills
from mem.store.vector_index import check_active, ensure_vector_index
from mem.writing.projector import ExtractiveProjector

LEG_STATEMENT_MS = 1800
"""Below the deadline of a leg, so that the database gives up before the leg does."""

WRITE_STATEMENT_MS = 20_000
"""Below the deadline of a step."""


@dataclass(frozen=True)
class Ports:
    """All that a worker needs."""

    journal: Journal
    memories: Memories
    failures: Failures
    ledger: Ledger
    skills: Skills
    embedder: Embedder
    projector: Projector
    look_up: LookUp


@dataclass(frozen=True)
class Store:
    """The database alone, for commands that need no model."""

    pool: Pool
    journal: Journal
    memories: Memories
    skills: Skills


@asynccontextmanager
async def open_store(found: Addresses) -> AsyncIterator[Store]:
    """Open the database.

    Raises:
        ConfigurationError: no database is known, or it is not migrated.
        Unavailable: it does not answer.
    """
    clock = SystemClock()
    pool = await open_pool(found.need_database(), size=2, statement_timeout_ms=WRITE_STATEMENT_MS)
    async with pool:
        yield Store(pool, PostgresJournal(pool, clock), PostgresMemories(pool, clock), PostgresSkills(pool, clock))


@asynccontextmanager
async def open_ports(found: Addresses, settings: Settings) -> AsyncIterator[Ports]:
    """Open everything that a worker needs, and close it again.

    Raises:
        ConfigurationError: no database is known, it is not migrated, or its index is for another model.
        Unavailable: the database does not answer.
    """
    url = found.need_database()
    clock: Clock = SystemClock()
    embedder = await asyncio.to_thread(MiniLmEmbedder.load)
    async with AsyncExitStack() as opened:
        writes = await opened.enter_async_context(
            await open_pool(url, size=settings.database_pool, statement_timeout_ms=WRITE_STATEMENT_MS)
        )
        await on_connection(writes, lambda connection: check_active(connection, embedder.model_id, embedder.dimensions))
        legs = await opened.enter_async_context(
            await open_pool(url, size=settings.database_pool, statement_timeout_ms=LEG_STATEMENT_MS)
        )
        yield Ports(
            journal=PostgresJournal(writes, clock),
            memories=PostgresMemories(writes, clock),
            failures=PostgresFailures(writes, clock),
            ledger=PostgresLedger(writes, clock, days=settings.ledger_days),
            skills=PostgresSkills(writes, clock),
            embedder=embedder,
            projector=ExtractiveProjector(),
            look_up=LookUp(await _look_up_ports(legs, clock, embedder, settings)),
        )


async def migrate_database(found: Addresses) -> list[str]:
    """Bring the database to this version's schema and index; what was done, a line each."""
    url = found.need_database()
    done = [f"applied {name}" for name in await migrate(url)]
    embedder = await asyncio.to_thread(MiniLmEmbedder.load)
    async with await open_pool(url, size=1) as pool:
        await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
        if (filled := await fill_bands(pool)) > 0:
            done.append(f"prepared {filled} lessons for the search for duplicates")
    done.append(f"vector index: {embedder.model_id}, {embedder.dimensions} dimensions")
    return done


async def migrate_temporal(found: Addresses) -> list[str]:
    """Register the search attributes that the namespace lacks; what was done, a line each."""
    client = await connect(address=found.need_temporal(), namespace=found.namespace)
    return [f"registered search attribute {name}" for name in await register_search_attributes(client)]


async def _look_up_ports(legs: Pool, clock: Clock, embedder: Embedder, settings: Settings) -> LookUpPorts:
    reranker: Reranker = EmbeddedScorer.load()
    tokens: TokenCounter = await asyncio.to_thread(Cl100kCounter.load)
    return LookUpPorts(
        memories=PostgresMemories(legs, clock),
        failures=PostgresFailures(legs, clock),
        ledger=PostgresLedger(legs, clock, days=settings.ledger_days),
        skills=PostgresSkills(legs, clock),
        embedder=embedder,
        reranker=reranker,
        tokens=tokens,
    )
