"""How long `mem gaps` takes: `python bench/gaps.py [--sightings N] [--signatures N] [--explain NAME]`.

Makes a database of sightings in forty projects over a year, few failures seen often and many seldom, a fifth of them
with a memory, one in ten of which is a user's own and one in ten superseded. Prints the milliseconds that Postgres
takes for each way to ask, as EXPLAIN ANALYZE tells them (the least of five), or with --explain the plan of one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path
from typing import Any

from mem.cli.common import run
from mem.local import StackOptions, running_stack
from mem.store.pool import Connection, open_pool
from mem.store.queries import sql

MAKE = (
    """INSERT INTO failure_signature (sig_sha, sig_coarse, algo, tool, rule, message, excerpt)
    SELECT encode(sha256(i::text::bytea), 'hex'), encode(sha256(('c' || i / 3)::bytea), 'hex'), 1, 'tool' || i %% 40,
           'tool' || i %% 40 || '.rule' || i %% 7, repeat('message of failure ' || i || ' ', 4),
           repeat('log ' || i, i %% 200)
    FROM generate_series(1, %(signatures)s) AS i""",
    """INSERT INTO memory_node (sha, level, project, text, visibility, plain_sha, superseded_by)
    SELECT encode(sha256(('n' || i)::bytea), 'hex'), 'L1', 'p' || i %% 40, 'lesson ' || i,
           CASE WHEN i %% 10 = 0 THEN 'user' ELSE 'global' END, i,
           CASE WHEN i %% 10 = 5 THEN encode(sha256(('n' || i + 1)::bytea), 'hex') END
    FROM generate_series(1, %(signatures)s / 5 + 1) AS i""",
    """INSERT INTO signature_link (sig_sha, node_sha)
    SELECT encode(sha256((1 + i::bigint * 7919 %% %(signatures)s)::text::bytea), 'hex'),
           encode(sha256(('n' || i)::bytea), 'hex')
    FROM generate_series(1, %(signatures)s / 5) AS i ON CONFLICT DO NOTHING""",
    "SELECT setseed(0.5)",
    """INSERT INTO occurrence (project, operation, request_id, sig_sha, seen_on)
    SELECT 'p' || floor(random() * 40), 'context', i,
           encode(sha256(floor(power(%(signatures)s::float, random()))::int::text::bytea), 'hex'),
           date '2025-07-02' + (i::bigint * 365 / %(sightings)s)::int
    FROM generate_series(1, %(sightings)s) AS i""",
    """INSERT INTO occurrence_count (sig_sha, project, times, last_seen, first_seen)
    SELECT sig_sha, project, count(*), max(seen_on), min(seen_on) FROM occurrence GROUP BY sig_sha, project""",
    "VACUUM ANALYZE failure_signature, memory_node, signature_link, occurrence, occurrence_count",
)

NOTHING: dict[str, Any] = {"counted": None, "readable": None, "tool": None, "since": None, "limit": 20, "algo": 1}
WAYS: dict[str, dict[str, Any]] = {
    "all": {},
    "limit 1000": {"limit": 1000},
    "project": {"counted": ["p3"]},
    "three readable projects": {"counted": ["p1", "p2", "p3"], "readable": ["p1", "p2", "p3", "*"]},
    "tool": {"tool": "tool7"},
    "last 7 days": {"since": date(2026, 6, 25)},
    "last 30 days": {"since": date(2026, 6, 2)},
    "the whole year by day": {"since": date(2025, 7, 2)},
}


async def plan(connection: Connection, way: str, form: str) -> Any:
    """The plan of one way to ask, carried out."""
    statement = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT {form}) ".encode() + sql("gaps.find").encode()
    return await (await connection.execute(statement, {**NOTHING, **WAYS[way]})).fetchall()


async def measure(sightings: int, signatures: int, explain: str | None) -> None:
    """Make the rows, and print."""
    async with AsyncExitStack() as opened:
        home = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="mem-bench-")))
        stack = await opened.enter_async_context(running_stack(home, StackOptions(app_dir=Path.cwd())))
        pool = await opened.enter_async_context(await open_pool(stack.database_url, size=1))
        connection = await opened.enter_async_context(pool.connection())
        for statement in MAKE:
            values = {"sightings": sightings, "signatures": signatures} if "%" in statement else None
            await connection.execute(statement.encode(), values)
        if explain is not None:
            print("\n".join(line for (line,) in await plan(connection, explain, "TEXT")))
            return
        figures = {}
        for way in WAYS:
            runs = [(await plan(connection, way, "JSON"))[0][0][0]["Execution Time"] for _ in range(5)]
            figures[way] = round(min(runs), 1)
            print(f"{way:<32} {figures[way]} ms")
        print(json.dumps(figures))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sightings", type=int, default=1_000_000)
    parser.add_argument("--signatures", type=int, default=50_000)
    parser.add_argument("--explain", choices=list(WAYS))
    arguments = parser.parse_args()
    run(measure(arguments.sightings, arguments.signatures, arguments.explain))


if __name__ == "__main__":
    main()
