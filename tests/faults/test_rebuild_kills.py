"""A worker is killed at each step of a rebuild; another one finishes it, and the tables are what they were."""

from __future__ import annotations

import asyncio
import signal

import pytest

from mem import wiring
from mem.domain.replaying import ReplayReport
from mem.store.pool import open_pool
from mem.testing import FakeEmbedder
from tests.contract.parts import postgres_parts
from tests.contract.rebuilding import write_some
from tests.faults.test_kills import Place, _client, _working
from tests.temporal_server import running_temporal

KILLS = [
    ("begin_replay", "after"), ("replay_records", "before"), ("replay_records", "after"), ("index_replayed", "after"),
    ("swap_replayed", "before"), ("swap_replayed", "after"), ("discard_replayed", "after"),
]  # fmt: skip
SECONDS = 1800

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
async def rebuilt(postgres_server, postgres_template, forks):
    """What a check says after each killed and finished rebuild, and how the worker's process ended; all run at once."""
    names = ["rebuild_fault", *(f"rebuild_fault_{number}" for number in range(len(KILLS)))]
    pool = await open_pool(postgres_server.create(names[0], postgres_template), size=2)
    await write_some(postgres_parts(pool))
    await pool.close()
    for name in names[1:]:
        postgres_server.create(name, names[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
        async with asyncio.timeout(SECONDS), running_temporal(*names[1:]) as temporal:
            places = [Place(postgres_server.url(name), temporal.address, name) for name in names[1:]]
            found = await asyncio.gather(*(_run(forks, *one) for one in zip(places, KILLS, strict=True)))
    yield dict(zip(KILLS, found, strict=True))
    for name in names:
        postgres_server.drop(name)


@pytest.mark.parametrize(("step", "point"), KILLS)
async def test_a_killed_worker_leaves_no_trace(rebuilt, step, point):
    """Killed at this step and followed by another, the rebuild ends with the tables of the journal."""
    code, report, checked = rebuilt[step, point]
    assert code == -signal.SIGKILL
    assert checked.same
    assert report.records == checked.records > 20


async def _run(forks, place: Place, case: tuple[str, str]) -> tuple[int, ReplayReport, ReplayReport]:
    pool = await open_pool(place.url, size=1)
    async with pool.connection() as connection:
        await connection.execute("TRUNCATE memory_vector, signature_link; UPDATE memory_node SET projected = ''")
    await pool.close()
    killed = forks.start("tests.faults.killing_worker:work", *case, environment=place.environment)
    client = await _client(place)
    rebuilding = asyncio.create_task(_rebuild(client))
    code = (await killed.ended()).code
    async with _working(place):
        report = await rebuilding
        return code, report, await client.replay(check=True)


async def _rebuild(client) -> ReplayReport:
    while True:
        try:
            return await client.replay()
        except Exception as error:
            if "No worker polls" not in str(error):
                raise
            await asyncio.sleep(0.1)
