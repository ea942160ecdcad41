"""A secret in every field of every door is found nowhere afterwards: in no history, log, metric, file or page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from google.protobuf.message import Message
from temporalio.client import Client

from mem.client import MemoryClient
from mem.clients.temporal.connection import connect
from mem.domain.accepting import AcceptRequest
from mem.local import StackOptions, remove_data, start_detached, stop_stack
from mem.local.options import app_parts
from tests.e2e.conftest import ROOT, Loop
from tests.e2e.marking import LESSON, PROJECT, plain_starts, through_client, through_http
from tests.e2e.marking_processes import through_commands, through_mcp, through_servers
from tests.folders import new_folder
from tests.forks import Forks
from tests.markers import Markers

pytestmark = pytest.mark.slow

UNCOMPRESSED = """
select format('alter table %I.%I alter column %I set storage external', n.nspname, c.relname, a.attname)
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'mem' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
and a.attstorage in ('x', 'm')
"""


@pytest.fixture
async def place(forks: Forks) -> AsyncIterator[Loop]:
    """A stack of its own, whose database compresses nothing, so that its files can be searched."""
    home = new_folder("mem-marked-")
    patient = tuple(part.model_copy(update={"start_timeout": 300.0}) for part in app_parts())
    stack = await start_detached(home, StackOptions(app_dir=ROOT, parts=patient))
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        for (statement,) in database.execute(UNCOMPRESSED).fetchall():
            database.execute(statement)
    try:
        yield Loop(home, stack, forks)
    finally:
        await stop_stack(home)
        remove_data(home)


async def runs(client: Client) -> dict[str, list[Message]]:
    """All that the server tells of each run, by workflow id: history, memo, summary, search attributes."""
    found: dict[str, list[Message]] = {}
    async for run in client.list_workflows():
        handle = client.get_workflow_handle(run.id, run_id=run.run_id)
        told: list[Message] = [event async for event in handle.fetch_history_events()]
        found.setdefault(run.id, []).extend([*told, (await handle.describe()).raw_description])
    return found


def tables(url: str) -> dict[str, bytes]:
    """Every table as text, whatever its pages look like."""
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("checkpoint")
        names = database.execute("select table_name from information_schema.tables where table_schema = 'mem'")
        found = {}
        for (name,) in names.fetchall():
            with database.cursor().copy(f'copy (select * from mem."{name}") to stdout') as copied:
                found[name] = b"".join(bytes(part) for part in copied)
        return found


async def everywhere(place: Loop, markers: Markers, said: str) -> dict[str, set[str]]:
    """What is found, by where."""
    client = await connect(address=place.stack.temporal.address, namespace=place.stack.temporal.namespace)
    found = {
        f"run {name}": markers.found(name, *(message.SerializeToString() for message in messages))
        for name, messages in (await runs(client)).items()
    }
    dumped = await asyncio.to_thread(tables, place.stack.database_url)
    found |= {f"table {name}": markers.found(content) for name, content in dumped.items()}
    async with httpx2.AsyncClient(base_url=place.stack.http, timeout=60) as http:
        found["metrics"] = markers.found((await http.get("/metrics")).content)
    found["stderr"] = markers.found(said)
    folders = {Path(place.home), Path(place.stack.postgres_dir or place.home)}
    found |= await asyncio.to_thread(markers.found_below, *folders)
    return {where: what for where, what in found.items() if what}


async def test_no_secret_of_any_field_of_any_door_is_found_anywhere(place, tmp_path):
    """Histories, search attributes, memos, metrics, logs, stack files, tables, pages and write-ahead log hold none.

    A word that is no secret is found in each of them, so that the search is known to find what is there.
    """
    markers, controls = Markers(), Markers()
    temporal = place.stack.temporal
    memory = await MemoryClient.connect(address=temporal.address, namespace=temporal.namespace)
    control = AcceptRequest(
        request_id=controls.word("request id"), project=PROJECT, level="L1",
        text=LESSON.format(controls.word("text")),
        evidence=[{"source": "s", "text": f"error: {controls.word('log')}\n"}],
    )  # fmt: skip
    await memory.accept(control)
    await through_client(memory, markers)
    await through_http(place, markers)
    await through_mcp(place, markers, tmp_path / "mcp.err")
    said = await through_commands(place, markers, _folder(tmp_path))
    said += await through_servers(place, markers, tmp_path)
    said += (tmp_path / "mcp.err").read_text()
    assert await everywhere(place, markers, said) == {}
    seen: dict[str, Any] = await everywhere(place, controls, "")
    whole = {"request id", "text", "log"}
    assert seen[f"run accept:{PROJECT}:{control.request_id}"] == whole
    assert seen["table journal"] == whole
    assert whole <= set().union(*(what for where, what in seen.items() if "pg_wal" in where))
    assert whole <= set().union(*(what for where, what in seen.items() if "temporal" in Path(where).name))


async def test_a_plain_start_leaves_its_secrets_in_its_own_input_alone(place):
    """Who starts a workflow past every door puts the words into its history; they go no further than Temporal."""
    markers = Markers()
    temporal = place.stack.temporal
    memory = await MemoryClient.connect(address=temporal.address, namespace=temporal.namespace)
    ids = await plain_starts(memory, markers, place.stack.task_queue)
    found = await everywhere(place, markers, "")
    elsewhere = {
        where: what for where, what in found.items()
        if where.removeprefix("run ") not in ids and "temporal" not in Path(where).name
    }  # fmt: skip
    assert elsewhere == {}
    client = memory._client
    for messages in (await runs(client)).values():
        outside = [message for message in messages if not _holds_input(message)]
        assert markers.found(*(message.SerializeToString() for message in outside)) == set()


def _holds_input(message: Message) -> bool:
    """Whether an event is one that repeats the request: the start, and the first step of an acceptance."""
    fields = [field.name for field, _ in message.ListFields()]
    return bool(
        {"workflow_execution_started_event_attributes", "activity_task_scheduled_event_attributes"} & set(fields)
    )


def _folder(at: Path) -> Path:
    folder = at / "work"
    folder.mkdir()
    return folder
