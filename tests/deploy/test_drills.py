"""The steps of docs/backup.md, done as they stand there: a backup is restored, and a stack moves to a cluster."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from mem.local import StackFile, StackOptions, remove_data, start_detached, stop_stack
from tests.deploy.image import ROOT
from tests.folders import new_folder
from tests.forks import Forks, Result
from tests.temporal_server import running_temporal

pytestmark = pytest.mark.slow

LOGS = {
    "npm": "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error peer react@17 from chart@3.1.0\n",
    "git": "fatal: refusing to merge unrelated histories\n",
}
LESSONS = {
    "npm": "npm ci stopped with ERESOLVE: the chart package wants react 17. Pin react with an override until then.",
    "git": "git pull refused unrelated histories: the template was copied, not forked. Merge once with the flag.",
}
TABLES_WITH_ROWS = {"memory_node", "failure_signature", "symptom_projection", "memory_vector", "occurrence", "skill"}


class Site(NamedTuple):
    """A stack with its own servers, or one over those of a cluster."""

    home: Path
    stack: StackFile
    forks: Forks

    async def mem(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Result:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
        environment["MEM_HOME"] = str(self.home)
        result = await self.forks.mem(*arguments, environment=environment, stdin=stdin, folder=ROOT).ended()
        assert result.code == code, result.err
        return result

    async def look_up(self, tool: str, request_id: str) -> bytes:
        body = {"request_id": request_id, "project": "billing", "signature_source": LOGS[tool]}
        async with httpx2.AsyncClient(base_url=self.stack.http, timeout=120) as client:
            answer = await client.post("/memory/context", json=body)
        assert answer.status_code == 200, answer.text
        return answer.content

    async def tables(self) -> dict[str, tuple[int, str]]:
        """How many rows each table has, and their digest, as the check tells that finds them right."""
        report = (await self.mem("rebuild", "--from-log", "--check", "--format", "json")).document
        return {each["table"]: (each["rows"], each["digest"]) for each in report["tables"]}

    async def head(self) -> dict[str, Any]:
        return (await self.mem("log", "verify", "--format", "json")).document


@asynccontextmanager
async def site(forks: Forks, **options: Any) -> AsyncIterator[Site]:
    home = new_folder("mem-drill-")
    try:
        yield Site(home, await start_detached(home, StackOptions(app_dir=ROOT, **options)), forks)
    finally:
        await stop_stack(home)
        remove_data(home)


@pytest.fixture(scope="module")
async def embedded(forks: Forks) -> AsyncIterator[Site]:
    """A stack of `mem up` with something of everything in it."""
    async with site(forks) as old:
        for tool, text in LESSONS.items():
            evidence = [{"source": f"ci:{tool}", "turn": 1, "text": LOGS[tool]}]
            lesson = {"request_id": tool, "project": "billing", "level": "L1", "text": text, "evidence": evidence}
            async with httpx2.AsyncClient(base_url=old.stack.http, timeout=120) as client:
                answer = await client.post("/memory/accept", json=lesson)
            assert answer.json()["status"] == "accepted", answer.text
        await old.mem("skill", "add", "--name", "ci-triage", "--description", "Find the first real error of a CI job.")
        await old.look_up("npm", "before")
        # Who computes the first answer again sees a failure that was seen more often.
        await old.look_up("npm", "later")
        yield old


@pytest.fixture(scope="module")
def dump(embedded: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pg_dump writes of the stack's database while it runs."""
    file = tmp_path_factory.mktemp("dump") / "mem.dump"
    _postgres(embedded, "pg_dump", "--format=custom", f"--file={file}", f"--dbname={embedded.stack.database_url}")
    return file


def _postgres(embedded: Site, program: str, *arguments: str) -> None:
    binaries = Path(str(embedded.stack.postgres_binaries))
    subprocess.run([binaries / program, *arguments], check=True, capture_output=True, timeout=300)


async def same_answer(old: bytes, new: Site, request_id: str) -> None:
    """Another server, asked the same thing anew, gives the lesson that the old one gave, at the same tier."""
    before, after = json.loads(old), json.loads(await new.look_up("npm", request_id))
    assert (after["tier"], [one["sha"] for one in after["lessons"]]) == (
        before["tier"],
        [one["sha"] for one in before["lessons"]],
    )
    assert before["tier"] == 1


async def test_an_export_brings_everything_to_a_cluster(embedded: Site, forks: Forks, empty_database_url: str):
    """Same journal, same tables to the last byte, same lessons; answers that were given before are computed anew."""
    exported = (await embedded.mem("log", "export")).out.encode()
    head, tables = await embedded.head(), await embedded.tables()
    assert {name for name, (rows, _) in tables.items() if rows} >= TABLES_WITH_ROWS
    given = await embedded.look_up("npm", "before")
    async with running_temporal("mem") as server:
        given_servers = {"temporal_address": server.address, "temporal_namespace": "mem"}
        async with site(forks, database_url=empty_database_url, **given_servers) as cluster:
            await cluster.mem("rebuild", "--from-log", "-", stdin=exported)
            assert await cluster.head() == head
            assert await cluster.tables() == tables
            await same_answer(given, cluster, "after")
            await same_answer(given, cluster, "before")


async def test_a_dump_brings_the_answers_too(embedded: Site, forks: Forks, postgres_server: Any, dump: Path):
    """A request that was answered before the dump gets the same bytes, of a Temporal that never saw it."""
    given, head, tables = await embedded.look_up("npm", "before"), await embedded.head(), await embedded.tables()
    url = postgres_server.create("restored")
    await asyncio.to_thread(
        _postgres, embedded, "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", str(dump)
    )
    async with running_temporal("mem") as server:
        given_servers = {"temporal_address": server.address, "temporal_namespace": "mem"}
        async with site(forks, database_url=url, **given_servers) as cluster:
            assert await cluster.head() == head
            assert await cluster.tables() == tables
            assert await cluster.look_up("npm", "before") == given
    postgres_server.drop("restored")
