"""One leg after the other is lost in the real worker: over HTTP the answer is 200, and whole but for that leg."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from mem.domain.ids import SHARED
from mem.gateway.app import create_app
from mem.ports import Document, LedgerKey, Reach, Skill
from mem.recall import query
from mem.recall.look_up import LookUp, LookUpPorts
from mem.writing.reference import reference_nodes
from tests.temporal_server import Rig, eventually
from tests.workflows.material import LOG, candidate, lookup_fields
from tests.workflows.ports import Slow, Switch, Wrapped

LEGS = ("signatures", "symptom", "text", "lexical", "rerank", "skills", "reference", "embedding", "ledger")


class Broken(Switch):
    """A method with a fault that nobody foresaw."""

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError


REASONS = {
    Slow: "timeout after 2.0 s",
    Switch: "The database is away. Wait for it.",
    Broken: "unexpected ZeroDivisionError",
}


def broken(ports: LookUpPorts, leg: str, fault: type[Switch]) -> dict[str, Any]:
    """The ports through which that leg has that fault."""
    if leg == "lexical":
        embedder = Wrapped(ports.embedder, embed=Switch(ports.embedder.embed))
        return {"embedder": embedder, "memories": _of_leg(ports.memories, leg, fault)}
    if leg in ("symptom", "text", "reference"):
        return {"memories": _of_leg(ports.memories, leg, fault)}
    port, method = {
        "signatures": ("failures", "known"), "rerank": ("reranker", "rerank"), "skills": ("skills", "nearest"),
        "embedding": ("embedder", "embed"), "ledger": ("ledger", "settle"),
    }[leg]  # fmt: skip
    real = getattr(ports, port)
    return {f"{port}": Wrapped(real, **{method: fault(getattr(real, method))})}


def _of_leg(memories: Any, leg: str, fault: type[Switch]) -> Wrapped:
    async def nearest(kind: str, levels: Any, *rest: Any) -> Any:
        asked = "reference" if "R" in levels else kind
        method = fault(memories.nearest) if asked == leg else memories.nearest
        return await method(kind, levels, *rest)

    async def lexical(text: str, levels: Any, *rest: Any) -> Any:
        method = fault(memories.lexical) if leg == "lexical" and "R" not in levels else memories.lexical
        return await method(text, levels, *rest)

    return Wrapped(memories, nearest=nearest, lexical=lexical)


@asynccontextmanager
async def http(rig: Rig) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(rig.memory))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
        yield client


async def _seed(rig: Rig) -> None:
    await rig.memory.accept(candidate(rig, "lesson"))
    nodes = reference_nodes(f"# npm\n\n{LOG}", source="npm.md", project=None)
    await rig.ports.reference.put([Document(SHARED, "npm.md", tuple(nodes))])
    await rig.ports.reference.complete([node.sha for node in nodes], rig.ports.embedder)
    await rig.ports.skills.put(Skill("triage", LOG, "", "*"), rig.ports.embedder)


@pytest.mark.parametrize("fault", [Slow, Broken], ids=["hangs", "breaks"])
async def test_a_leg_that_is_lost_costs_no_more_than_itself(rig, fault):
    """Of nine requests at once, each with one leg lost, all are 200, name that leg, and have what the others found."""
    async with rig.working(), http(rig) as client, asyncio.timeout(60):
        await _seed(rig)
        response = await client.post("/memory/context", json=lookup_fields(rig, "whole"))
        whole = response.json()
        assert ([one["tier"] for one in whole["lessons"]], len(whole["skills"]), whole["degraded"]) == ([1, 3], 1, [])
    bodies = await asyncio.gather(*(_ask(rig, leg, fault) for leg in LEGS))
    for leg, body in zip(LEGS, bodies, strict=True):
        others = [{"leg": "embedding", "reason": REASONS[Switch]}] if leg == "lexical" else []
        assert body["degraded"] == [*others, {"leg": leg, "reason": REASONS[fault]}], leg
        tiers = [one["tier"] for one in body["lessons"]]
        lost = {"signatures": [2, 3], "reference": [1]}
        assert tiers == lost.get(leg, [1, 3]), leg
        assert len(body["skills"]) == (0 if leg in ("skills", "embedding", "lexical") else 1), leg
        assert body["signatures"][0]["seen_count"] >= 2, leg
    await eventually(lambda: _counted(rig, len(LEGS) + 1))


@pytest.mark.parametrize("fault", ["is late", "breaks"])
async def test_a_log_that_was_not_read_in_time_is_counted_once_it_is_read(rig, monkeypatch, fault):
    """The answer goes out without its signatures, is stored as it is, and the run counts them before it ends."""

    def read_failure(source: str) -> Any:
        if fault == "breaks":
            raise ZeroDivisionError
        time.sleep(0.6)
        return real(source)

    real = query.read_failure
    (signature,) = real(LOG).signatures
    monkeypatch.setattr(query, "read_failure", read_failure)
    async with rig.working(look_up_leg_seconds=0.4), http(rig) as client, asyncio.timeout(60):
        response = await client.post("/memory/context", json=lookup_fields(rig))
        body = response.json()
        assert (response.status_code, body["signatures"]) == (200, [])
        assert [one["leg"] for one in body["degraded"]] == ["signatures"]
        await rig.context_handle("1").result()
        assert (await client.post("/memory/context", json=lookup_fields(rig))).content == response.content
    seen = await rig.ports.failures.seen([signature.sig_sha], Reach(rig.project, federated=False))
    assert seen[signature.sig_sha].times == 1
    mark = await (await rig.context_handle("1").describe()).memo_value("fingerprint")
    assert await rig.ports.ledger.find(LedgerKey("context", rig.project, "1"), mark) == response.content


async def _ask(rig: Rig, leg: str, fault: type[Switch]) -> dict[str, Any]:
    """The answer of a worker and a gateway of its own, over the one database."""
    own = Rig(rig.temporal, rig.ports)
    own.project = rig.project
    ports = rig.ports.look_up._ports
    async with AsyncExitStack() as opened:
        await opened.enter_async_context(own.working(look_up=LookUp(replace(ports, **broken(ports, leg, fault)))))
        client = await opened.enter_async_context(http(own))
        response = await client.post("/memory/context", json=lookup_fields(own, leg))
        assert response.status_code == 200, leg
        again = await client.post("/memory/context", json=lookup_fields(own, leg))
        assert (again.status_code, again.content) == (200, response.content), leg
        await own.context_handle(leg).result()
        return dict(response.json())


async def _counted(rig: Rig, requests: int) -> bool:
    return len(await rig.journal("lookup")) == requests
