"""A worker is killed and the database restarted under many callers, then every table is made anew: nobody can tell."""

from __future__ import annotations

import asyncio
import re
from typing import Any, NamedTuple

import pytest

from mem.client import MemoryClient
from tests import soak
from tests.e2e.conftest import Loop
from tests.e2e.orchard import OTHER_PROJECT, PROJECT, Orchard, seed

pytestmark = pytest.mark.slow

SOAK = soak.Soak(project="disturbed", requests=60, kills=1, restarts=1, silences=0, seed=7)
TWINS = ("twin-a", "twin-b", "twin-c")
"""Projects that learned the same thing, word by word, so that scores tie."""
FULL = "redis.exceptions.ResponseError: OOM command not allowed when used memory > 'maxmemory'.\n"
TWIN = {
    "level": "L1",
    "text": "The cache of the lens service filled up and refused writes, since nobody had set a policy; "
    "allkeys-lru is set now.",
    "evidence": [{"source": "ci:5", "turn": 2, "text": f"2026-05-01 worker | {FULL}"}],
}
COUNTS = re.compile(rb'"(seen_count|last_seen)":[^,}]+')


class Answers(NamedTuple):
    """The same requests, each time under ids of their own: bytes without counts, by request."""

    told: soak.Told
    before: dict[str, bytes]
    disturbed: dict[str, bytes]
    rebuilt: dict[str, bytes]


def requests(orchard: Orchard) -> dict[str, dict[str, Any]]:
    asked = {name: {"project": PROJECT, "signature_source": log} for name, log in orchard.failures.items()}
    asked |= {f"{name}, little": {**fields, "budget": 500} for name, fields in asked.items()}
    log = orchard.failures["lock-order"]
    return asked | {
        "the project alone": {"project": OTHER_PROJECT, "signature_source": log, "scope": "project"},
        "a task": {"project": PROJECT, "task": "Why do batch jobs on one table deadlock, and what order helps?"},
        "a task everywhere": {"project": "elsewhere", "task": "deadlocks between jobs", "scope": "all-projects"},
        "a tool": {"project": PROJECT, "tool": "postgres"},
        "ties": {"project": "elsewhere", "signature_source": FULL},
        "ties, by the tool": {"project": "elsewhere", "tool": "redis", "scope": "all-projects"},
    }


@pytest.fixture(scope="module")
async def answers(loop: Loop) -> Answers:
    orchard = await seed(loop)
    lessons = [SOAK.lesson(), *({**TWIN, "project": twin, "request_id": "twin"} for twin in TWINS)]
    for accepted in await asyncio.gather(*(loop.post("/memory/accept", lesson) for lesson in lessons)):
        assert accepted.json()["status"] == "accepted", accepted.text
    before = await _ask(loop, orchard, "before")
    told = await soak.run(loop.home, SOAK)
    await soak.check(loop.home, SOAK, told)
    disturbed = await _ask(loop, orchard, "disturbed")
    memory = await MemoryClient.connect(
        address=loop.stack.temporal.address, namespace=loop.stack.temporal.namespace, task_queue="mem"
    )
    await memory.replay()
    return Answers(told, before, disturbed, await _ask(loop, orchard, "rebuilt"))


async def test_every_call_is_answered_and_each_request_counts_once(answers: Answers) -> None:
    """Callers of one request have one body, which is stored; what the callers and the store have to say agrees."""
    assert answers.told.answers > SOAK.requests
    assert answers.told.disturbed == {"worker SIGKILL": 1, "postgres SIGINT": 1}


async def test_identical_requests_have_identical_bytes_after_kill_and_restart(answers: Answers) -> None:
    """Another worker process, over a database that was restarted, gives the bytes of the first, but for the counts."""
    assert answers.disturbed == answers.before


async def test_identical_requests_have_identical_bytes_after_a_rebuild(answers: Answers) -> None:
    """Made anew from the journal, the tables give the same bytes again, but for the counts."""
    assert answers.rebuilt == answers.before


async def test_the_answers_hold_what_could_come_in_another_order(answers: Answers) -> None:
    """Ties, several lessons of a tier, successors, skills and documentation are among what was compared."""
    told = {name: body.decode() for name, body in answers.before.items()}
    for tied in ("ties", "ties, by the tool"):
        projects = re.findall(r'"project":"(twin-.)"', told[tied])
        assert sorted(projects) == list(TWINS), told[tied]
    assert len(set(re.findall(r'"score":([0-9.]+)', told["ties"]))) == 1
    assert set(re.findall(r'"tier":(\d)', told["lock-order"])) == {"1", "2", "3"}
    assert '"skills":[{' in told["lock-order"]
    assert '"dropped":[{' in told["lock-order, little"]
    assert re.search(r'"supersedes":\["', told["root-again"])
    assert all('"degraded":[]' in body for body in told.values())


async def _ask(loop: Loop, orchard: Orchard, when: str) -> dict[str, bytes]:
    found = {}
    for name, fields in requests(orchard).items():
        response = await loop.post("/memory/context", {"request_id": f"{when}: {name}", **fields})
        assert response.status_code == 200, response.text
        found[name] = COUNTS.sub(b"", response.content)
    return found
