"""How fast the journal is replayed: `python -m bench.rebuild [--records N] [--json FILE]`.

Writes a journal of mixed records (acceptances with evidence, projections and vectors, lookups, reference, skills) by
way of the store, replays it with the recorded embeddings, and puts the tables in the place of the live ones. The floor
is a COPY of the same rows into tables with the same keys. Prints records a second and ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from psycopg import sql as compose

from bench.figures import tell
from mem.cli.common import run
from mem.client import MemoryClient
from mem.clients.clock import SystemClock
from mem.clients.temporal.connection import connect
from mem.domain.accepting import MadeProjection
from mem.domain.canonical import sha256_hex
from mem.domain.journal import Entry
from mem.domain.nodes import Node
from mem.domain.replaying import Shadow
from mem.domain.signatures import Signature
from mem.local import StackOptions, running_stack
from mem.ports import AppendPlan, Document, LedgerKey, Reach, Settlement, Skill
from mem.store import shadow as shadows
from mem.store.failures import PostgresFailures
from mem.store.journal import PostgresJournal
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.pool import Pool, in_transaction, on_connection, open_pool
from mem.store.rebuilding import PostgresRebuilding
from mem.store.reference import PostgresReference
from mem.store.skills import PostgresSkills
from mem.store.vector_index import active_index

WRITERS = 8
EVIDENCE = 3
LOOKUPS = 5
PAGE = 1000


class RandomEmbedder:
    """Unit vectors at once, under the name of the active model: what is measured is not the model."""

    def __init__(self, model_id: str, dimensions: int) -> None:
        self.model_id = model_id
        self.dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text, the same for the same text."""
        found = []
        for text in texts:
            chance = np.random.default_rng(int(sha256_hex(text)[:15], 16))
            vector = chance.standard_normal(self.dimensions)
            found.append((vector / np.linalg.norm(vector)).tolist())
        return found


class Store(NamedTuple):
    """What writes the journal."""

    pool: Pool
    journal: PostgresJournal
    memories: PostgresMemories
    reference: PostgresReference
    failures: PostgresFailures
    ledger: PostgresLedger
    skills: PostgresSkills
    embedder: RandomEmbedder


async def open_store(url: str) -> Store:
    """The store over one database, each writer with a connection."""
    pool, clock = await open_pool(url, size=WRITERS), SystemClock()
    active = await on_connection(pool, active_index)
    if active is None:
        raise SystemExit("no model is active")
    return Store(
        pool,
        PostgresJournal(pool, clock),
        PostgresMemories(pool, clock),
        PostgresReference(pool, clock),
        PostgresFailures(pool, clock),
        PostgresLedger(pool, clock),
        PostgresSkills(pool, clock),
        RandomEmbedder(active.model_id, active.dimensions),
    )


async def write(store: Store, records: int) -> int:
    """A journal of at least so many records; how many it has."""

    async def writer(number: int) -> None:
        chance, done, last = random.Random(number), 0, ""  # noqa: S311 - the same texts in each run
        while (await store.journal.head()).length < records:
            last = await incident(store, chance, f"p{number}", f"{number}-{done}", last if done % 10 == 9 else "")
            done += 1

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))
    return (await store.journal.head()).length


async def incident(store: Store, chance: random.Random, project: str, name: str, supersedes: str) -> str:
    """One acceptance with all its steps and some lookups, as the worker writes them; the sha of its memory."""
    node = Node(level="L1", project=project, text=words(chance, 60))
    evidence = tuple(
        node.model_copy(update={"level": "L0", "text": words(chance, 150), "source": f"ci:{name}", "turn": turn})
        for turn in range(EVIDENCE)
    )
    ids = {"operation": "accept", "project": project, "request_id": name}
    candidate = {"text": node.text, "evidence": [each.text for each in evidence]}
    await store.journal.record(Entry(kind="candidate", key=f"candidate:{name}", data={**ids, "candidate": candidate}))
    await store.journal.record(Entry(kind="verdict", key=f"verdict:{name}", data={**ids, "verdict": {"accept": True}}))
    plan = AppendPlan(f"appended:accept:{project}:{name}", node, evidence, (), (supersedes,) if supersedes else ())
    sha = (await store.memories.append(plan)).sha
    symptoms = words(chance, 20)
    await store.memories.put_projection(sha, MadeProjection(text=symptoms, model_id="m", prompt_sha="p"))
    await store.memories.put_vectors("symptom", {sha: symptoms}, store.embedder)
    for each in (node, *evidence):
        await store.memories.put_vectors("text", {each.sha: each.text}, store.embedder)
    found = [signature(chance) for _ in range(2)]
    await store.failures.link(project=project, request_id=name, sha=sha, signatures=found)
    for number in range(LOOKUPS):
        key = LedgerKey("context", project, f"{name}-{number}")
        settlement = Settlement(key, "f", (found[0], signature(chance)), Reach(project, federated=True))
        await store.ledger.settle(settlement, lambda _: b"{}")
    if chance.random() < 0.1:
        chunk = Node(level="R", project="*", text=words(chance, 100), source=name)
        await store.reference.put([Document(chunk.project, name, (chunk,))])
        await store.reference.complete([chunk.sha], store.embedder)
        await store.skills.put(Skill(f"skill-{name}", words(chance, 10), words(chance, 100), project), store.embedder)
    return sha


def signature(chance: random.Random) -> Signature:
    """One of some hundred failures."""
    sha = sha256_hex(f"failure {chance.randrange(500)}")
    return Signature(
        sig_sha=sha, sig_coarse=sha[:16], tool="npm", rule="npm.eresolve", line_start=1, line_end=9,
        message=f"could not resolve {sha[:12]}", excerpt=f"npm ERR! could not resolve {sha}\n" * 8,
    )  # fmt: skip


def words(chance: random.Random, count: int) -> str:
    """A text without meaning, and unlike any other."""
    return " ".join(f"{chance.getrandbits(28):07x}" for _ in range(count))


async def replay(store: Store, figures: dict[str, float]) -> None:
    """Step by step, each with its time."""
    rebuilding, shadow = PostgresRebuilding(store.pool), Shadow(run="bench", check=False)
    began = time.perf_counter()
    at = await rebuilding.begin(shadow)
    while at.seq < at.length:
        at = await rebuilding.replay(shadow, PAGE)
    figures["replay_s"] = time.perf_counter() - began
    figures["replay_records_per_second"] = at.seq / figures["replay_s"]
    began = time.perf_counter()
    while await rebuilding.index(shadow):
        pass
    figures["index_s"] = time.perf_counter() - began
    began = time.perf_counter()
    await rebuilding.swap(shadow)
    figures["swap_s"] = time.perf_counter() - began
    began = time.perf_counter()
    checked = Shadow(run="bench", check=True)
    at = await rebuilding.begin(checked)
    while at.seq < at.length:
        at = await rebuilding.replay(checked, PAGE)
    report = await rebuilding.compare(checked)
    await rebuilding.discard(checked)
    figures["check_s"] = time.perf_counter() - began
    if not report.same:
        raise SystemExit(f"the tables differ: {report.model_dump_json()}")
    figures["rows"] = sum(table.rows for table in report.tables)


async def copy_floor(store: Store) -> float:
    """The seconds that a COPY of all rows takes, into tables that have their keys alone."""
    rows: dict[str, list[bytes]] = {}
    async with store.pool.connection() as connection:
        for table in shadows.PROJECTIONS:
            rows[table] = []
            statement = compose.SQL("COPY {} TO STDOUT (FORMAT BINARY)").format(compose.Identifier(table))
            async with connection.cursor() as cursor, cursor.copy(statement) as out:
                rows[table] = [bytes(block) async for block in out]
        await in_transaction(store.pool, lambda c: shadows.create(c, Shadow(run="floor", check=True)))
        began = time.perf_counter()
        for table, blocks in rows.items():
            into = compose.Identifier("mem_check", table)
            statement = compose.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(into)
            async with connection.cursor() as cursor, cursor.copy(statement) as copy:
                for block in blocks:
                    await copy.write(block)
        seconds = time.perf_counter() - began
        await shadows.drop(connection, "mem_check")
    return seconds


async def measure(records: int) -> dict[str, float]:
    """All figures."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        async with running_stack(Path(home), StackOptions(app_dir=Path.cwd())) as stack:
            store = await open_store(stack.database_url)
            began = time.perf_counter()
            figures["records"] = await write(store, records)
            figures["written_records_per_second"] = figures["records"] / (time.perf_counter() - began)
            await replay(store, figures)
            figures["copy_floor_s"] = await copy_floor(store)
            figures["replay_over_copy"] = figures["replay_s"] / figures["copy_floor_s"]
            client = await connect(address=stack.temporal.address, namespace=stack.temporal.namespace)
            began = time.perf_counter()
            await MemoryClient(client).replay()
            figures["whole_rebuild_s"] = time.perf_counter() - began
            figures["whole_records_per_second"] = figures["records"] / figures["whole_rebuild_s"]
            await store.pool.close()
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20_000, help="at least so many records")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.records)), arguments.json)


if __name__ == "__main__":
    main()
