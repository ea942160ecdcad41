"""A set stored as an acceptance stores it, and lookups into it of which parts can be switched off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.abstention_data import Memory
from bench.database import running_postgres
from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.clients.tokens import Cl100kCounter
from mem.domain.errors import Unavailable
from mem.domain.lookup import ContextAnswer, LookUpInput
from mem.domain.nodes import Node
from mem.ports import AppendPlan, Candidate, EvidenceText, Failures, Lineage, Reach, RerankQuery
from mem.recall.look_up import LookUp, LookUpPorts
from mem.store.failures import PostgresFailures
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import open_pool
from mem.store.skills import PostgresSkills
from mem.store.vector_index import ensure_vector_index
from mem.writing.links import signatures_of
from mem.writing.projector import ExtractiveProjector

PROJECT = "bench"
Keys = Literal["all", "coarse", "none"]
"""Which signature legs answer: all, the coarse one alone (tier 1 is off), or none."""


class Remembering:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: MiniLmEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, list[float]] = {}
        self.model_id, self.dimensions = embedder.model_id, embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, await self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]


class _Down:
    """A model that does not answer."""

    model_id, dimensions, most = "down", 384, None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise Unavailable(f"No answer for {len(texts)} texts.", "None: this is a measurement.")

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        raise Unavailable(
            f"No answer for {len(candidates)} candidates of {query.tool}.", "None: this is a measurement."
        )


class _Partly:
    """A port of which some methods find nothing, or find no more what is hidden."""

    def __init__(self, port: Any, **methods: Any) -> None:
        self._port = port
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._port, name)


def _without_keys(failures: Failures, keys: Keys) -> Any:
    """Failures of which no key is known, or no exact one."""

    async def known(_: Sequence[str], reach: Reach, algo: int) -> Any:
        return await failures.known([], reach, algo)

    async def coarse(_: Sequence[str], reach: Reach, algo: int, limit: int) -> Any:
        return await failures.coarse([], reach, algo, limit)

    return _Partly(failures, known=known) if keys == "coarse" else _Partly(failures, known=known, coarse=coarse)


@dataclass(frozen=True)
class Asked:
    """How lookups are made."""

    keys: Keys = "all"
    reranker: bool = True
    vectors: bool = True


class Bench:
    """A stored set."""

    def __init__(self, ports: LookUpPorts, shas: dict[str, str], projections: dict[str, str]) -> None:
        self.ports = ports
        self.shas = shas
        self.ids = {sha: id_ for id_, sha in shas.items()}
        self.projections = projections
        self._number = 0

    async def ask(
        self, how: Asked, *, hidden: frozenset[str] = frozenset(), reranker: Any = None, **fields: str
    ) -> ContextAnswer:
        """Look up as production does, but for what is switched off and for the memories that are hidden."""
        self._number += 1
        ports = self.ports
        if how.keys != "all":
            ports = replace(ports, failures=_without_keys(ports.failures, how.keys))
        if hidden:
            ports = replace(ports, memories=_Partly(ports.memories, lineages=self._without(hidden)))
        if not how.vectors:
            ports = replace(ports, embedder=_Down())
        if reranker is not None or not how.reranker:
            ports = replace(ports, reranker=reranker or _Down())
        look_up = LookUp(ports, leg_seconds=60, total_seconds=120)
        request = LookUpInput(request_id=f"ask-{self._number}", project=PROJECT, budget=100_000, **fields)
        answer = ContextAnswer.model_validate_json((await look_up(request)).body)
        down = {name for name, up in (("embedding", how.vectors), ("rerank", how.reranker)) if not up}
        if broken := [each for each in answer.degraded if each.leg not in down]:
            raise RuntimeError(f"What is measured is not whole: {broken}.")
        return answer

    def _without(self, hidden: frozenset[str]) -> Any:
        async def lineages(shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, Lineage]:
            kept = [sha for sha in shas if self.ids.get(sha) not in hidden]
            return await self.ports.memories.lineages(kept, told)

        return lineages


@asynccontextmanager
async def stored(memories: Sequence[Memory], embedder: Remembering) -> AsyncIterator[Bench]:
    """The memories in a Postgres of their own, with what an acceptance derives from them."""
    async with running_postgres() as url, stored_at(url, memories, embedder) as bench:
        yield bench


@asynccontextmanager
async def stored_at(url: str, memories: Sequence[Memory], embedder: Remembering) -> AsyncIterator[Bench]:
    """The same in an empty database that is there."""
    await migrate(url)
    pool, clock = await open_pool(url, size=8), SystemClock()
    async with pool:
        await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
        ports = LookUpPorts(
            memories=PostgresMemories(pool, clock),
            failures=PostgresFailures(pool, clock),
            ledger=PostgresLedger(pool, clock),
            skills=PostgresSkills(pool, clock),
            embedder=embedder,
            reranker=EmbeddedScorer.load(),
            tokens=Cl100kCounter.load(),
        )
        shas, projections = {}, {}
        for memory in memories:
            shas[memory.id], projections[memory.id] = await _accept(ports, memory)
        yield Bench(ports, shas, projections)


async def _accept(ports: LookUpPorts, memory: Memory) -> tuple[str, str]:
    """What an acceptance does behind its gate; the sha and the projection."""
    node = Node(level="L1", project=PROJECT, text=memory.text)
    evidence = tuple(
        Node(level="L0", project=PROJECT, text=each.text, source=each.source, turn=each.turn)
        for each in memory.evidence
    )
    appended = await ports.memories.append(AppendPlan(f"appended:accept:{PROJECT}:{memory.id}", node, evidence, (), ()))
    made = await ExtractiveProjector().project(memory.text, [EvidenceText(each.sha, each.text) for each in evidence])
    await ports.memories.put_projection(appended.sha, made)
    if made.text:
        await ports.memories.put_vectors("symptom", {appended.sha: made.text}, ports.embedder)
    await ports.memories.put_vectors("text", {appended.sha: memory.text}, ports.embedder)
    signatures = await asyncio.to_thread(signatures_of, [each.text for each in evidence])
    await ports.failures.link(project=PROJECT, request_id=memory.id, sha=appended.sha, signatures=signatures)
    return appended.sha, made.text
