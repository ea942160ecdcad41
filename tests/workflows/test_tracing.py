"""One trace from the request over HTTP down to the statement, sent to a real receiver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from mem import wiring
from mem.addresses import find_addresses
from mem.clients.temporal.connection import connect
from mem.clients.temporal.spans import Tracing
from mem.clients.temporal.tracing import open_tracing
from mem.domain.errors import ConfigurationError
from mem.gateway.app import create_app
from mem.settings import Settings
from mem.testing import FakeEmbedder
from mem.wiring import open_ports
from tests.otlp_server import Collector, collecting
from tests.temporal_server import MAIN, Rig
from tests.workflows.material import LESSON, RAW_LINE, SECRET, candidate_fields, lookup_fields
from tests.workflows.ports import Switch
from worker import WORKFLOWS, workflow_runner

CALLER = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{CALLER}-b7ad6b7169203331-01"


class Traced:
    """A rig that traces, and the gateway before it."""

    def __init__(self, rig: Rig, tracing: Tracing, collector: Collector) -> None:
        self.rig = rig
        self.tracing = tracing
        self.collector = collector
        app = create_app(rig.memory, spans=tracing)
        self.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://gateway")

    async def sent(self) -> Collector:
        """What the receiver has, once all that was made is there."""
        await asyncio.to_thread(self.tracing._provider.force_flush)
        return self.collector


@pytest.fixture
async def traced(temporal_server, database_url, monkeypatch) -> AsyncIterator[Traced]:
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    settings = Settings(database_url=database_url, temporal_address=temporal_server.address)
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        async with open_tracing("mem-test", {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}) as tracing:
            assert tracing is not None
            client = await connect(address=temporal_server.address, namespace=MAIN, interceptors=tracing.interceptors)
            async with open_ports(find_addresses(settings), settings, spans=tracing) as ports:
                rig = Traced(Rig(client, ports), tracing, collector)
                async with rig.http:
                    yield rig


async def test_a_trace_reaches_from_the_request_to_the_statement(traced):
    """Below the caller's own span: route, update, run, activity, SQL by its name, model; and no text in any of it."""
    rig = traced.rig
    async with rig.working(), asyncio.timeout(40):
        accepted = await traced.http.post("/memory/accept", json=candidate_fields(rig))
        task = f"use {SECRET}"
        asked = lookup_fields(rig, tool="npm", task=task)
        found = await traced.http.post("/memory/context", json=asked, headers={"traceparent": PARENT})
    assert (accepted.status_code, found.json()["tier"]) == (200, 1)
    sent = await traced.sent()
    in_trace = [span for span in sent.spans if span.trace_id.hex() == CALLER]
    (stored,) = [span for span in in_trace if span.name == "SQL ledger.store"][:1]
    assert sent.way_up(stored) == [
        "SQL ledger.store", "RunActivity:look_up", "StartActivity:look_up",
        "StartUpdateWithStartWorkflow:LookUpContext", "POST /memory/context",
    ]  # fmt: skip
    assert {"RunWorkflow:LookUpContext", "embeddings fake-embedder-1", "rerank embedded scorer"} <= {
        span.name for span in in_trace
    }
    attributes = {pair.key: pair.value.string_value for pair in stored.attributes}
    assert attributes == {"db.system.name": "postgresql", "db.query.summary": "ledger.store"}
    assert not [span for span in sent.spans if span.name == "SQL composed"]
    for hidden in (SECRET, RAW_LINE, LESSON, "npm ERR!"):
        assert hidden.encode() not in sent.received


async def test_an_attempt_that_failed_stands_beside_the_next_one(traced):
    """A second attempt of a step is in the trace of the first, of whose fault the kind alone is told."""
    rig = traced.rig
    async with rig.working(look_up=Switch(rig.ports.look_up, times=1)), asyncio.timeout(40):
        await traced.http.post("/memory/context", json=lookup_fields(rig))
    runs = (await traced.sent()).named("RunActivity:look_up")
    assert len(runs) == 2
    assert len({span.trace_id for span in runs}) == 1
    (failed,) = [span for span in runs if span.events]
    assert failed.status.message == "ApplicationError"
    assert [pair.key for pair in failed.events[0].attributes] == ["exception.type"]


async def test_a_request_sent_again_is_linked_to_the_run_that_it_found(traced):
    """The run stays in the trace of whoever began it; the handler of each update links to the one that asked."""
    rig = traced.rig
    async with rig.working(), asyncio.timeout(40):
        waits = [candidate_fields(rig, wait=wait) for wait in ("durable", "all")]
        await asyncio.gather(*(traced.http.post("/memory/accept", json=each) for each in waits))
    sent = await traced.sent()
    (run,) = sent.named("RunWorkflow:AcceptMemory")
    handled = sent.named("HandleUpdate:accepted")
    assert [span.trace_id for span in handled] == [run.trace_id] * 2
    asked = {span.trace_id for span in sent.named("POST /memory/accept")}
    assert len(asked) == 2
    assert {link.trace_id for span in handled for link in span.links} == asked


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "zipkin"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "grpc"),
    ],
)
async def test_an_exporter_that_there_is_none_of_is_an_error(environment, told):
    """What cannot be sent is told when the process starts."""
    with pytest.raises(ConfigurationError, match=told):
        await open_tracing("mem-test", environment).__aenter__()


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"},
    ],
)
async def test_nothing_is_traced_unless_the_environment_says_so(environment):
    """No exporter named, none wanted, or all of it switched off."""
    async with open_tracing("mem-test", environment) as tracing:
        assert tracing is None


async def test_a_replay_makes_no_span(traced):
    """A run that a worker takes over is decided again as it was, and its steps are not in the trace twice."""
    rig = traced.rig
    async with rig.working(), asyncio.timeout(40):
        await traced.http.post("/memory/context", json=lookup_fields(rig))
    before = len((await traced.sent()).spans)
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
        interceptors=traced.tracing.interceptors,
    )
    async with asyncio.timeout(20):
        await replayer.replay_workflow(await rig.context_handle("1").fetch_history())
    assert len((await traced.sent()).spans) == before > 10
