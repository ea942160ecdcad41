"""What a lookup costs among many memories: `python -m bench.lookup [--lessons N] [--database-url URL] [--json FILE]`.

One run on one stack: the use case in process beside its embedding alone, how much of the exact nearest its searches
find, and the same lookup through Temporal beside a no-op update-with-start with one local activity. Lookups and no-ops
take turns. A database that was filled by an earlier run can be used again.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.figures import tell
from bench.filling import SIZES, fill, stored_vectors
from bench.floor import WARM_UP, Floor, in_turn, per_second, times_ms
from mem.addresses import Addresses, find_addresses
from mem.cli.common import run
from mem.client import MemoryClient
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.temporal.ending import end_with
from mem.domain.accepting import AcceptRequest, Evidence
from mem.domain.lookup import ContextRequest, LookUpInput
from mem.domain.nodes import VectorKind
from mem.local import StackOptions, running_stack
from mem.ports import Reach, Skill, Vector
from mem.recall.query import read_failure
from mem.settings import Settings
from mem.store.pool import Connection, Pool, on_connection, open_pool
from mem.wiring import Ports, open_ports
from tests.incidents import Incident, incidents

LESSONS = 200_000
PROJECT = "thousand"
ROUNDS = 200
THROUGHPUT_ROUNDS = 400
WIDTH = 50
SKILLS = 50
_NEAR = 1e-4
"""Half precision makes neighbours out of equals: what is as near as the last of the nearest counts as one of them."""


class Bench(NamedTuple):
    """What is measured, and with what."""

    pool: Pool
    ports: Ports
    memory: MemoryClient
    floor: Floor
    run: str


async def measure(lessons: int, database_url: str | None) -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        options = StackOptions(app_dir=Path.cwd(), database_url=database_url)
        async with running_stack(Path(home), options) as stack:
            address, namespace = stack.temporal.address, stack.temporal.namespace
            client = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
            settings = Settings(home=Path(home), database_url=stack.database_url)
            found: Addresses = find_addresses(settings)
            pool = await open_pool(stack.database_url, size=2)
            floor = Floor(client)
            async with pool, open_ports(found, settings) as ports, floor.working():
                bench = Bench(pool, ports, MemoryClient(client), floor, Path(home).name)
                await _prepare(bench, lessons)
                figures = await _in_process(bench)
                figures |= await _recall(bench)
                figures |= await _through_temporal(bench)
                return {name: round(value, 3) for name, value in figures.items()}


async def _prepare(bench: Bench, lessons: int) -> None:
    """Many made lessons, and those of real incidents with their evidence, so that every tier has something to find."""
    if await _lessons(bench.pool) < lessons:
        seeds = [text for each in incidents() for text in (each.error, each.memory)]
        await fill(bench.pool, MiniLmEmbedder.load(), seeds, lessons)
    for incident in incidents():
        await bench.memory.accept(_candidate(incident))
    for number in range(SKILLS):
        skill = Skill(f"skill-{number}", incidents()[number].memory, "", "*")
        await bench.ports.skills.put(skill, bench.ports.embedder)


async def _lessons(pool: Pool) -> int:
    async def work(connection: Connection) -> int:
        cursor = await connection.execute("SELECT count(*) FROM memory_node WHERE level IN ('L1', 'L2')")
        row = await cursor.fetchone()
        return int(row[0]) if row else 0

    return await on_connection(pool, work)


def _candidate(incident: Incident) -> AcceptRequest:
    evidence = [Evidence(source=each.source, turn=each.turn, text=each.text) for each in incident.evidence]
    return AcceptRequest(
        request_id=f"bench-{incident.id}", project=PROJECT, level="L1", text=incident.memory, evidence=evidence
    )


def _log(number: int) -> str:
    """The log of a failure: every other one shows the evidence of a lesson again, the others another occurrence."""
    incident = incidents()[number % len(incidents())]
    return incident.evidence[0].text if number % 2 else incident.error


async def _in_process(bench: Bench) -> dict[str, float]:
    async def look_up(number: int) -> None:
        request = LookUpInput(
            request_id=f"{bench.run}-process-{number}", project=PROJECT, signature_source=_log(number)
        )
        await bench.ports.look_up(request)

    async def embed(number: int) -> None:
        lines = read_failure(_log(number)).lines
        if lines is not None:
            await bench.ports.embedder.embed([lines])

    await times_ms(look_up, WARM_UP * 4, 10_000)
    looked, embedded = await times_ms(look_up, ROUNDS * 2, 0), await times_ms(embed, ROUNDS, 0)
    return {
        "process_p50_ms": statistics.median(looked),
        "process_p99_ms": looked[int(len(looked) * 0.99)],
        "process_read_and_embed_p50_ms": statistics.median(embedded),
        "process_p50_ratio": statistics.median(looked) / statistics.median(embedded),
    }


async def _recall(bench: Bench) -> dict[str, float]:
    """How many of the 50 that are nearest by hand a search finds, over all projects and in those of some sizes."""
    texts = [lines for each in incidents() if (lines := read_failure(each.error).lines) is not None]
    queries = await bench.ports.embedder.embed(texts)
    figures = {}
    kinds: tuple[VectorKind, ...] = ("text", "symptom")
    for kind in kinds:
        for project in (None, *SIZES):
            name = "federated" if project is None else f"project_{SIZES[project]}"
            figures[f"recall_{kind}_{name}"] = await _recall_of(bench, kind, project, queries)
    return figures


async def _recall_of(bench: Bench, kind: VectorKind, project: str | None, queries: Sequence[Vector]) -> float:
    stored = await stored_vectors(bench.pool, kind, project)
    reach = Reach(PROJECT if project is None else project, federated=project is None)
    unit = stored.vectors / np.linalg.norm(stored.vectors, axis=1, keepdims=True)
    place = {sha: index for index, sha in enumerate(stored.shas)}
    found = []
    for query in queries:
        similarity = unit @ np.asarray(query, dtype=np.float32)
        wanted = min(WIDTH, len(similarity))
        least = np.partition(similarity, -wanted)[-wanted]
        hits = await bench.ports.memories.nearest(kind, ("L1", "L2"), query, reach, WIDTH)
        found.append(sum(similarity[place[hit.sha]] >= least - _NEAR for hit in hits) / wanted)
    return statistics.mean(found)


async def _through_temporal(bench: Bench) -> dict[str, float]:
    async def look_up(number: int) -> None:
        request = ContextRequest(request_id=f"{bench.run}-{number}", project=PROJECT, signature_source=_log(number))
        await bench.memory.look_up(request)

    floor = bench.floor.look_up
    await in_turn(floor, look_up, WARM_UP * 2, 10_000)
    floor_ms, lookup_ms = await in_turn(floor, look_up, ROUNDS, 0)
    floor_retry_ms, retry_ms = await in_turn(floor, look_up, ROUNDS, 0)
    floor_rate = await per_second(floor, THROUGHPUT_ROUNDS, 20_000)
    rate = await per_second(look_up, THROUGHPUT_ROUNDS, 20_000)
    return {
        "floor_p50_ms": floor_ms,
        "lookup_p50_ms": lookup_ms,
        "lookup_p50_ratio": lookup_ms / floor_ms,
        "floor_retry_p50_ms": floor_retry_ms,
        "lookup_retry_p50_ms": retry_ms,
        "lookup_retry_p50_ratio": retry_ms / floor_retry_ms,
        "floor_per_second": floor_rate,
        "lookup_per_second": rate,
        "lookup_throughput_ratio": rate / floor_rate,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=LESSONS, help="how many memories the database holds")
    parser.add_argument("--database-url", help="a database that an earlier run filled; else one is filled, in minutes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.lessons, arguments.database_url)), arguments.json)


if __name__ == "__main__":
    end_with(main)
