"""Acceptances: each way in which one can go."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import RequestConflict
from tests.replay.histories import record
from tests.temporal_server import OTHER, Rig
from tests.workflows.material import LESSON, candidate, candidate_fields
from tests.workflows.ports import Gate, Refusing, Wrapped

pytestmark = pytest.mark.slow

REWORDED = "Pin @types/react via `overrides` instead of forcing the install, because its peer range excludes react 19."


@pytest.fixture(autouse=True)
def project(rig, request) -> None:
    rig.project = f"replay-{request.node.name.removeprefix('test_')}"


async def test_what_the_gate_says(rig: Rig, temporal_server) -> None:
    """Accepted, rejected, a duplicate, overruled by a person, and another body under the same request id."""
    async with rig.working(), asyncio.timeout(120):
        await rig.memory.accept(candidate(rig, "accepted"))
        await rig.memory.accept(candidate(rig, "rejected", text="ok"))
        await rig.memory.accept(candidate(rig, "duplicate", text=LESSON.upper()))
        await rig.memory.accept(candidate(rig, "override", text=REWORDED), override="It is about another package.")
        mine = {"text": f"{LESSON} Mine.", "user_id": "user-123", "visibility": "user"}
        await rig.memory.accept(candidate(rig, "of_a_user", **mine))
        plain = candidate_fields(rig, "plain", text=f"{LESSON} Seen 3 times.")
        await rig.temporal.start_workflow(
            "AcceptMemory", plain, id=rig.accept_handle("plain").id, task_queue=rig.task_queue
        )
        for name in ("accepted", "rejected", "duplicate", "override", "of_a_user", "plain"):
            await record(f"accept_{name}", rig.accept_handle(name))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(60):
        with pytest.raises(RequestConflict):
            await later.memory.accept(candidate(rig, "accepted", text=f"{LESSON} Otherwise."))
        await record("accept_conflict", later.accept_handle("accepted"))


async def test_an_answer_before_the_end(rig: Rig) -> None:
    """Who waits for the durable point alone is answered while the vectors are still to come."""
    put = Gate(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=put)), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig, "durable", wait="durable"))
        put.opened.set()
        await record("accept_durable", rig.accept_handle("durable"))


async def test_two_successors(rig: Rig) -> None:
    """What a candidate was to supersede is superseded by another one before it is appended."""
    held = Gate(rig.ports.memories.append)

    async def append(plan):
        return await (held if plan.node.text.endswith("first.") else rig.ports.memories.append)(plan)

    async with rig.working(memories=Wrapped(rig.ports.memories, append=append)), asyncio.timeout(60):
        old = (await rig.memory.accept(candidate(rig, "old"))).answer.sha
        slow = "Of all causes of a stale cache the mirror of the registry comes first."
        first = asyncio.create_task(rig.memory.accept(candidate(rig, "overtaken", text=slow, supersedes=[old])))
        await held.entered.wait()
        newer = "The lock file was written by an older version of the package manager, which pins other ranges."
        await rig.memory.accept(candidate(rig, "overtaking", text=newer, supersedes=[old]))
        held.opened.set()
        assert (await first).answer.verdict.rule == "bad-parents"
        await record("accept_overtaken", rig.accept_handle("overtaken"))


async def test_a_controller_that_refuses(rig: Rig) -> None:
    """It answers when it is asked for the third time, or never, and is done without."""
    for name, times in (("refused", 2), ("degraded", None)):
        refusing = Wrapped(rig.ports.projector, project=Refusing(rig.ports.projector.project, times=times))
        async with rig.working(projector=refusing), asyncio.timeout(60):
            await rig.memory.accept(candidate(rig, name, text=f"{LESSON} For who was {name} {len(name)} times."))
            await record(f"accept_{name}", rig.accept_handle(name))
