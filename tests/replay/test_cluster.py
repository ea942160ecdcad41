"""Before a deploy, the runs of a real Temporal are replayed against the checkout."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace

import pytest
from temporalio.client import Client

from activities.look_up_context import LookUpActivity
from mem.clients.temporal.converter import data_converter
from mem.domain.errors import ConfigurationError, InvalidRequest
from mem.domain.payload_keys import parse_payload_keys
from replays.__main__ import check, fetch, parser
from replays.cluster import decipherable
from replays.commands import replay
from tests.replay.histories import FOLDER
from tests.temporal_server import eventually, runs_of
from tests.workflows.material import candidate, lookup
from tests.workflows.ports import Gate, Wrapped

KEY = f"2026:{base64.b64encode(bytes(range(32))).decode()}"


@pytest.fixture
async def asked(rig, temporal_server, monkeypatch):
    """Arguments that find a closed lookup and an open acceptance, which waits for a step."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    gate = Gate(rig.ports.memories.append)
    async with rig.working(memories=Wrapped(rig.ports.memories, append=gate)), asyncio.timeout(60):
        await rig.memory.look_up(lookup(rig))
        waiting = asyncio.create_task(rig.memory.accept(candidate(rig)))
        await gate.entered.wait()
        for handle in (rig.context_handle("1"), rig.accept_handle("1")):
            await eventually(lambda handle=handle: _seen(rig.temporal, handle.id))
        yield lambda *words: parser().parse_args([*words, "--query", f"MemProject = '{rig.project}'"])
        gate.opened.set()
        await waiting


async def test_open_and_closed_runs_are_replayed(asked, tmp_path, capsys):
    """Straight from the server, or from a folder into which they were fetched, that its owner alone may read."""
    assert await check(asked("check")) == 0
    told = "AcceptMemory: 1, LookUpContext: 1\n2 replayed, 0 broken.\n"
    assert capsys.readouterr().out == told
    folder = tmp_path / "histories"
    assert await fetch(asked("fetch", str(folder))) == 0
    files = sorted(folder.iterdir())
    assert len(files) == 2
    assert {path.stat().st_mode & 0o777 for path in (folder, *files)} == {0o700, 0o600}
    capsys.readouterr()
    assert await check(asked("check", str(folder))) == 0
    assert capsys.readouterr().out == told
    assert await check(asked("check", "--type", "AcceptMemory")) == 0
    assert capsys.readouterr().out == "AcceptMemory: 1\n1 replayed, 0 broken.\n"


async def test_a_change_that_would_break_a_run(asked, capsys, monkeypatch):
    """The run is named, why it would break, and what to do."""
    definition = getattr(LookUpActivity.look_up, "__temporal_activity_definition")
    monkeypatch.setattr(LookUpActivity.look_up, "__temporal_activity_definition", replace(definition, name="renamed"))
    assert await check(asked("check")) == 1
    told = capsys.readouterr().out
    assert "broken: LookUpContext context:" in told
    assert "renamed" in told
    assert "1 replayed, 1 broken." in told
    assert "docs/evolution.md" in told


async def test_runs_that_are_encrypted(rig):
    """Encrypted runs replay with the keys that they were written with; without them they are not said to be broken."""
    converter = data_converter(parse_payload_keys(KEY))
    coded = rig.in_namespace(Client(**{**rig.temporal.config(), "data_converter": converter}))
    async with coded.working(), asyncio.timeout(60):
        await coded.memory.look_up(lookup(coded))
        await coded.context_handle("1").result()
    history = await coded.context_handle("1").fetch_history()

    async def histories():
        yield history

    for given, commands in ((converter, 5), (data_converter(), 0)):
        (each,) = [each async for each in replay(histories(), converter=given)]
        assert (each.failure is None, len(each.commands)) == (commands > 0, commands)
    assert [each async for each in decipherable(histories(), converter)] == [history]
    # Another key wrote what the worker did, as while keys are changed.
    history.events[0].ClearField("workflow_execution_started_event_attributes")
    with pytest.raises(ConfigurationError, match="'2026'"):
        _ = [each async for each in decipherable(histories(), data_converter())]


@pytest.mark.parametrize("text", [None, "[]", "{}", '{"events": []}', "no JSON"])
async def test_a_folder_without_histories(tmp_path, text):
    """What is no history is named."""
    if text is not None:
        (tmp_path / "odd.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest, match=r"odd\.json" if text else "no history"):
        await check(parser().parse_args(["check", str(tmp_path)]))


async def test_the_committed_histories_by_the_command(capsys):
    """What this repository keeps can be replayed by hand."""
    assert await check(parser().parse_args(["check", str(FOLDER)])) == 0
    assert f"{len(list(FOLDER.glob('*.json')))} replayed, 0 broken." in capsys.readouterr().out


async def _seen(client: Client, workflow_id: str) -> bool:
    return await runs_of(client, workflow_id) > 0
