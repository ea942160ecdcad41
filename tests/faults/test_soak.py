"""A thousand lookups, each sent up to five times, while workers are killed and the database is restarted and held."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import httpx2
import pytest

from mem.client import MemoryClient
from mem.local import StackOptions, remove_data, start_detached, stop_stack
from tests import soak

ROOT = Path(__file__).resolve().parents[2]
SOAK = soak.Soak(project="soaked", requests=1000, kills=10, restarts=2, silences=1, seed=20261129)


@pytest.mark.slow
async def test_a_thousand_lookups_survive_ten_kills_and_two_restarts():
    """Every call is answered, every caller of a request has the same bytes, and each request counts exactly once."""
    home = Path(tempfile.mkdtemp(prefix="mem-soak-"))
    try:
        stack = await start_detached(home, StackOptions(app_dir=ROOT, max_restarts=100))
        async with httpx2.AsyncClient(base_url=stack.http, timeout=60) as http:
            accepted = await http.post("/memory/accept", json=SOAK.lesson())
            assert accepted.json()["status"] == "accepted", accepted.text
        told = await soak.run(home, SOAK)
        found = await soak.check(home, SOAK, told)
        sys.stderr.write(f"{told.answers} answers; {found}\n")
        assert found["stored later"] > 0
        memory = await MemoryClient.connect(address=stack.temporal.address, namespace=stack.temporal.namespace)
        report = await memory.replay(check=True)
        assert report.same, report
    finally:
        await stop_stack(home)
        remove_data(home)
