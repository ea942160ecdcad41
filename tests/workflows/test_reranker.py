"""Lookups and queries that a real server reranks: the real client, worker, Temporal and database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from mem import wiring
from mem.addresses import find_addresses
from mem.recall.outcome import Trace
from mem.settings import Settings
from mem.testing import FakeEmbedder
from mem.wiring import open_ports
from tests.rerank_server import RerankServer, score_of
from tests.scripted_server import as_json
from tests.temporal_server import Rig, TemporalServer
from tests.workflows.material import LESSON, candidate, lookup, question


@pytest.fixture
async def server() -> AsyncIterator[RerankServer]:
    async with RerankServer("vllm", path="/v1/rerank").running() as running:
        yield running


@pytest.fixture
async def rig(
    temporal_server: TemporalServer, database_url: str, server: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    """A rig that is wired as in production to the reranking server."""
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    settings = Settings(database_url=database_url, rerank_url=f"{server.base_url}/v1", rerank_model="bge")
    async with open_ports(find_addresses(settings), settings) as ports:
        yield Rig(await temporal_server.client(), ports)


async def test_a_server_reranks_lookups_and_queries(rig, server):
    """Its probability is the score of a lesson and of a hit, and the trace names it."""
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig))
        found = (await rig.memory.look_up(lookup(rig))).answer
        hits = (await rig.memory.query(question(rig))).answer.hits
        trace = await rig.context_handle("1").query("trace", result_type=Trace)
    asked, told = server.requests[0].body["query"], server.documents[0][0]
    assert told.endswith(LESSON)
    assert told != LESSON
    assert [lesson.score for lesson in found.lessons] == [round(score_of(asked, told), 4)]
    assert [hit.score for hit in hits] == [round(score_of(server.requests[-1].body["query"], told), 4)]
    assert found.degraded == []
    assert "score, by bge" in [leg.step for leg in trace.legs]


async def test_without_the_server_the_answer_stands(rig, server):
    """Of a server that is down the answer has no score, and says which reranker that is."""
    server.script(as_json(503, {}, {}))
    async with rig.working(), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig))
        found = (await rig.memory.look_up(lookup(rig))).answer
    assert [(lesson.tier, lesson.score) for lesson in found.lessons] == [(1, None)]
    [degraded] = found.degraded
    assert degraded.leg == "rerank"
    assert degraded.reason.startswith(f"The reranker 'bge' at {server.base_url.removeprefix('http://')} answered 503.")
