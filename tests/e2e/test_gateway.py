"""The gateway as a process of its own over the real stack: under load, while Temporal is away, and as it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import psutil
import pytest

from mem.local.processes import identify
from tests.callers import Storm, post
from tests.e2e.conftest import ROOT, Loop

MEGABYTE = 1024 * 1024


class Process(NamedTuple):
    """A gateway, its port, and what it wrote so far."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    async def get(self, path: str) -> httpx2.Response:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=10) as client:
            return await client.get(path)

    async def until_ready(self, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    if (await self.get("/readyz")).status_code == 200:
                        return
                except httpx2.TransportError:
                    assert self.process.poll() is None, self.log.read_text()
                await asyncio.sleep(0.1)

    async def ended(self, seconds: float) -> int:
        return await asyncio.to_thread(self.process.wait, seconds)

    def lines(self) -> list[dict[str, Any]]:
        """Its requests; whatever else it wrote is shown where it is no line of JSON."""
        found = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in found if line["event"] == "request"]


@contextmanager
def gateway(loop: Loop, folder: Path) -> Iterator[Process]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
    environment |= {
        "MEM_DATABASE_URL": f"{loop.stack.database_url}?application_name=gateway-{port}",
        "TEMPORAL_ADDRESS": loop.stack.temporal.address,
        "TEMPORAL_NAMESPACE": loop.stack.temporal.namespace,
        "MEM_HTTP_PORT": str(port),
        "PYTHONPATH": str(ROOT),
    }
    log = folder / "gateway.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen([sys.executable, "-m", "mem.gateway"], env=environment, cwd=folder, stderr=stderr)
    try:
        yield Process(process, port, log)
    finally:
        process.kill()
        process.wait()


def lookup(number: int) -> bytes:
    return post({"request_id": f"storm-{time.monotonic_ns()}-{number}", "project": "storm", "tool": "npm"})


def connections(loop: Loop, port: int) -> int:
    ((number,),) = loop.rows("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", f"gateway-{port}")
    return int(number)


async def test_the_gateway_tells_how_it_is_and_what_it_did(loop: Loop) -> None:
    """Readiness names the database, and a lookup is counted by its tier."""
    async with httpx2.AsyncClient(base_url=loop.stack.http, timeout=30) as client:
        assert (await client.get("/readyz")).json() == {"status": "ready", "writes": "ok", "database": "ok"}
        await client.post("/memory/context", json={"project": "nobody-knows", "tool": "unheard-of"})
        counted = (await client.get("/metrics")).text
    assert 'mem_lookups_total{tier="none"}' in counted
    assert 'mem_abstentions_total{operation="context"}' in counted
    assert 'mem_http_requests_total{method="POST",route="/memory/context",status="200"}' in counted


async def test_under_load_all_are_answered_and_on_sigterm_all_that_were_taken(loop: Loop, tmp_path: Path) -> None:
    """Fifty callers get answers or are sent away; then the gateway ends in order, and leaves nothing behind."""
    with gateway(loop, tmp_path) as served:
        await served.until_ready()
        assert (await served.get("/memory/gaps")).status_code == 200
        assert connections(loop, served.port) > 0
        storm = Storm(served.port, lookup)
        blowing = asyncio.create_task(storm.blow(50, 60))
        while sum(storm.statuses.values()) < 100 and not blowing.done():
            await asyncio.sleep(0.05)
        served.process.send_signal(signal.SIGTERM)
        assert await served.ended(30) == 0
        storm.over.set()
        await blowing
        assert set(storm.statuses) <= {200, 503}
        assert sum(storm.statuses.values()) >= 100
        assert storm.broken == []
        lines = [line for line in served.lines() if line["route"] == "/memory/context"]
        # Whatever was taken was answered, and whoever was answered got it.
        assert len(lines) == sum(storm.statuses.values())
        assert {line["outcome"] for line in lines} <= {"answered", "shed", "ended"}
        assert "Traceback" not in served.log.read_text()
        assert connections(loop, served.port) == 0


async def test_a_signal_ends_an_idle_gateway_at_once(loop: Loop, tmp_path: Path) -> None:
    """SIGINT is as good as SIGTERM: exit code 0, and not a word."""
    with gateway(loop, tmp_path) as served:
        await served.until_ready()
        served.process.send_signal(signal.SIGINT)
        assert await served.ended(10) == 0
        assert [line for line in served.log.read_text().splitlines() if '"event": "request"' not in line] == []


@pytest.mark.slow
async def test_two_hundred_callers_for_a_minute_while_temporal_goes_and_comes(loop: Loop, tmp_path: Path) -> None:
    """No 5xx but 503 that says when to come back; memory stays bounded, and everything is closed afterwards."""
    with gateway(loop, tmp_path) as served:
        await served.until_ready()
        measured = psutil.Process(served.process.pid)
        await Storm(served.port, lookup).blow(5, 2)
        opened, before = measured.num_fds(), measured.memory_info().rss
        storm = Storm(served.port, lookup)
        blowing = asyncio.create_task(storm.blow(200, 60))
        await asyncio.sleep(15)
        temporal = loop.stack.process("temporal")
        assert temporal is not None
        assert identify(temporal.pid) is not None
        os.kill(temporal.pid, signal.SIGKILL)
        highest = before
        while not blowing.done():
            highest = max(highest, measured.memory_info().rss)
            await asyncio.sleep(0.1)
        await blowing
        assert set(storm.statuses) <= {200, 503}, storm.statuses
        assert storm.broken == []
        assert storm.lost == 0
        answered = storm.statuses[200]
        assert answered > 200
        await Storm(served.port, lookup).blow(5, 5)
        async with asyncio.timeout(60):
            while measured.num_fds() > opened:
                await asyncio.sleep(0.5)
        assert highest - before < 200 * MEGABYTE
        served.process.send_signal(signal.SIGTERM)
        assert await served.ended(30) == 0
        assert "Traceback" not in served.log.read_text()
