"""Histories of a real Temporal: read as they are needed, or kept in a folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from mem.domain.errors import InvalidRequest
from replays.commands import workflow_of

STATES = ("ExecutionStatus = 'Running'", "ExecutionStatus != 'Running'")
"""Open runs first: they are what a deploy can break."""


async def from_cluster(
    client: Client, *, types: tuple[str, ...], limit: int, query: str = ""
) -> AsyncIterator[WorkflowHistory]:
    """The histories of the latest runs of each type, open and closed ones.

    Args:
        limit: so many open and so many closed ones at most, of each type.
        query: a list filter that they have to meet besides.
    """
    for state in STATES:
        for kind in types:
            terms = [f"WorkflowType = '{kind}'", state, *([f"({query})"] if query else [])]
            async for run in client.list_workflows(" AND ".join(terms), limit=limit):
                try:
                    yield await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
                except RPCError as error:
                    # Retention took it between the list and the fetch.
                    if error.status != RPCStatusCode.NOT_FOUND:
                        raise


async def from_folder(folder: Path) -> AsyncIterator[WorkflowHistory]:
    """The histories that a folder keeps, as this module, Temporal's UI or `temporal workflow show` wrote them.

    Raises:
        InvalidRequest: there is none, or one cannot be read.
    """
    for path in files_of(folder):
        yield _read(path)


async def decipherable(
    histories: AsyncIterator[WorkflowHistory], converter: DataConverter
) -> AsyncIterator[WorkflowHistory]:
    """The same histories, each only if its payloads can be read: a run that cannot be is no run that would break.

    Raises:
        ConfigurationError: a key is missing here.
    """
    async for history in histories:
        if converter.payload_codec is not None:
            await converter.payload_codec.decode([payload for event in history.events for payload in _payloads(event)])
        yield history


def _payloads(message: Message) -> Iterator[Payload]:
    """All payloads in a message, at whatever depth."""
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = list(value.values())
        else:
            inner = list(value) if field.is_repeated else [value]
        for each in inner:
            if isinstance(each, Message):
                yield from _payloads(each)


def files_of(folder: Path) -> list[Path]:
    """The files of histories, in the order of their names.

    Raises:
        InvalidRequest: there is none.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise InvalidRequest(f"There is no history in {folder}.", "Fetch some: `python -m replays fetch FOLDER`.")
    return files


def _read(path: Path) -> WorkflowHistory:
    try:
        history = WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise InvalidRequest(f"{path} is no history: {error}.", "Name a folder of histories as JSON.") from error
    if not history.events or not workflow_of(history):
        raise InvalidRequest(f"{path} is no history: it does not begin.", "Name a folder of histories as JSON.")
    return history


def keep(history: WorkflowHistory, folder: Path) -> Path:
    """Write a history down for its owner alone, since it tells what was asked and answered."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{history.run_id}.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(json.loads(history.to_json()), indent=1) + "\n", encoding="utf-8")
    return path
