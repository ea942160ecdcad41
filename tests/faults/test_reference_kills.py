"""`mem reference add` is killed at any moment, or started twice; nobody can tell afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mem.store.journal import PostgresJournal
from mem.store.pool import Pool
from mem.store.reference import PostgresReference
from mem.testing import FakeClock
from tests.contract.rebuilding import check, different
from tests.forks import Forked, Forks

DOCUMENTS, SECTIONS = 100, 3
TEXTS = DOCUMENTS * SECTIONS


@pytest.fixture
def docs(tmp_path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(DOCUMENTS):
        write(root / f"n{number:03}.md", f"of {number}")
    return root


def write(file: Path, text: str) -> None:
    file.write_text(
        "".join(f"# Part {at}\n\nWhat part {at} says {text}.\n\n" for at in range(SECTIONS)), encoding="utf-8"
    )


Start = Callable[..., Forked]


@pytest.fixture
def start(forks: Forks, database_url: str, tmp_path: Path) -> Start:
    """`mem reference` with a slow embedder, over the database of the test."""
    environment = {"PATH": os.defpath, "MEM_DATABASE_URL": database_url, "MEM_HOME": str(tmp_path)}

    def start(*arguments: str | Path) -> Forked:
        arguments = (*map(str, arguments), "--format", "json")
        return forks.start("tests.faults.slow_reference:reference", *arguments, environment=environment)

    return start


async def finished(process: Forked) -> dict:
    result = await process.ended()
    assert result.code == 0, result.err
    return result.document


async def recorded(pool: Pool) -> dict[str, int]:
    kinds = [record.kind async for record in PostgresJournal(pool, FakeClock()).read()]
    return {kind: kinds.count(kind) for kind in ("embedding", "reference")}


async def until(pool: Pool, kind: str, count: int, process: Forked) -> None:
    while (await recorded(pool))[kind] < count:
        assert not process.code.done(), "it ended before it could be killed"
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param("embedding", 1, marks=pytest.mark.slow),
        ("embedding", TEXTS // 2),
        pytest.param("reference", 1, marks=pytest.mark.slow),
        ("reference", 60),
    ],
)
async def test_an_addition_that_was_killed_is_gone_on_with(pool, start, docs, kind, count):
    """What was embedded is not embedded again, what was written is not written again, and all is there in the end."""
    process = start("add", docs)
    await until(pool, kind, count, process)
    process.kill()
    await process.ended()
    before = await recorded(pool)
    assert before["embedding"] < TEXTS
    told = await finished(start("add", docs))
    assert told["embedded"] == TEXTS - before["embedding"]
    assert told["documents"]["added"] == DOCUMENTS - before["reference"]
    assert told["chunks"]["total"] == TEXTS
    assert await recorded(pool) == {"embedding": TEXTS, "reference": DOCUMENTS}
    assert different(await check(pool, page=1000)) == {}


async def test_a_replacement_that_was_killed_is_gone_on_with(pool, start, docs):
    """Each document is the old one or the new one at any time, with all its chunks, and the new one in the end."""
    await finished(start("add", docs))
    for number in range(DOCUMENTS - 10):
        write(docs / f"n{number:03}.md", f"anew of {number}")
    for number in range(DOCUMENTS - 10, DOCUMENTS):
        (docs / f"n{number:03}.md").unlink()
    process = start("add", docs)
    await until(pool, "reference", DOCUMENTS + 30, process)
    process.kill()
    await process.ended()
    held = await PostgresReference(pool, FakeClock()).documents()
    assert {len(one.shas) for one in held} == {SECTIONS}
    told = await finished(start("add", docs))
    assert told["documents"]["removed"] == 10
    assert told["documents"]["changed"] + told["documents"]["unchanged"] == DOCUMENTS - 10
    assert await recorded(pool) == {"embedding": TEXTS + (DOCUMENTS - 10) * SECTIONS, "reference": 2 * DOCUMENTS}
    assert different(await check(pool, page=1000)) == {}


async def test_two_additions_at_once_add_everything_once(pool, start, docs):
    """Neither fails, and what the one wrote the other finds."""
    told = await asyncio.gather(*(finished(process) for process in [start("add", docs) for _ in range(2)]))
    assert {one["documents"]["added"] + one["documents"]["unchanged"] for one in told} == {DOCUMENTS}
    assert sum(one["documents"]["added"] for one in told) == DOCUMENTS
    assert await recorded(pool) == {"embedding": TEXTS, "reference": DOCUMENTS}
    assert different(await check(pool, page=1000)) == {}
