"""What a worker counts, read where Prometheus would read it."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx2
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from mem.addresses import find_addresses
from mem.client import MemoryClient
from mem.clients.temporal.connection import connect
from mem.clients.temporal.metrics import CountedCalls
from mem.clients.temporal.runtime import make_runtime
from mem.domain.errors import ConfigurationError, RequestConflict
from mem.gateway.app import create_app
from mem.settings import Settings
from mem.store.pool import open_pool
from mem.testing import FakeEmbedder
from mem.wiring import MiniLmEmbedder, open_ports
from tests.mcp_server import free_port
from tests.temporal_server import MAIN, OTHER, Rig
from tests.workflows.material import LESSON, candidate, lookup, question, turn
from tests.workflows.ports import Switch, Wrapped

DASHBOARD = Path(__file__).parents[2] / "docker" / "grafana" / "dashboard.json"
BROKEN = "UPDATE memory_node SET projected = ''"


def scraped(address: str) -> dict[str, Metric]:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        return {family.name: family for family in text_string_to_metric_families(answer.read().decode("utf-8"))}


def value(families: Mapping[str, Metric], name: str, **labels: str) -> float:
    """The sum of a counter or gauge over the series that carry these labels."""
    samples = families[name].samples if name in families else []
    fitting = [one for one in samples if labels.items() <= one.labels.items() and not one.name.endswith("_created")]
    return sum(one.value for one in fitting)


@pytest.fixture(scope="module")
async def counted(temporal_server, postgres_server, postgres_template) -> AsyncIterator[dict[str, Metric]]:
    """What is served once a worker has answered, refused, repeated, degraded, and compared tables that differ."""
    url = postgres_server.create("counted", postgres_template)
    address = f"127.0.0.1:{free_port()}"
    runtime = make_runtime(address)
    settings = Settings(database_url=url, temporal_address=temporal_server.address)
    clients = [
        await connect(address=temporal_server.address, namespace=name, runtime=runtime) for name in (MAIN, OTHER)
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MiniLmEmbedder, "load", FakeEmbedder)
        calls = CountedCalls(runtime.metric_meter)
        async with open_ports(find_addresses(settings), settings, calls=calls) as ports, asyncio.timeout(90):
            rig = Rig(clients[0], ports)
            await _work(rig)
            await _work_elsewhere(rig.in_namespace(clients[1]))
            await _compare(rig, url)
            yield await asyncio.to_thread(scraped, address)
    postgres_server.drop("counted")


async def _work(rig: Rig) -> None:
    skills = Wrapped(rig.ports.look_up._ports.skills, nearest=Switch(rig.ports.skills.nearest, times=1))
    async with rig.working(look_up_skills=skills):
        await rig.memory.look_up(lookup(rig, "nothing known"))
        await rig.memory.accept(candidate(rig, "kept", wait="durable"))
        await rig.memory.accept(candidate(rig, "kept"))
        await rig.memory.accept(candidate(rig, "again", text=f"{LESSON} "))
        await rig.memory.accept(candidate(rig, "trivial", text="It was fixed."))
        await rig.memory.look_up(lookup(rig, "known"))
        await rig.memory.look_up(lookup(rig, "known"))
        await rig.memory.query(question(rig, "asked"))
        await rig.memory.ground(turn(rig, "turn"))


async def _work_elsewhere(other: Rig) -> None:
    """Where Temporal knows nothing of what was answered, and the ledger does."""
    async with other.working():
        await other.memory.look_up(lookup(other, "known"))
        with pytest.raises(RequestConflict):
            await other.memory.look_up(lookup(other, "nothing known", budget=100))


async def _compare(rig: Rig, url: str) -> None:
    pool = await open_pool(url, size=1)
    async with pool.connection() as connection:
        await connection.execute(BROKEN)
    await pool.close()
    async with rig.working():
        await rig.memory.replay(check=True)


def test_answers_are_counted_once(counted):
    """By tier, without memory, by leg that failed; a repeated call counts nothing, a repeated answer apart."""
    lookups = {tier: value(counted, "mem_worker_lookups", tier=tier) for tier in ("1", "2", "3", "none")}
    assert lookups == {"1": 1, "2": 0, "3": 0, "none": 1}
    answers = {name: value(counted, "mem_worker_answers", operation=name) for name in ("context", "query", "ground")}
    assert answers == {"context": 2, "query": 1, "ground": 1}
    assert value(counted, "mem_worker_answer_seconds", operation="context") > 0
    assert value(counted, "mem_worker_abstentions", operation="context") == 1
    assert value(counted, "mem_worker_degraded_legs", operation="context", leg="skills") == 1
    assert value(counted, "mem_worker_repeated", operation="context") == 1
    assert value(counted, "mem_worker_conflicts") == 1


def test_candidates_are_counted_by_outcome_and_rule(counted):
    """Once each, whichever of its two bodies somebody waited for."""
    found = {
        (sample.labels["outcome"], sample.labels["rule"]): sample.value
        for sample in counted["mem_worker_acceptances"].samples
        if sample.name.endswith("_total")
    }
    assert found == {("accepted", "none"): 1, ("duplicate", "duplicate"): 1, ("rejected", "trivial"): 1}


def test_what_differs_is_shown_by_table(counted):
    """A row that is not as the journal makes it counts at its table; the others stand there with nothing."""
    tables = {sample.labels["table"]: sample.value for sample in counted["mem_drift_rows"].samples}
    assert tables.pop("memory_node") == 1
    assert len(tables) > 10
    assert set(tables.values()) == {0}
    assert value(counted, "mem_drift_checked_timestamp_seconds") > 1_700_000_000


def test_models_are_counted_beside_the_sdk(counted):
    """One address has both."""
    assert value(counted, "mem_model_calls", model="embedder", outcome="answered") > 3
    assert value(counted, "mem_model_calls", model="reranker", outcome="answered") >= 1
    assert value(counted, "temporal_workflow_completed") >= 8


def test_no_label_is_chosen_by_a_caller(counted):
    """Neither project nor request nor any text is in a series of ours."""
    ours = [sample for name, family in counted.items() if name.startswith("mem_") for sample in family.samples]
    told = {name for sample in ours for name in sample.labels}
    of_the_sdk = {"activity_type", "namespace", "task_queue", "le"}
    assert told == of_the_sdk | {"leg", "model", "operation", "outcome", "rule", "table", "tier"}


def test_an_address_that_is_taken_is_told():
    """Not to be served where somebody believes that it is would be found out late."""
    with pytest.raises(ConfigurationError, match="MEM_METRICS_ADDRESS 'nowhere'"):
        make_runtime("nowhere")


def exposed(families: Mapping[str, Metric]) -> set[str]:
    """The names by which a query finds what is served."""
    parts = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    return {f"{name}{part}" for name, family in families.items() for part in parts[family.type]}


@pytest.fixture
async def of_the_gateway() -> set[str]:
    """What a gateway serves."""
    transport = httpx2.ASGITransport(create_app(MemoryClient(None)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as http:
        text = (await http.get("/metrics")).text
    return exposed({family.name: family for family in text_string_to_metric_families(text)})


def test_no_panel_of_the_dashboard_is_dead(counted, of_the_gateway):
    """Each metric that a panel asks for is served by worker or gateway, and all that the worker counts is shown."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    asked = {name for query in queries for name in re.findall(r"\b(?:mem|temporal|process)_\w+", query)}
    assert asked - exposed(counted) - of_the_gateway == set()
    ours = {name for name in counted if name.startswith("mem_")}
    assert {name for name in ours if not any(each.startswith(name) for each in asked)} == set()


def test_the_panels_stand_beside_each_other():
    """Each has its own id, and none covers another one."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 20
    places = [panel["gridPos"] for panel in panels]
    cells = [
        (column, line)
        for place in places
        for column in range(place["x"], place["x"] + place["w"])
        for line in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(column for column, _ in cells) < 24
