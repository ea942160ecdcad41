"""The worker's database falls silent, or goes away, with a lookup on its way: over HTTP that is a thinner answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from temporalio.client import WorkflowExecutionStatus

from mem.addresses import find_addresses
from mem.gateway.app import create_app
from mem.parsing import extract
from mem.settings import Settings
from mem.wiring import open_ports
from tests.temporal_server import Rig, eventually
from tests.wire import Wire
from tests.workflows.material import LOG, lookup_fields
from tests.workflows.ports import Gate, Wrapped

LEG_SECONDS = 0.6


@asynccontextmanager
async def _over_a_wire(rig: Rig, database_url: str) -> AsyncIterator[tuple[Rig, Wire]]:
    """The rig, its worker's connections to the database over a wire."""
    server, _, name = database_url.removeprefix("postgresql://mem@").partition("/")
    wire = Wire(server)
    settings = Settings(database_url=f"postgresql://mem@{await wire.start()}/{name}", database_pool=4)
    async with open_ports(find_addresses(settings), settings) as ports:
        yield Rig(rig.temporal, ports), wire
        wire.carry()
    wire.cut()


@asynccontextmanager
async def _http(rig: Rig) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(rig.memory))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
        yield client


@pytest.mark.parametrize("begun", [False, True], ids=["before a lookup", "within one"])
async def test_a_database_that_falls_silent_makes_the_answer_thinner(rig, database_url, begun):
    """Each leg gives up at its limit, the answer is 200 and names them, and exactly it is stored as soon as can be."""
    extract(LOG)  # reads the rules, which takes longer than a leg is given here
    async with _over_a_wire(rig, database_url) as (wired, wire), asyncio.timeout(60):
        embed = Gate(wired.ports.embedder.embed)
        embedder = Wrapped(wired.ports.embedder, embed=embed)
        parts: dict[str, Any] = {"look_up_embedder": embedder} if begun else {}
        async with wired.working(look_up_leg_seconds=LEG_SECONDS, **parts), _http(wired) as http:
            body = lookup_fields(wired)
            if not begun:
                wire.silence()
            asking = asyncio.create_task(http.post("/memory/context", json=body))
            if begun:
                await embed.entered.wait()
                wire.silence()
                embed.opened.set()
            response = await asking
            assert response.status_code == 200
            degraded = {one["leg"]: one["reason"] for one in response.json()["degraded"]}
            assert set(degraded) == {"ledger", "reference", "signatures", "skills", "symptom", "text", "lexical"}
            assert set(degraded.values()) <= {"timeout after 0.6 s", "timeout: the whole lookup may take 1.6 s"}
            assert (await http.post("/memory/context", json=body)).content == response.content
            wire.carry()

            await eventually(lambda: _closed(wired), seconds=40)
            assert (await http.post("/memory/context", json=body)).content == response.content
            assert len(await wired.journal("lookup")) == 1


async def _closed(rig: Rig) -> bool:
    return (await rig.context_handle("1").describe()).status == WorkflowExecutionStatus.COMPLETED
