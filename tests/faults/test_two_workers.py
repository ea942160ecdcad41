"""Two workers on the same queues, of which one is killed every few seconds under many callers; nobody can tell."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import psycopg
import pytest

from mem.client import MemoryClient, Reply
from mem.domain.accepting import AcceptRequest
from mem.domain.errors import MemError
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from tests.forks import Forked

CALLERS = 16
SECONDS = 60.0
KILL_EVERY = 5.0
LONGEST = 1800
"""Against hanging alone."""
AGAIN = 0.3
"""The share of calls that are sent once more under the same id, as by a caller that lost the answer."""
PROJECT = "twice"
USER = "user-1"

Send = Callable[[MemoryClient], Awaitable[Reply[Any]]]


class Told(NamedTuple):
    """What callers were told, by operation and request id."""

    bodies: dict[tuple[str, str], set[bytes]]
    failures: list[str]


def log(number: int) -> str:
    """A failure in a rendering of its own; every second caller's is another failure."""
    code = ("ERESOLVE", "ENOENT")[number % 2]
    return f"2026-11-29 npm ERR! code {code}\nnpm ERR! {code}: unable to resolve dependency tree {number:05d}\n"


def calls(name: str, number: int) -> dict[str, Send]:
    """A call of each kind."""
    lesson = (
        f"Lesson {name}: pin release {number} of package-{name} through overrides, since release {number + 1} breaks."
    )
    evidence = [
        {"source": f"ci:{name}", "turn": 1, "text": log(number) + f"npm ERR! while resolving: package-{name}\n"}
    ]
    candidate = {"request_id": name, "project": PROJECT, "level": "L1", "text": lesson, "evidence": evidence}
    look_up = ContextRequest(request_id=name, project=PROJECT, signature_source=log(number))
    query = QueryRequest(request_id=name, project=PROJECT, question=f"Which release of package-{name} is pinned?")
    turn = GroundRequest(request_id=name, user_id=USER, message=f"What do we do about package-{name}?")
    return {
        "accept": lambda memory: memory.accept(AcceptRequest.model_validate(candidate)),
        "context": lambda memory: memory.look_up(look_up),
        "query": lambda memory: memory.query(query),
        "ground": lambda memory: memory.ground(turn),
    }


async def call(memory: MemoryClient, caller: int, ends: float, told: Told) -> None:
    """Send one call after the other until the time is up, some of them twice."""
    chance, number = random.Random(caller), 0
    while time.monotonic() < ends:
        number += 1
        name = f"{caller}-{number}"
        operation, send = chance.choice(sorted(calls(name, caller).items()))
        for _ in range(2 if chance.random() < AGAIN else 1):
            try:
                body = (await send(memory)).body
                told.bodies.setdefault((operation, name), set()).add(body)
            except MemError as error:
                told.failures.append(f"{operation} {name}: {error!r}")


async def kill_now_and_then(start: Callable[[], Forked], workers: list[Forked], ends: float) -> int:
    """Kill one or the other, and start another in its place."""
    kills = 0
    while time.monotonic() < ends:
        await asyncio.sleep(KILL_EVERY)
        place = kills % len(workers)
        workers[place].kill()
        await workers[place].ended()
        workers[place] = start()
        kills += 1
    return kills


@pytest.mark.slow
async def test_of_two_workers_one_is_killed_every_five_seconds(rig, temporal_server, database_url, forks):
    """No call fails for good, no effect is lost or doubled, and who asks again gets the same bytes."""
    environment = {
        "PATH": os.defpath, "MEM_DATABASE_URL": database_url, "MEM_DATABASE_POOL": "4",
        "MEM_TASK_QUEUE": rig.task_queue, "TEMPORAL_ADDRESS": temporal_server.address,
    }  # fmt: skip

    def start() -> Forked:
        return forks.start("tests.faults.plain_worker:work", environment=environment)

    told = Told({}, [])
    async with asyncio.timeout(LONGEST):
        workers = [start(), start()]
        await rig.memory.look_up(ContextRequest(request_id="first", project="another", tool="npm"), deadline=LONGEST)
        ends = time.monotonic() + SECONDS
        kills, *_ = await asyncio.gather(
            kill_now_and_then(start, workers, ends), *(call(rig.memory, each, ends, told) for each in range(CALLERS))
        )
        await _settled(database_url, told)
    for worker in workers:
        worker.kill()
    found = Counter(operation for operation, _ in told.bodies)
    sys.stderr.write(f"{kills} kills, {dict(found)} requests, {len(told.failures)} failed\n")
    assert told.failures == []
    assert kills >= SECONDS / KILL_EVERY - 2
    assert set(found) == {"accept", "context", "query", "ground"}
    assert {len(bodies) for bodies in told.bodies.values()} == {1}
    _check(database_url, told)


async def _settled(url: str, told: Told) -> None:
    """Return once the ledger has whatever was answered before it could be stored."""
    while True:
        if len(_stored(url)) >= len(told.bodies):
            return
        await asyncio.sleep(0.2)


def _stored(url: str) -> dict[tuple[str, str], bytes]:
    """The answers in the ledger; an acceptance has one for each way of waiting."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT split_part(operation, ':', 1), request_id, response FROM mem.request_ledger"
            " WHERE request_id <> 'first' AND operation NOT IN ('accept:durable') ORDER BY 1, 2"
        ).fetchall()
    return {(operation, request_id): bytes(response) for operation, request_id, response in rows}


def _check(url: str, told: Told) -> None:
    """Hold the store to what the callers were told."""
    assert _stored(url) == {key: next(iter(bodies)) for key, bodies in told.bodies.items()}
    accepted = {name for operation, name in told.bodies if operation == "accept"}
    looked_up = {name for operation, name in told.bodies if operation == "context"}
    with psycopg.connect(url) as connection:
        for kind in ("candidate", "verdict"):
            rows = connection.execute(
                "SELECT body::json -> 'data' ->> 'request_id' FROM mem.journal WHERE kind = %s",
                [kind],
            )
            assert sorted(name for (name,) in rows.fetchall()) == sorted(accepted)
        rows = connection.execute(
            "SELECT request_id, count(*) FROM mem.occurrence WHERE operation = 'context' GROUP BY 1"
        ).fetchall()
        assert dict(rows) == dict.fromkeys(looked_up, 1)
        counted = connection.execute("SELECT sum(times) FROM mem.occurrence_count").fetchone()
        sightings = connection.execute("SELECT count(*) FROM mem.occurrence").fetchone()
        assert counted == sightings
