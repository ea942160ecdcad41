"""The processes themselves, as an operator runs them: what they write, serve and send, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mem.addresses import find_addresses
from mem.settings import Settings
from mem.wiring import migrate_database
from tests.mcp_server import free_port
from tests.otlp_server import collecting
from tests.temporal_server import eventually
from tests.wire import Wire

ROOT = Path(__file__).resolve().parents[2]
FAILURE = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n"
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
CALLER = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{CALLER}-b7ad6b7169203331-01"
CALLS = 24
AT_ONCE = 8


class Running:
    """A process with its output, line by line as it comes."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line.decode("utf-8"))

    def events(self) -> list[dict[str, Any]]:
        """Every line of its log; one that is no JSON fails the test."""
        return [json.loads(line) for line in self.lines]

    async def told(self, **fields: str) -> None:
        async def seen() -> bool:
            return any(fields.items() <= event.items() for event in self.events())

        await eventually(seen)

    async def end(self) -> tuple[int | None, bytes]:
        """Ask it to end; its exit code, and what it wrote to stdout."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stdout is not None
        written = await self.process.stdout.read()
        await self._reading
        return await self.process.wait(), written


def environment(**more: str) -> dict[str, str]:
    ours = ("MEM_", "TEMPORAL_", "OTEL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PYTHONPATH": str(ROOT), "TEMPORAL_CONFIG_FILE": os.devnull, **more}


@asynccontextmanager
async def started(*command: str, **more: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, env=environment(**more), cwd=ROOT, stdout=PIPE, stderr=PIPE
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.slow
async def test_worker_and_gateway_are_seen_at_work(temporal_server, empty_database_url):
    """One trace over both processes, metrics at the address, JSON alone on stderr even when Temporal goes away."""
    settings = Settings(database_url=empty_database_url, temporal_address=temporal_server.address)
    await migrate_database(find_addresses(settings), settings)
    wire, metrics, http = Wire(temporal_server.address), f"127.0.0.1:{free_port()}", str(free_port())
    with collecting() as collector:
        common = {
            "MEM_DATABASE_URL": empty_database_url, "MEM_TASK_QUEUE": "processes", "MEM_HTTP_PORT": http,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        }  # fmt: skip
        address = await wire.start()
        async with (
            asyncio.timeout(240),
            started("worker.py", TEMPORAL_ADDRESS=address, MEM_METRICS_ADDRESS=metrics, **common) as worker,
            started("-m", "mem.gateway", TEMPORAL_ADDRESS=temporal_server.address, **common) as gateway,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{http}", timeout=60) as caller,
        ):
            await worker.told(event="worker ready")
            await eventually(lambda: _ready(caller))
            body = {"project": "p", "signature_source": FAILURE, "task": f"publish with {SECRET}"}
            answer = await caller.post("/memory/context", json=body, headers={"traceparent": PARENT})
            assert answer.status_code == 200
            served = (await caller.get(f"http://{metrics}/metrics")).text
            wire.cut()
            await worker.told(logger="temporalio.core")
            assert await gateway.end() == (0, b"")
            assert await worker.end() == (0, b"")
    assert "mem_worker_lookups_total{" in served
    assert "temporal_worker_task_slots_available{" in served
    assert collector.services == {"mem-worker", "mem-gateway"}
    ours = [span for span in collector.spans if span.trace_id.hex() == CALLER]
    (stored,) = [span for span in ours if span.name == "SQL ledger.store"]
    assert collector.way_up(stored)[-1] == "POST /memory/context"
    (line,) = [event for event in worker.events() if event["event"] == "lookup"]
    (request,) = [event for event in gateway.events() if event.get("route") == "/memory/context"]
    assert {line["trace_id"], request["trace_id"]} == {CALLER}
    for written in (*worker.lines, *gateway.lines, served):
        assert SECRET not in written
    assert SECRET.encode() not in collector.received


async def _ready(caller: httpx2.AsyncClient) -> bool:
    try:
        return (await caller.get("/readyz")).status_code == 200
    except httpx2.HTTPError:
        return False


async def called(address: str) -> tuple[int | None, bytes]:
    """A short call of the command line: its exit code, and stdout."""
    command = ["-m", "mem.cli.main", "schedule", "show", "--format", "json"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, env=environment(TEMPORAL_ADDRESS=address), cwd=ROOT, stdout=PIPE, stderr=PIPE
    )
    out, told = await process.communicate()
    assert told.count(b"\n") <= 1, told
    return process.returncode, out


async def test_a_call_that_nobody_answers_leaves_stdout_empty():
    """Whatever the core of Temporal has to say about it."""
    async with asyncio.timeout(60):
        assert await called(f"127.0.0.1:{free_port()}") == (1, b"")


@pytest.mark.slow
async def test_many_short_calls_end_in_order(temporal_server):
    """Several at once on a busy machine: none is aborted, and stdout is one document, or nothing where it fails."""
    places = asyncio.Semaphore(AT_ONCE)
    wire = Wire(temporal_server.address)
    flaky = await wire.start()

    async def call(number: int) -> tuple[int | None, bytes]:
        async with places:
            if number == CALLS // 2:
                wire.cut()
            return await called(flaky if number % 2 else temporal_server.address)

    async with asyncio.timeout(300):
        ended = await asyncio.gather(*(call(number) for number in range(CALLS)))
    assert [code for code, _ in ended] == [1] * CALLS
    assert {out for _, out in ended} == {b"null\n", b""}
    assert {out for _, out in ended[::2]} == {b"null\n"}
