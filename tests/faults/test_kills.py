"""A worker is killed at each step, before it and after it; nobody can tell afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from mem import wiring
from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.connection import connect
from mem.domain.accepting import AcceptAnswer, AcceptRequest, Evidence
from mem.domain.journal import same_journal_form
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.ports import Audience, SnapshotEntry
from mem.settings import Settings
from mem.testing import FakeEmbedder
from mem.wiring import open_ports
from tests.forks import Forks
from tests.postgres import Server
from tests.temporal_server import running_temporal
from worker import build_workers, running

TASK_QUEUE = "faults"
PROJECT = "faults"
USER = "user-1"
SECONDS = 1800
"""Against hanging alone: it takes half a minute."""

NPM = 'npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! peer react@"^18"\n'
PYTHON = "Traceback (most recent call last):\n  File \"app.py\", line 3, in f\nKeyError: 'colour'\n"
LESSON = "The peer range excludes react 19: pin it through `overrides` instead of forcing the install."
EARLIER = AcceptRequest(
    request_id="earlier", project=PROJECT, level="L1", text="Forcing the install with --legacy-peer-deps unblocks it.",
    evidence=[Evidence(source="ci:1", turn=1, text=NPM)],
)  # fmt: skip
REWORDED = "--legacy-peer-deps forces the install and unblocks it."
LOOK_UP = ContextRequest(request_id="look", project=PROJECT, signature_source=NPM)

STEPS = (
    "record_candidate", "gate_memory", "append_memory", "project_symptoms", "embed_symptoms", "embed_text",
    "link_signatures", "refresh_snapshot", "settle_acceptance",
)  # fmt: skip
OF_A_DUPLICATE = [
    ("append_memory", "after:duplicate"), ("embed_text", "before:duplicate"), ("link_signatures", "after:duplicate")
]  # fmt: skip
QUICK = [*((step, "after") for step in STEPS), ("append_memory", "before"), ("look_up", "after"), OF_A_DUPLICATE[0]]
"""Each step after it had its effect, where the most can go wrong; one before it; and the other kinds of request."""

KILLS = [*QUICK, *((step, "before") for step in STEPS if step != "append_memory"), *OF_A_DUPLICATE[1:]]
AT_ONCE = 8
"""Most of a case is waiting for the server to miss the worker; more at once need a big machine."""


class Outcome(NamedTuple):
    """What a caller, the journal and a user's summary have to say; `code` is what the worker's process ended with."""

    body: bytes
    journal: list[bytes]
    summary: list[SnapshotEntry]
    code: int | None


class Place(NamedTuple):
    """A database and a namespace, so that every case can use the same ids."""

    url: str
    address: str
    namespace: str

    @property
    def settings(self) -> Settings:
        return Settings(
            database_url=self.url, temporal_address=self.address, temporal_namespace=self.namespace,
            task_queue=TASK_QUEUE, database_pool=3,
        )  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.defpath, "MEM_DATABASE_URL": self.url, "MEM_TASK_QUEUE": TASK_QUEUE, "MEM_DATABASE_POOL": "3",
            "TEMPORAL_ADDRESS": self.address, "TEMPORAL_NAMESPACE": self.namespace,
        }  # fmt: skip


@pytest.fixture(scope="module")
async def outcomes(
    request: pytest.FixtureRequest, postgres_server: Server, postgres_template: str, forks: Forks
) -> AsyncIterator[dict[tuple[str, str], Outcome]]:
    """The outcome of each case that is tested, and of undisturbed runs under (operation, "undisturbed")."""
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    killed = [(item.callspec.params["step"], item.callspec.params["point"]) for item in items]
    cases = [("accept", "undisturbed"), ("look_up", "undisturbed"), ("duplicate", "undisturbed"), *killed]
    names = [f"fault_{number}" for number in range(len(cases) + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
        async with asyncio.timeout(SECONDS), running_temporal(*names) as temporal:
            base, *places = (Place(postgres_server.url(name), temporal.address, name) for name in names)
            postgres_server.create(base.namespace, postgres_template)
            async with _working(base):
                client = await _client(base)
                sha = (await client.accept(EARLIER)).answer.sha
            for place in places:
                postgres_server.create(place.namespace, base.namespace)
            found = await _run_all(forks, dict(zip(cases, places, strict=True)), sha)
    yield found
    for name in names:
        postgres_server.drop(name)


@pytest.mark.parametrize(
    ("step", "point"), [pytest.param(*kill, marks=() if kill in QUICK else pytest.mark.slow) for kill in KILLS]
)
async def test_a_killed_worker_leaves_no_trace(outcomes, step, point):
    """Killed at this step and started anew, the worker gives the answer and the journal of an undisturbed run."""
    operation = _operation((step, point))
    undisturbed, killed = outcomes[operation, "undisturbed"], outcomes[step, point]
    assert killed.code == -signal.SIGKILL
    assert killed.body == undisturbed.body
    assert killed.journal == undisturbed.journal
    assert killed.summary == undisturbed.summary


async def test_the_undisturbed_run_is_what_it_should_be(outcomes):
    """The run that the others are held to did all that can be disturbed."""
    answer = AcceptAnswer.model_validate_json(outcomes["accept", "undisturbed"].body)
    assert (answer.status, answer.vectors, answer.pending) == ("accepted", ["text", "symptom"], [])
    assert {signature.tool for signature in answer.signatures} == {"npm", "python"}
    assert [entry.sha for entry in outcomes["accept", "undisturbed"].summary] == [answer.sha]
    kinds = [json.loads(record)["kind"] for record in outcomes["accept", "undisturbed"].journal]
    assert {"candidate", "verdict", "appended", "projection", "embedding", "signatures"} == set(kinds)
    again = AcceptAnswer.model_validate_json(outcomes["duplicate", "undisturbed"].body)
    assert (again.status, [signature.tool for signature in again.signatures]) == ("duplicate", ["python"])
    found = ContextAnswer.model_validate_json(outcomes["look_up", "undisturbed"].body)
    assert (found.tier, found.lessons[0].seen_count, found.degraded) == (1, 2, [])


async def _run_all(forks: Forks, places: dict[tuple[str, str], Place], sha: str) -> dict[tuple[str, str], Outcome]:
    """Some at once, but for the lookups, whose legs have two seconds each and need the machine for as long."""
    look_ups = [case for case in places if "look_up" in case]
    found = {case: await _run(forks, places[case], case, sha) for case in look_ups}
    others = [case for case in places if case not in found]
    turns = asyncio.Semaphore(AT_ONCE)

    async def run(case: tuple[str, str]) -> Outcome:
        async with turns:
            return await _run(forks, places[case], case, sha)

    rest = await asyncio.gather(*map(run, others))
    return found | dict(zip(others, rest, strict=True))


async def _run(forks: Forks, place: Place, case: tuple[str, str], sha: str) -> Outcome:
    operation = _operation(case)
    code = None
    if "undisturbed" in case:
        async with _working(place):
            body = await _ask(place, sha, operation)
    else:
        killed = forks.start("tests.faults.killing_worker:work", *case, environment=place.environment)
        call = asyncio.create_task(_ask(place, sha, operation))
        code = (await killed.ended()).code
        async with _working(place):
            body = await call
    async with open_ports(find_addresses(place.settings), place.settings) as ports:
        journal = sorted([same_journal_form(record) async for record in ports.journal.read()])
        summary = await ports.users.snapshot(Audience(USER, "user"))
    return Outcome(body, journal, summary, code)


def _operation(case: tuple[str, str]) -> str:
    if "look_up" in case:
        return "look_up"
    return "duplicate" if "duplicate" in ":".join(case).split(":") else "accept"


async def _ask(place: Place, sha: str, operation: str) -> bytes:
    client = await _client(place)
    if operation == "look_up":
        return (await client.look_up(LOOK_UP, deadline=SECONDS)).body
    if operation == "duplicate":
        more = [Evidence(source="ci:4", text=PYTHON)]
        again = EARLIER.model_copy(update={"request_id": "again", "text": REWORDED, "evidence": more})
        return (await client.accept(AcceptRequest.model_validate(again.model_dump()), deadline=SECONDS)).body
    evidence = [{"source": "ci:2", "text": NPM}, {"source": "ci:3", "turn": 2, "text": PYTHON}]
    fields = {"level": "L1", "text": LESSON, "supersedes": [sha], "user_id": USER, "evidence": evidence}
    request = {"request_id": "main", "project": PROJECT, **fields}
    return (await client.accept(AcceptRequest.model_validate(request), deadline=SECONDS)).body


async def _client(place: Place) -> MemoryClient:
    return await MemoryClient.connect(address=place.address, namespace=place.namespace, task_queue=TASK_QUEUE)


@asynccontextmanager
async def _working(place: Place) -> AsyncIterator[None]:
    temporal = await connect(address=place.address, namespace=place.namespace)
    async with (
        open_ports(find_addresses(place.settings), place.settings) as ports,
        running(build_workers(temporal, ports, task_queue=TASK_QUEUE)),
    ):
        yield
