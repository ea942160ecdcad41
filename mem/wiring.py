"""The composition root: settings go in, ports come out. Nothing else chooses an implementation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mem.addresses import Addresses
from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.clients.temporal.connection import connect
from mem.clients.temporal.search_attributes import register_search_attributes
from mem.clients.tokens import Cl100kCounter
from mem.clients.watched import Watch
from mem.domain.errors import ConfigurationError
from mem.parsing.prompts import load_prompt
from mem.ports import (
    Clock,
    Embedder,
    Failures,
    Journal,
    Ledger,
    Memories,
    Projector,
    Proposals,
    Rebuilding,
    Reference,
    Reranker,
    Skills,
    TokenCounter,
    Users,
)
from mem.ports.watching import ModelCalls, Spans
from mem.recall import model_enhancer
from mem.recall.grounding import Enhancer, GroundPorts, GroundTurns
from mem.recall.look_up import LookUp, LookUpPorts
from mem.recall.model_enhancer import ModelEnhancer
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.settings import Settings
from mem.store.alike import fill_bands
from mem.store.failures import PostgresFailures
from mem.store.journal import PostgresJournal
from mem.store.ledger import PostgresLedger
from mem.store.lexical import fill_words
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import Pool, on_connection, open_pool
from mem.store.proposals import PostgresProposals
from mem.store.rebuilding import PostgresRebuilding
from mem.store.reference import PostgresReference
from mem.store.skills import PostgresSkills
from mem.store.snapshots import fill_snapshots
from mem.store.users import PostgresUsers
from mem.store.vector_index import active_index, check_active, ensure_vector_index
from mem.writing import model_gate, model_projector
from mem.writing.gate import Judge
from mem.writing.known_names import is_known
from mem.writing.model_gate import ModelGate
from mem.writing.model_projector import ModelProjector
from mem.writing.projector import ExtractiveProjector

if TYPE_CHECKING:
    from mem.clients.openai import Endpoint as OpenAiEndpoint
    from mem.clients.rerank import Calibration
    from mem.clients.rerank.calibration import Scale

LEG_STATEMENT_MS = 1800
"""Below the deadline of a leg, so that the database gives up before the leg does."""

WRITE_STATEMENT_MS = 20_000
"""Below the deadline of a step."""


@dataclass(frozen=True)
class Ports:
    """All that a worker needs."""

    journal: Journal
    memories: Memories
    reference: Reference
    failures: Failures
    ledger: Ledger
    skills: Skills
    users: Users
    embedder: Embedder
    projector: Projector
    proposals: Proposals
    rebuilding: Rebuilding
    stand_in: Projector
    judge: Judge | None
    look_up: LookUp
    query: QueryMemories
    ground: GroundTurns
    enhancer: Enhancer | None


@dataclass(frozen=True)
class Store:
    """The database alone, for commands that need no model."""

    pool: Pool
    journal: Journal
    memories: Memories
    reference: Reference
    skills: Skills
    proposals: Proposals


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
        yield Store(
            pool,
            PostgresJournal(pool, clock),
            PostgresMemories(pool, clock),
            PostgresReference(pool, clock),
            PostgresSkills(pool, clock),
            PostgresProposals(pool, clock),
        )


@asynccontextmanager
async def open_ports(
    found: Addresses,
    settings: Settings,
    prompts: Path | None = None,
    *,
    spans: Spans | None = None,
    calls: ModelCalls | None = None,
) -> AsyncIterator[Ports]:
    """Open everything that a worker needs, and close it again.

    Args:
        prompts: the folder of the prompts; without it no controller is asked, whatever the settings name.
        spans: makes one of each statement and of each call of a model; None: nothing is traced.
        calls: counts the calls of models; None: nothing does.

    Raises:
        ConfigurationError: no database is known, it is not migrated, or its index is for another model; or a controller
            is configured whose address or prompts are not, or a reranker of which a part is missing.
        Unavailable: the database does not answer, or the embedding model does not where it has to be asked for its
            dimensions.
    """
    url = found.need_database()
    clock: Clock = SystemClock()
    watch = Watch(spans, calls)
    pooled = partial(open_pool, url, size=settings.database_pool, spans=spans)
    async with AsyncExitStack() as opened:
        writes = await opened.enter_async_context(await pooled(statement_timeout_ms=WRITE_STATEMENT_MS))
        embedder = watch.embedder(await _open_embedder(settings, writes, opened))
        await on_connection(writes, lambda connection: check_active(connection, embedder.model_id, embedder.dimensions))
        legs = await opened.enter_async_context(await pooled(statement_timeout_ms=LEG_STATEMENT_MS))
        kept = await opened.enter_async_context(await pooled(statement_timeout_ms=LEG_STATEMENT_MS, keep_plans=True))
        memories = PostgresMemories(writes, clock)
        extractive = ExtractiveProjector()
        reranker = watch.reranker(await open_reranker(settings, opened))
        asking = await _look_up_ports(legs, clock, embedder, reranker, settings)
        tokens = asking.tokens
        controlled = None if prompts is None else _open_controller(settings, prompts, memories, tokens, opened, watch)
        enhancer = None if controlled is None else controlled.enhancer
        ground = GroundPorts(
            PostgresUsers(legs, kept=kept), asking.ledger, embedder, reranker, tokens, controlled=enhancer is not None
        )
        yield Ports(
            journal=PostgresJournal(writes, clock),
            memories=memories,
            reference=PostgresReference(writes, clock),
            failures=PostgresFailures(writes, clock),
            ledger=PostgresLedger(writes, clock, days=settings.ledger_days),
            skills=PostgresSkills(writes, clock),
            users=PostgresUsers(writes),
            embedder=embedder,
            projector=extractive if controlled is None else controlled.projector,
            stand_in=extractive,
            judge=None if controlled is None else controlled.judge,
            proposals=PostgresProposals(writes, clock),
            rebuilding=PostgresRebuilding(writes),
            look_up=LookUp(asking),
            query=QueryMemories(QueryPorts(asking.memories, asking.ledger, asking.embedder, asking.reranker)),
            ground=GroundTurns(ground),
            enhancer=enhancer,
        )


async def migrate_database(found: Addresses, settings: Settings) -> list[str]:
    """Bring the database to this version's schema and index; what was done, a line each."""
    url = found.need_database()
    done = [f"applied {name}" for name in await migrate(url)]
    async with AsyncExitStack() as opened:
        pool = await opened.enter_async_context(await open_pool(url, size=1))
        embedder = await _open_embedder(settings, pool, opened)
        await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
        if (filled := await fill_bands(pool)) > 0:
            done.append(f"prepared {filled} lessons for the search for duplicates")
        if (filled := await fill_words(pool)) > 0:
            done.append(f"prepared {filled} memories for the search by words")
        if (filled := await fill_snapshots(pool)) > 0:
            done.append(f"prepared {filled} memories for the summaries of users")
    done.append(f"vector index: {embedder.model_id}, {embedder.dimensions} dimensions")
    return done


async def migrate_temporal(found: Addresses) -> list[str]:
    """Register the search attributes that the namespace lacks; what was done, a line each."""
    client = await connect(address=found.need_temporal(), namespace=found.namespace)
    return [f"registered search attribute {name}" for name in await register_search_attributes(client)]


class _Controlled(NamedTuple):
    """What asks the controller."""

    projector: Projector
    judge: Judge
    enhancer: Enhancer


def _open_controller(
    settings: Settings, prompts: Path, memories: Memories, tokens: TokenCounter, opened: AsyncExitStack, watch: Watch
) -> _Controlled | None:
    """What asks the configured controller; None where none is configured. Nothing is contacted."""
    if settings.chat_model is None:
        return None
    symptom = load_prompt(
        prompts, model_projector.PROMPT, placeholders=model_projector.PLACEHOLDERS, limits=model_projector.LIMITS
    )
    gate = load_prompt(prompts, model_gate.PROMPT, placeholders=model_gate.PLACEHOLDERS, limits=model_gate.LIMITS)
    ground = load_prompt(
        prompts, model_enhancer.PROMPT, placeholders=model_enhancer.PLACEHOLDERS, limits=model_enhancer.LIMITS
    )
    from mem.clients.openai import OpenAiController  # noqa: PLC0415 - a third of a second to import

    asked = OpenAiController.at(_endpoint(settings, "MEM_CHAT_MODEL"), settings.chat_model)
    opened.push_async_callback(asked.close)
    controller = watch.controller(asked)
    return _Controlled(
        ModelProjector(controller, symptom, is_known),
        ModelGate(controller, gate, memories),
        ModelEnhancer(controller, ground, tokens),
    )


async def _open_embedder(settings: Settings, pool: Pool, opened: AsyncExitStack) -> Embedder:
    """The configured embedding model; where the index is of it, its dimensions are known and it need not be up."""
    model = settings.embedding_model
    if model is None:
        return await asyncio.to_thread(MiniLmEmbedder.load)
    from mem.clients.openai import OpenAiEmbedder  # noqa: PLC0415 - a third of a second to import

    endpoint = _endpoint(settings, "MEM_EMBEDDING_MODEL")
    dimensions = settings.embedding_dimensions
    if dimensions is None:
        active = await on_connection(pool, active_index)
        dimensions = active.dimensions if active is not None and active.model_id == model else None
    embedder = await OpenAiEmbedder.at(endpoint, model, dimensions)
    opened.push_async_callback(embedder.close)
    return embedder


def _endpoint(settings: Settings, setting: str) -> OpenAiEndpoint:
    from mem.clients.openai import Endpoint  # noqa: PLC0415 - a third of a second to import

    key = settings.openai_api_key
    if key is None and settings.openai_base_url is None:
        raise ConfigurationError(
            f"{setting} is set, and neither OPENAI_API_KEY nor OPENAI_BASE_URL is.",
            f"Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; or unset {setting}.",
        )
    return Endpoint(settings.openai_base_url, None if key is None else key.get_secret_value())


async def open_reranker(settings: Settings, opened: AsyncExitStack) -> Reranker:
    """The configured reranker; no server is contacted, and a model in a file is loaded.

    Raises:
        ConfigurationError: two are configured, or one of which a part is missing.
    """
    _check_reranker(settings)
    if settings.rerank_path is None and settings.rerank_url is None:
        return EmbeddedScorer.load()
    from mem.clients.rerank import CrossEncoder, Endpoint, LocalReranker, ServedReranker  # noqa: PLC0415 - as above

    seconds = settings.rerank_seconds
    if settings.rerank_path is not None:
        model = await asyncio.to_thread(CrossEncoder.load, settings.rerank_path)
        calibration = _calibration(settings, model.model_id, "logit")
        return LocalReranker(model, calibration, seconds=seconds, most=settings.rerank_most)
    key = settings.rerank_key
    endpoint = Endpoint(
        (settings.rerank_url or "").strip(),
        settings.rerank_model,
        None if key is None else key.get_secret_value().strip(),
    )
    calibration = _calibration(settings, endpoint.model_id, "probability")
    served = ServedReranker.at(
        endpoint, calibration, seconds=seconds, most=settings.rerank_most, batch=settings.rerank_batch
    )
    opened.push_async_callback(served.close)
    return served


def _check_reranker(settings: Settings) -> None:
    url, path = settings.rerank_url, settings.rerank_path
    if url is not None and path is not None:
        raise ConfigurationError("MEM_RERANK_URL and MEM_RERANK_PATH are both set.", "Unset one of them.")
    of_a_server = ("rerank_model", "rerank_key") if url is None else ()
    of_a_model = ("rerank_scores", "rerank_calibration") if url is None and path is None else ()
    for name in (*of_a_server, *of_a_model):
        if getattr(settings, name) is not None:
            setting = f"MEM_{name.upper()}"
            raise ConfigurationError(
                f"{setting} is set, and nothing that it is for is.", f"Set MEM_RERANK_URL, or unset {setting}."
            )


def _calibration(settings: Settings, model_id: str, scale: Scale) -> Calibration:
    from mem.clients.rerank import Calibration, read_calibration  # noqa: PLC0415 - as above

    if settings.rerank_calibration is None:
        return Calibration(scores=settings.rerank_scores or scale)
    return read_calibration(settings.rerank_calibration, model=model_id, scores=settings.rerank_scores)


async def _look_up_ports(
    legs: Pool, clock: Clock, embedder: Embedder, reranker: Reranker, settings: Settings
) -> LookUpPorts:
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
