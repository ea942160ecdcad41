"""Many callers repeat many lookups at random while worker and database are killed, restarted and held under them."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import psutil
import psycopg

from mem.client import MemoryClient
from mem.domain.lookup import ContextRequest
from mem.local import StackFile
from mem.local.stack_file import StackHome

CALLERS = 16
MOST_SENDS = 5
ANSWER_SECONDS = 150
START_SECONDS = 90
SILENCE_SECONDS = 9.0
"""Longer than a lookup may take, so that those on their way go out before they can be stored."""


class Disturbance(NamedTuple):
    """What happens to a part after so many answers; SIGSTOP holds it for a while."""

    after: int
    part: str
    number: signal.Signals


class Soak(NamedTuple):
    """How much there is to do, and what happens meanwhile; equal seeds ask in the same order."""

    project: str
    requests: int
    kills: int
    restarts: int
    silences: int
    seed: int

    def sends(self) -> list[int]:
        """The number of each request, as often as it is sent, shuffled."""
        chance = random.Random(self.seed)
        sends = [number for number in range(self.requests) for _ in range(chance.randint(1, MOST_SENDS))]
        chance.shuffle(sends)
        return sends

    def disturbances(self, sends: int) -> list[Disturbance]:
        """Workers killed, databases restarted and held, spread over the sends, no two at the same moment."""
        kills = [Disturbance(sends * place // (self.kills + 1), "worker", signal.SIGKILL) for place in _to(self.kills)]
        # SIGINT is the fast stop of Postgres; the stack starts it again on the same data.
        step = sends // (self.kills + 1) // 2
        restarts = [
            Disturbance(sends * place // (self.restarts + 1) + step, "postgres", signal.SIGINT)
            for place in _to(self.restarts)
        ]
        silences = [
            Disturbance(sends * (2 * place - 1) // (2 * self.silences) + step // 2, "postgres", signal.SIGSTOP)
            for place in _to(self.silences)
        ]
        return sorted([*kills, *restarts, *silences])

    def body(self, number: int) -> dict[str, Any]:
        """One request: a failure that all share, in a rendering of its own."""
        return {
            "request_id": f"soak-{number}",
            "project": self.project,
            "signature_source": failure(f"/builds/{number:04x}/depot", f"{number % 24:02d}:{number % 60:02d}:07"),
        }

    def lesson(self) -> dict[str, Any]:
        """What is known of that failure."""
        return {
            "request_id": "soak-lesson",
            "project": self.project,
            "level": "L1",
            "text": f"The depot of {self.project} ships its own numpy; build the wheel against the one that it pins.",
            "evidence": [{"source": "ci:1", "turn": 1, "text": failure("/home/ci/depot", "04:05:06")}],
        }


class Told(NamedTuple):
    """Every answer that came: the bodies by the number of their request, and how often a part was disturbed."""

    bodies: dict[int, set[bytes]]
    answers: int
    disturbed: dict[str, int]


def failure(folder: str, clock: str) -> str:
    return (
        f"2026-11-29 {clock} Traceback (most recent call last):\n"
        f'  File "{folder}/run.py", line 9, in <module>\n    import depot.kernels\n'
        f'  File "{folder}/depot/kernels.py", line 3, in <module>\n    import numpy.core.multiarray\n'
        "ImportError: numpy.core.multiarray failed to import depot kernels\n"
    )


async def run(home: Path, soak: Soak) -> Told:
    """Send everything, disturb meanwhile, and return when each send has its answer."""
    sends = soak.sends()
    waiting = iter(sends)
    told = Told({number: set() for number in range(soak.requests)}, len(sends), {})
    answered = Counter()
    stack = _stack(home)
    async with asyncio.TaskGroup() as group:
        group.create_task(_disturb(home, soak.disturbances(len(sends)), answered, told.disturbed))
        for caller in range(CALLERS):
            group.create_task(_call(stack, soak, waiting, told, answered, over_http=caller % 2 == 0))
    return told


class Counter:
    """Counts answers, and lets others wait for a number of them."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = asyncio.Condition()

    async def add(self) -> None:
        async with self._changed:
            self._count += 1
            self._changed.notify_all()

    async def reach(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._count >= count)


async def _call(
    stack: StackFile, soak: Soak, waiting: Iterator[int], told: Told, answered: Counter, *, over_http: bool
) -> None:
    """One caller: an answer to each send that it takes, through the gateway or as a Python program."""
    address, namespace = stack.temporal.address, stack.temporal.namespace
    memory = await MemoryClient.connect(address=address, namespace=namespace, task_queue=stack.task_queue)
    async with httpx2.AsyncClient(base_url=stack.http, timeout=ANSWER_SECONDS) as http:
        for number in waiting:
            if over_http:
                response = await http.post("/memory/context", json=soak.body(number))
                assert response.status_code == 200, response.text
                body = response.content
            else:
                request = ContextRequest.model_validate(soak.body(number))
                body = (await memory.look_up(request, deadline=ANSWER_SECONDS)).body
            told.bodies[number].add(body)
            await answered.add()


async def _disturb(home: Path, disturbances: list[Disturbance], answered: Counter, done: dict[str, int]) -> None:
    ended: dict[str, int] = {}
    for after, part, number in disturbances:
        await answered.reach(after)
        async with asyncio.timeout(START_SECONDS):
            # What was ended last has to be there again before it can be ended once more.
            while (pid := _stack(home).pids[part]) == ended.get(part):
                await asyncio.sleep(0.1)
        if number == signal.SIGSTOP:
            await _hold(pid)
        else:
            os.kill(pid, number)
            ended[part] = pid
        what = f"{part} {number.name}"
        done[what] = done.get(what, 0) + 1


async def _hold(pid: int) -> None:
    """Stop a process and its children, which all stay connected, and let them go on later."""
    parent = psutil.Process(pid)
    held = [parent, *parent.children(recursive=True)]
    for process in held:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    await asyncio.sleep(SILENCE_SECONDS)
    for process in held:
        with suppress(psutil.NoSuchProcess):
            process.resume()


async def check(home: Path, soak: Soak, told: Told) -> dict[str, int]:
    """Hold the store to what the callers were told; how many answers went out before they could be stored."""
    assert {len(bodies) for bodies in told.bodies.values()} == {1}
    happened = {"worker SIGKILL": soak.kills, "postgres SIGINT": soak.restarts, "postgres SIGSTOP": soak.silences}
    assert told.disturbed == {what: times for what, times in happened.items() if times}
    bodies = {f"soak-{number}": next(iter(found)) for number, found in told.bodies.items()}
    stack = _stack(home)
    await _all_settled(stack, soak)
    asked = "WHERE project = %s AND operation = 'context'"
    with psycopg.connect(stack.database_url) as connection:
        rows = connection.execute(
            "SELECT request_id, response FROM mem.request_ledger WHERE scope = %s AND operation = 'context'",
            [soak.project],
        ).fetchall()
        assert {request_id: bytes(response) for request_id, response in rows} == bodies
        seen = connection.execute(
            f"SELECT sig_sha, count(*), count(DISTINCT request_id) FROM mem.occurrence {asked} GROUP BY sig_sha",
            [soak.project],
        ).fetchall()
        counts = dict(connection.execute("SELECT sig_sha, sum(times) FROM mem.occurrence_count GROUP BY 1").fetchall())
    answers = [json.loads(body) for body in bodies.values()]
    (sig_sha,) = {answer["signatures"][0]["sig_sha"] for answer in answers}
    assert seen == [(sig_sha, soak.requests, soak.requests)]
    assert counts[sig_sha] == soak.requests + 1  # and the acceptance
    stored = [answer for answer in answers if "ledger" not in {one["leg"] for one in answer["degraded"]}]
    told_counts = [answer["signatures"][0]["seen_count"] for answer in stored]
    # Each that was counted as it was answered has a place of its own in the order of all.
    assert len(set(told_counts)) == len(told_counts)
    last = {**soak.body(soak.requests), "request_id": "soak-last"}
    async with httpx2.AsyncClient(base_url=stack.http, timeout=ANSWER_SECONDS) as http:
        answer = (await http.post("/memory/context", json=last)).json()
    assert (answer["tier"], answer["lessons"][0]["seen_count"]) == (1, soak.requests + 2)
    return {"thinner": sum(bool(one["degraded"]) for one in answers), "stored later": len(answers) - len(stored)}


async def _all_settled(stack: StackFile, soak: Soak) -> None:
    """Return once every answer that is owed to the ledger is stored there."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                with psycopg.connect(stack.database_url) as connection:
                    keys = f"lookup:context:{soak.project}:soak-%"
                    row = connection.execute("SELECT count(*) FROM mem.journal WHERE key LIKE %s", [keys]).fetchone()
                    if row == (soak.requests,):
                        return
            except psycopg.OperationalError:
                pass  # it is being started again
            await asyncio.sleep(0.2)


def _stack(home: Path) -> StackFile:
    stack = StackHome.at(home).read_stack()
    assert stack is not None, "the stack has ended"
    return stack


def _to(count: int) -> range:
    return range(1, count + 1)
