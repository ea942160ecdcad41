"""What a question costs among many memories: `python -m bench.query [--nodes N] [--database-url URL] [--json FILE]`.

The use case in process, embedding included, beside a floor of the same run: the embedding alone and one empty
statement. Questions and floor take turns. Tells the whole, each leg and the provenance; no Temporal, where a query
costs what a lookup does. A database that was filled by an earlier run can be used again.
"""

from __future__ import annotations

import argparse
import statistics
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from bench.database import running_postgres
from bench.figures import tell
from bench.filling import fill
from bench.floor import WARM_UP
from mem.cli.common import run
from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node
from mem.domain.query import QueryInput
from mem.ports import AppendPlan
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.recall.question import read_question
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import Connection, Pool, on_connection, open_pool
from mem.store.vector_index import ensure_vector_index
from tests.incidents import Incident, incidents

NODES = 200_000
PROJECTS = ("thousand", "twenty-thousand")
ROUNDS = 200
_PART = {("lexical", "search"): "lexical", ("symptom", "search"): "symptom", ("text", "search"): "text"} | {
    ("text", "provenance"): "provenance",
    ("text", "successors"): "nodes",
    ("embedding", "embed"): "embed",
    ("signatures", "read"): "read",
    ("ledger", "store"): "store",
}
"""The steps of the trace that are told."""


class Bench(NamedTuple):
    """What is measured, and with what."""

    pool: Pool
    memories: PostgresMemories
    embedder: MiniLmEmbedder
    query: QueryMemories


async def measure(nodes: int, database_url: str | None) -> dict[str, float]:
    """All figures."""
    async with _database(database_url) as url:
        await migrate(url)
        pool, clock, embedder = await open_pool(url), SystemClock(), MiniLmEmbedder.load()
        async with pool:
            await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
            memories, ledger = PostgresMemories(pool, clock), PostgresLedger(pool, clock, days=1)
            query = QueryMemories(QueryPorts(memories, ledger, embedder, EmbeddedScorer.load()))
            bench = Bench(pool, memories, embedder, query)
            await _prepare(bench, nodes)
            figures: dict[str, float] = {}
            for project in PROJECTS:
                figures |= {f"{project}_{name}": value for name, value in (await _measure(bench, project)).items()}
            return {name: round(value, 3) for name, value in figures.items()}


@asynccontextmanager
async def _database(url: str | None) -> AsyncIterator[str]:
    if url is not None:
        yield url
        return
    async with running_postgres() as made:
        yield made


async def _prepare(bench: Bench, nodes: int) -> None:
    """Many made memories, and in each project lessons of real incidents and syntheses of them with provenance."""
    if await _count(bench.pool) >= nodes:
        return
    seeds = [text for each in incidents() for text in (each.error, each.memory)]
    await fill(bench.pool, bench.embedder, seeds, nodes)
    for project in PROJECTS:
        lessons = [await _remember(bench, project, incident) for incident in incidents()]
        for number in range(0, len(lessons) - 1, 2):
            one, other = incidents()[number : number + 2]
            node = Node(level="L2", project=project, text=f"{one.memory} Likewise: {other.memory}")
            plan = AppendPlan(node.sha, node, (), tuple(lessons[number : number + 2]), ())
            await bench.memories.append(plan)
            await bench.memories.put_vectors("text", {node.sha: node.text}, bench.embedder)


async def _remember(bench: Bench, project: str, incident: Incident) -> str:
    node = Node(level="L1", project=project, text=incident.memory)
    evidence = tuple(
        Node(level="L0", project=project, text=each.text, source=each.source, turn=each.turn)
        for each in incident.evidence
    )
    await bench.memories.append(AppendPlan(node.sha, node, evidence, (), ()))
    await bench.memories.put_vectors("text", {each.sha: each.text for each in (node, *evidence)}, bench.embedder)
    projection = MadeProjection(text=incident.error[:300], model_id="bench", prompt_sha="bench")
    await bench.memories.put_projection(node.sha, projection)
    await bench.memories.put_vectors("symptom", {node.sha: projection.text}, bench.embedder)
    return node.sha


async def _count(pool: Pool) -> int:
    async def work(connection: Connection) -> int:
        row = await (await connection.execute("SELECT count(*) FROM memory_node")).fetchone()
        return int(row[0]) if row else 0

    return await on_connection(pool, work)


def _question(number: int) -> str:
    """Every other one quotes a failure; the others are about one in words."""
    incident = incidents()[number % len(incidents())]
    if number % 2:
        return f"What did we learn about this?\n{incident.error[:500]}"
    return f"Why does {' '.join(incident.memory.split()[:12])}?"


async def _measure(bench: Bench, project: str) -> dict[str, float]:
    whole: list[float] = []
    floor: list[float] = []
    steps: dict[str, list[float]] = {}

    async def floor_of(number: int) -> None:
        texts = read_question(_request(project, number)).texts
        await bench.embedder.embed(texts)
        await on_connection(bench.pool, lambda connection: connection.execute("SELECT 1"))

    for number in range(WARM_UP + ROUNDS):
        request = _request(project, number)
        began = time.perf_counter()
        outcome = await bench.query(request)
        between = time.perf_counter()
        await floor_of(number)
        if number >= WARM_UP:
            whole.append((between - began) * 1000)
            floor.append((time.perf_counter() - between) * 1000)
            for leg in outcome.trace.legs:
                if (name := _PART.get((leg.leg, leg.step))) is not None:
                    steps.setdefault(name, []).append(leg.milliseconds)
    whole.sort()
    return {
        "query_p50_ms": statistics.median(whole),
        "query_p99_ms": whole[int(len(whole) * 0.99)],
        "floor_p50_ms": statistics.median(floor),
        "query_p50_ratio": statistics.median(whole) / statistics.median(floor),
        **{f"{name}_p50_ms": statistics.median(times) for name, times in sorted(steps.items())},
    }


def _request(project: str, number: int) -> QueryInput:
    return QueryInput(request_id=f"bench-{uuid.uuid4()}", project=project, question=_question(number))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES, help="how many lessons the database holds")
    parser.add_argument("--database-url", help="a database that an earlier run filled; else one is filled, in minutes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.nodes, arguments.database_url)), arguments.json)


if __name__ == "__main__":
    main()
