"""`MemoryClient.runs` on a real server: what it lists, and that the server takes every filter as it is meant."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from mem.client import MemoryClient
from mem.domain.errors import AmbiguousPrefix, ConfigurationError
from mem.domain.runs import RunsRequest
from tests.ready_filters import ready_filters
from tests.temporal_server import OTHER, eventually
from tests.workflows.material import candidate, lookup

HOSTILE = [
    "npm", "NPM", "npm ", "npm'", " npm", "it's", "'npm'", "''", "'", 'say "hi"', '"', "C:\\cl.exe", "\\", "\\'", "a?b",
    "?", "a%b", "a_b", "axb", "a*", "*", "`a`", "(a)", "a;--", "x' OR MemTier = 'none", 'x" OR MemTier = "none', "ünï",
    "日本", "😀", "a\nb", "a\tb", "a\x1ab", "null", "1", "true", ":a", "$1",
]  # fmt: skip
TOOL, TIER, SIGNATURE, DEGRADED = (
    SearchAttributeKey.for_keyword("MemTool"),
    SearchAttributeKey.for_keyword("MemTier"),
    SearchAttributeKey.for_keyword_list("MemSignature"),
    SearchAttributeKey.for_keyword_list("MemDegraded"),
)


def asked(**fields) -> RunsRequest:
    return RunsRequest.model_validate(fields)


async def start(client: Client, workflow_id: str, *pairs: SearchAttributePair) -> None:
    """A run that no worker ever takes up."""
    await client.start_workflow(
        "LookUpContext", id=workflow_id, task_queue="nobody", search_attributes=TypedSearchAttributes(list(pairs))
    )


async def ended(client: Client, workflow_ids: list[str]) -> None:
    await asyncio.gather(*(client.get_workflow_handle(each).terminate() for each in workflow_ids))


async def test_runs_are_found_by_what_they_were_about(rig):
    """A run tells its request, project, tool, tier, outcome and signatures, and how it stands for Temporal."""
    async with rig.working(), asyncio.timeout(60):
        accepted = await rig.memory.accept(candidate(rig, tool="npm"))
        await rig.memory.look_up(lookup(rig, request_id="2", tool="npm"))
        wanted = asked(project=[rig.project], status=["completed"])
        await eventually(lambda: _lists(rig.memory, wanted, 2))
        found = {each.kind: each for each in (await rig.memory.runs(wanted)).runs}
        one = await rig.memory.runs(asked(project=[rig.project], tool=["npm"], tier=["1"]))
        missed = await rig.memory.runs(asked(project=[rig.project], tier=["3"]))
    signatures = sorted(each.sig_sha for each in accepted.answer.signatures)
    first, second = found["accept"], found["context"]
    assert (first.request_id, first.tool, first.outcome, first.tier) == ("1", "npm", "accepted", None)
    assert first.signatures == signatures
    assert first.seconds is not None
    assert (second.request_id, second.tier, second.outcome, second.degraded) == ("2", "1", "answered", [])
    assert [each.run_id for each in one.runs] == [second.run_id]
    assert (one.total, missed.total, missed.runs) == (1, 0, [])
    (shared,) = second.signatures
    some = await rig.memory.runs(asked(project=[rig.project], signature=shared[:12]))
    assert {each.kind for each in some.runs} == {"accept", "context"}
    assert shared in some.filter


async def test_no_value_selects_the_runs_of_another(temporal_server):
    """Whatever a tool is called, the runs of that tool are listed, and no others."""
    client = await temporal_server.client(OTHER)
    memory = MemoryClient(client)
    ids = {tool: f"context:hostile:{number}" for number, tool in enumerate(HOSTILE)}
    tier = SearchAttributePair(TIER, "2")
    async with asyncio.timeout(60):
        for tool, workflow_id in ids.items():
            await start(client, workflow_id, SearchAttributePair(TOOL, tool), tier)
        await eventually(lambda: _lists(memory, asked(tier=["2"], kind=["context"], limit=1000), len(ids)))
        for tool, workflow_id in ids.items():
            found = await memory.runs(asked(tool=[tool], tier=["2"], limit=2))
            assert [(each.workflow_id, each.tool) for each in found.runs] == [(workflow_id, tool)], found.filter
            assert found.total == (1 if found.exact else None)
        some = await memory.runs(asked(tool=HOSTILE, tier=["2"], limit=1000))
        assert {each.workflow_id for each in some.runs} == set(ids.values())
        await ended(client, list(ids.values()))


async def test_the_beginning_of_a_signature_names_one_or_is_an_error(temporal_server):
    """The rest is found in the runs; where two begin so, both are told."""
    client = await temporal_server.client(OTHER)
    memory = MemoryClient(client)
    first, second = "5" * 12 + "a" * 52, "5" * 12 + "b" * 52
    leg = SearchAttributePair(DEGRADED, ["symptom"])
    async with asyncio.timeout(60):
        await start(client, "context:signed:1", SearchAttributePair(SIGNATURE, [first]), leg)
        await start(client, "context:signed:2", SearchAttributePair(SIGNATURE, [second, first]))
        await eventually(lambda: _lists(memory, asked(signature=first), 2))
        found = await memory.runs(asked(signature=first[:13], degraded=["any"]))
        assert [each.workflow_id for each in found.runs] == ["context:signed:1"]
        assert (found.filter, found.exact) == (f'MemSignature = "{first}" AND MemDegraded IS NOT NULL', True)
        assert (await memory.runs(asked(signature="6" * 8))).runs == []
        with pytest.raises(AmbiguousPrefix, match=f"{first}, {second}"):
            await memory.runs(asked(signature="5" * 8))
        await ended(client, ["context:signed:1", "context:signed:2"])


async def test_the_first_are_the_newest(temporal_server):
    """Of more than the limit those are listed that the UI shows first: the open ones, then what closed last."""
    client = await temporal_server.client(OTHER)
    memory = MemoryClient(client)
    ids = [f"context:ordered:{number}" for number in range(5)]
    tool = SearchAttributePair(TOOL, "ordered")
    async with asyncio.timeout(60):
        for workflow_id in ids:
            await start(client, workflow_id, tool)
        for workflow_id in ids[1:4]:
            await ended(client, [workflow_id])
        await eventually(lambda: _lists(memory, asked(tool=["ordered"], status=["terminated"]), 3))
        found = await memory.runs(asked(tool=["ordered"], limit=4))
        assert [each.workflow_id for each in found.runs] == [ids[4], ids[0], ids[3], ids[2]]
        assert found.total == 5
        await ended(client, [ids[0], ids[4]])


async def test_the_server_takes_each_ready_filter(temporal_server):
    """Every filter of the page of filters is one that the server understands."""
    client = await temporal_server.client(OTHER)
    async with asyncio.timeout(60):
        for each in ready_filters():
            await client.count_workflows(each.text)


async def test_a_namespace_without_search_attributes_is_an_error_with_its_remedy(temporal_server):
    """Temporal refuses the filter, and the remedy is the command that registers them."""
    memory = MemoryClient(await temporal_server.client("temporal-system"))
    async with asyncio.timeout(30):
        with pytest.raises(ConfigurationError, match="mem migrate"):
            await memory.runs(asked(tier=["1"]))


async def _lists(memory: MemoryClient, request: RunsRequest, count: int) -> bool:
    """Temporal lists a run a moment after it began or ended."""
    return len((await memory.runs(request)).runs) == count
