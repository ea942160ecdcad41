"""RebuildProjections from the journal, on a real server, worker and database."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import WorkflowHandle

from mem.domain.errors import JournalCorrupt
from mem.domain.ids import replay_workflow_id
from mem.domain.replaying import Position, Progress, ReplayReport
from mem.store.pool import open_pool
from mem.testing import FakeEmbedder
from tests.temporal_server import Rig, eventually, runs_of, scheduled
from tests.workflows.material import LESSON, candidate, lookup
from tests.workflows.ports import Gate, LostAcknowledgement, Wrapped

STEPS = ("begin", "replay", "index", "swap", "discard")


class Lost(LostAcknowledgement):
    hangs = False


@pytest.fixture
async def filled(rig: Rig) -> Rig:
    """A rig whose database has three memories and a lookup."""
    async with rig.working():
        for name in ("one", "two", "three"):
            await rig.memory.accept(candidate(rig, name, text=f"{LESSON} {name}"))
        await rig.memory.look_up(lookup(rig))
    return rig


async def execute(url: str, statement: str) -> None:
    pool = await open_pool(url, size=1)
    async with pool.connection() as connection:
        await connection.execute(statement.encode())
    await pool.close()


async def start(rig: Rig, **fields) -> WorkflowHandle:
    """A rebuild that is started without the client, in one project's name, since tests share the server."""
    return await rig.temporal.start_workflow(
        "RebuildProjections", {"task": "replay", **fields}, id=f"replay:{rig.project}", task_queue=rig.task_queue,
        result_type=ReplayReport,
    )  # fmt: skip


async def rebuilt(rig: Rig, **fields) -> ReplayReport:
    return await (await start(rig, **fields)).result()


async def test_a6_rebuild_stable(filled, database_url):
    """Projections and vectors that were dropped are there again as they were, and no model was asked for it."""
    rig = filled
    async with rig.working(), asyncio.timeout(60):
        before = await rebuilt(rig, check=True)
        assert before.same
        await execute(database_url, "TRUNCATE symptom_projection, memory_vector; UPDATE memory_node SET projected = ''")
        broken = await rebuilt(rig, check=True)
        assert {table.table for table in broken.tables if table.differing} == {
            "memory_node", "memory_vector", "symptom_projection", "vector_count",
        }  # fmt: skip
        embedder: FakeEmbedder = rig.ports.embedder
        calls = embedder.calls
        report = await rebuilt(rig)
        assert (report.records, report.head) == await rig.ports.journal.head()
        after = await rebuilt(rig, check=True)
        assert (after.same, after.tables, embedder.calls) == (True, before.tables, calls)
        assert (await rig.memory.look_up(lookup(rig, "after"))).answer.tier == 1


async def test_a_long_rebuild_goes_on_as_a_new_run(filled, monkeypatch):
    """A history that would grow long is ended; the replay stands where it stood."""
    rig = filled
    monkeypatch.setattr("activities.replay_journal.STRETCH_SECONDS", -1.0)
    async with rig.working(), asyncio.timeout(60):
        records = await _length(rig)
        handle = await start(rig, page=2, batches=3)
        assert (await handle.result()).records == records
        runs = -(-records // 2 // 3)
        await eventually(lambda: _is(runs_of(rig.temporal, handle.id), runs))
        assert (await rebuilt(rig, check=True)).same
    assert runs > 2


async def test_a_worker_that_stops_is_followed_by_another(filled, monkeypatch):
    """The next worker goes on behind the last page that was committed; no record is replayed twice."""
    rig = filled
    monkeypatch.setattr("activities.replay_journal.STRETCH_SECONDS", -1.0)
    pages: list[int] = []

    async def replay(shadow, limit) -> Position:
        if len(pages) == 3 and not gate.opened.is_set():
            return await gate(shadow, limit)
        at = await rig.ports.rebuilding.replay(shadow, limit)
        pages.append(at.seq)
        return at

    gate = Gate(rig.ports.rebuilding.replay)
    async with asyncio.timeout(60):
        async with rig.working(rebuilding=Wrapped(rig.ports.rebuilding, replay=replay)):
            handle = await start(rig, page=4)
            await gate.entered.wait()
            progress = await handle.query("progress", result_type=Progress)
            assert (progress.phase, progress.done, progress.total) == ("replay", 12, (await _length(rig)))
        gate.opened.set()
        async with rig.working(rebuilding=Wrapped(rig.ports.rebuilding, replay=replay)):
            report = await handle.result()
        async with rig.working():
            assert (await rebuilt(rig, check=True)).same
    assert pages == [*range(4, report.records, 4), report.records]


@pytest.mark.parametrize("step", STEPS)
async def test_a_lost_answer_changes_nothing(filled, step):
    """Each step, done and its answer lost, is found done when it is repeated."""
    rig = filled
    lost = Lost(getattr(rig.ports.rebuilding, step), times=1)
    async with rig.working(rebuilding=Wrapped(rig.ports.rebuilding, **{step: lost})), asyncio.timeout(60):
        report = await rebuilt(rig)
        assert (report.records, lost.failed) == (await _length(rig), 1)
        assert (await rebuilt(rig, check=True)).same


async def test_acceptances_and_lookups_go_on(filled):
    """Rebuilds beside them: none fails, none is degraded, and all is in the tables afterwards."""
    rig = filled
    async with rig.working(), asyncio.timeout(120):
        stop, answers = asyncio.Event(), []

        async def look() -> None:
            while not stop.is_set():
                answers.append((await rig.memory.look_up(lookup(rig, f"look {len(answers)}"))).answer)

        looking = asyncio.create_task(look())
        accepting = [rig.memory.accept(candidate(rig, str(n), text=f"{LESSON} {n}")) for n in range(4)]
        rebuilding = asyncio.create_task(_several(rig))
        accepted = await asyncio.gather(*accepting)
        await rebuilding
        stop.set()
        await looking
        assert {reply.answer.status for reply in accepted} <= {"accepted", "duplicate"}
        assert {(answer.tier, tuple(answer.degraded)) for answer in answers} == {(1, ())}
        assert (await rebuilt(rig, check=True)).same


async def test_two_callers_share_one_run(filled):
    """A rebuild that is open is waited for, not begun again; a check beside it is a run of its own."""
    rig = filled
    begin = Gate(rig.ports.rebuilding.begin)
    async with rig.working(rebuilding=Wrapped(rig.ports.rebuilding, begin=begin)), asyncio.timeout(60):
        callers = [asyncio.create_task(rig.memory.replay()) for _ in range(3)]
        checker = asyncio.create_task(rig.memory.replay(check=True))
        await eventually(lambda: _value(begin.calls == 2))
        await asyncio.sleep(0.5)
        begin.opened.set()
        assert len({report.model_dump_json() for report in await asyncio.gather(*callers)}) == 1
        assert (await checker).check
        assert begin.calls == 2


async def test_a_damaged_journal_fails_the_run(filled, database_url):
    """The caller is told which record, and the live tables stay as they are."""
    rig = filled
    await execute(database_url, "DROP TRIGGER journal_is_append_only ON journal")
    await execute(database_url, "UPDATE journal SET body = replace(body, 'overrides', 'others') WHERE seq = 1")
    async with rig.working(), asyncio.timeout(60):
        with pytest.raises(JournalCorrupt, match="Record 1 was changed"):
            await rig.memory.replay()
        assert (await rig.memory.look_up(lookup(rig, "still"))).answer.tier == 1


async def test_the_run_tells_what_it_does(filled):
    """Summary, progress and details are there for whoever looks into the Temporal UI, and for the caller's bar."""
    rig = filled
    watched: list[Progress] = []
    replay = Gate(rig.ports.rebuilding.replay)
    async with rig.working(rebuilding=Wrapped(rig.ports.rebuilding, replay=replay)), asyncio.timeout(60):
        asking = asyncio.create_task(rig.memory.replay(watch=watched.append))
        await eventually(lambda: _value("replay" in {at.phase for at in watched}))
        replay.opened.set()
        await asking
        handle = rig.temporal.get_workflow_handle(replay_workflow_id(check=False))
        assert (await handle.query("progress", result_type=Progress)).phase == "done"
        assert await (await handle.describe()).static_summary() == "Rebuild every projection from the journal"
        assert {at.phase for at in watched} <= {"begin", "replay", "index", "swap", "done"}
        assert await scheduled(handle) == [
            "begin_replay", "replay_records", *["index_replayed"] * await _indexes(rig, handle), "swap_replayed",
            "discard_replayed",
        ]  # fmt: skip


async def _several(rig: Rig) -> None:
    for _ in range(3):
        await rebuilt(rig)


async def _indexes(rig: Rig, handle: WorkflowHandle) -> int:
    found = (await scheduled(handle)).count("index_replayed")
    assert found > 10
    return found


async def _length(rig: Rig) -> int:
    return (await rig.ports.journal.head()).length


async def _value(found: bool) -> bool:
    return found


async def _is(found, expected) -> bool:
    return await found == expected
