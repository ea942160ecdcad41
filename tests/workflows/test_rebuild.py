"""RebuildProjections on a real server, worker and database."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from activities.derive_signatures import DeriveSignatures
from mem.domain.errors import ConfigurationError, Unavailable
from mem.domain.ids import rebuild_workflow_id
from mem.domain.rebuild import DeriveStep, RebuildReport
from mem.domain.replaying import Progress
from mem.parsing.key import ALGOS
from tests.algorithms import second_algorithm
from tests.temporal_server import Rig, events, eventually, runs_of, scheduled
from tests.workflows.material import LESSON, candidate, lookup
from tests.workflows.ports import Gate, Misconfigured, Switch, Wrapped

SIGNATURES = 2
"""In the evidence of each candidate: npm's and the traceback's."""


@pytest.fixture
async def rebuilding(rig: Rig) -> Rig:
    """A rig whose database has three memories."""
    async with rig.working():
        for name in ("one", "two", "three"):
            await rig.memory.accept(candidate(rig, name, text=f"{LESSON} {name}"))
    return rig


async def start(rig: Rig, **fields) -> WorkflowHandle:
    """A rebuild that is started without the client, in one project's name, since tests share the server."""
    return await rig.temporal.start_workflow(
        "RebuildProjections", fields, id=f"plain:{rig.project}", task_queue=rig.task_queue, result_type=RebuildReport
    )


async def test_the_new_version_is_derived_and_then_stands(rebuilding, monkeypatch):
    """Old rows answer before the rebuild and new ones after it, with a record each; a second run adds nothing."""
    rig = rebuilding
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    async with rig.working(), asyncio.timeout(60):
        assert (await rig.memory.look_up(lookup(rig, "before"))).answer.tier == 1
        records = len(await rig.journal())
        checked = await rig.memory.rebuild(check=True)
        assert (checked.check, checked.algo, checked.memories, checked.new) == (True, 2, 3, 3 * SIGNATURES)
        assert len(checked.differing) == 3
        assert await rig.memory.rebuild(check=True) == checked
        report = await rig.memory.rebuild()
        assert report == checked.model_copy(update={"check": False})
        same = RebuildReport(algo=2, memories=3, unchanged=3 * SIGNATURES)
        assert await rig.memory.rebuild() == same
        assert await rig.memory.rebuild(check=True) == same.model_copy(update={"check": True})
        assert len(await rig.journal()) == records + 3
        assert (await rig.memory.look_up(lookup(rig, "after"))).answer.signatures[0].seen_count == 3 + 2


async def test_what_an_acceptance_linked_is_what_a_rebuild_derives(rebuilding):
    """Without a new version there is nothing to do."""
    async with rebuilding.working(), asyncio.timeout(30):
        report = await rebuilding.memory.rebuild(check=True)
    assert (report.same, report.unchanged) == (True, 3 * SIGNATURES)


async def test_a_long_rebuild_goes_on_as_a_new_run(rebuilding, monkeypatch):
    """A history that would grow long is ended; cursor, counts and version go along."""
    rig = rebuilding
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    async with rig.working(), asyncio.timeout(60):
        handle = await start(rig, page=1, batches=2)
        report = await handle.result()
        assert (report.memories, report.new, report.algo) == (3, 3 * SIGNATURES, 2)
        await eventually(lambda: _is(runs_of(rig.temporal, handle.id), 2))
        assert (await rig.memory.rebuild(check=True)).same


@pytest.mark.parametrize(("page", "seconds", "steps"), [(100, -1.0, 3), (3, 60.0, 2), (2, 60.0, 2), (100, 60.0, 1)])
async def test_batches_leave_nothing_out(rebuilding, monkeypatch, page, seconds, steps):
    """Batches that end by time, by length or exactly at the last memory look at each memory once."""
    rig = rebuilding
    monkeypatch.setattr("activities.derive_signatures.BATCH_SECONDS", seconds)
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    async with rig.working(), asyncio.timeout(30):
        handle = await start(rig, page=page)
        report = await handle.result()
        assert (report.memories, report.new, len(await scheduled(handle))) == (3, 3 * SIGNATURES, steps)


async def test_a_lost_step_is_done_again(rebuilding, monkeypatch):
    """A database that is away, and an answer that is lost after its commit, change nothing of what is stored."""
    rig = rebuilding
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    relink = Switch(rig.ports.failures.relink, times=1)

    async def lost(*args):
        if len(await rig.ports.failures.linked(args[0])) == SIGNATURES:
            await rig.ports.failures.relink(*args)
            raise Unavailable("The connection was lost.", "Ask again.")
        return await relink(*args)

    async with rig.working(failures=Wrapped(rig.ports.failures, relink=lost)), asyncio.timeout(60):
        report = await rig.memory.rebuild()
        assert (report.memories, report.new + report.unchanged, relink.failed) == (3, 3 * SIGNATURES, 1)
        assert (await rig.memory.rebuild(check=True)).same


async def test_two_callers_share_one_run(rebuilding):
    """A rebuild that is open is waited for, not begun again."""
    rig = rebuilding
    relink = Gate(rig.ports.failures.relink)
    async with rig.working(failures=Wrapped(rig.ports.failures, relink=relink)), asyncio.timeout(30):
        callers = [asyncio.create_task(rig.memory.rebuild()) for _ in range(3)]
        await relink.entered.wait()
        await asyncio.sleep(0.5)
        relink.opened.set()
        assert len({report.model_dump_json() for report in await asyncio.gather(*callers)}) == 1
        assert relink.calls == 3


async def test_memories_accepted_meanwhile_are_complete(rebuilding, monkeypatch):
    """An acceptance beside a rebuild links its own signatures, and either may be first."""
    rig = rebuilding
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    async with rig.working(), asyncio.timeout(60):
        accepting = [rig.memory.accept(candidate(rig, str(n), text=f"{LESSON} {n}")) for n in range(10, 16)]
        await asyncio.gather(*accepting, *(rig.memory.rebuild() for _ in range(2)))
        report = await rig.memory.rebuild()
        assert (report.memories, (await rig.memory.rebuild(check=True)).same) == (9, True)


async def test_what_cannot_succeed_fails_the_run(rebuilding):
    """The caller gets the error of the domain, and the details of the run say it."""
    rig = rebuilding
    relink = Misconfigured(rig.ports.failures.relink)
    async with rig.working(failures=Wrapped(rig.ports.failures, relink=relink)), asyncio.timeout(30):
        with pytest.raises(ConfigurationError, match="mem migrate"):
            await rig.memory.rebuild()
        with pytest.raises(WorkflowFailureError):
            await (await start(rig, page="many")).result()


async def test_the_run_tells_what_it_does(rebuilding):
    """Summary, progress and summaries of steps are there for whoever looks into the Temporal UI."""
    rig = rebuilding
    async with rig.working(), asyncio.timeout(30):
        report = await rig.memory.rebuild()
        handle = rig.temporal.get_workflow_handle(rebuild_workflow_id(1, check=False))
        progress = await handle.query("progress", result_type=Progress)
        assert progress == Progress(phase="done", done=report.memories)
        described = await handle.describe()
        assert await described.static_summary() == "Rebuild the signatures of all memories, version 1"
        steps = [
            event.user_metadata.summary.data
            for event in await events(handle)
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        ]
        assert steps == [b'"Derive signatures behind the beginning"']


async def test_without_a_worker_it_says_so(rebuilding):
    """Nothing is started that nobody would do."""
    with pytest.raises(Unavailable, match="No worker polls"):
        async with asyncio.timeout(10):
            await Rig(rebuilding.temporal, rebuilding.ports).memory.rebuild()


async def test_a_worker_of_another_release_leaves_it(rebuilding):
    """Who asks for a version gets that version or waits for a worker that has it."""
    derive = DeriveSignatures(rebuilding.ports.memories, rebuilding.ports.failures).derive_signatures
    with pytest.raises(ApplicationError, match="version 2 is asked for") as caught:
        await derive(DeriveStep(check=False, algo=2, page=9, after=""))
    assert not caught.value.non_retryable


async def _is(found, expected) -> bool:
    return await found == expected
