"""Before a deploy: `python -m replays check [FOLDER]` and `python -m replays fetch FOLDER`.

`check` replays real runs against the workflows of this checkout, and exits with 1 where one would break. Without a
folder it reads them from the Temporal that the environment names, as `mem worker` does, and keeps nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pydantic import ValidationError
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import DataConverter

from mem.addresses import find_addresses
from mem.clients.temporal.connection import connect, payload_keys
from mem.clients.temporal.converter import data_converter
from mem.clients.temporal.ending import end_with
from mem.clients.temporal.runtime import process_runtime
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.settings import Settings
from replays.cluster import decipherable, from_cluster, from_folder, keep
from replays.commands import Replayed, replay
from worker import WORKFLOWS

LIMIT = 100
TYPES = tuple(cls.__name__ for cls in WORKFLOWS)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    root = argparse.ArgumentParser(prog="python -m replays", description=__doc__)
    commands = root.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="Replay runs against this checkout.")
    check.add_argument("folder", type=Path, nargs="?", help="Histories as JSON; default: those of the Temporal in use.")
    fetch = commands.add_parser("fetch", help="Keep the histories of runs in a folder.")
    fetch.add_argument("folder", type=Path)
    for command in (check, fetch):
        command.add_argument("--limit", type=int, default=LIMIT, help="Open and closed runs of each type, at most.")
        command.add_argument(
            "--query", default="", help="A list filter, such as \"StartTime > '2026-01-01T00:00:00Z'\"."
        )
        command.add_argument("--type", action="append", choices=TYPES, help="Only this type; may be given again.")
    return root


async def check(asked: argparse.Namespace) -> int:
    """Replay what is there; the exit code."""
    if asked.folder is not None:
        return await _report(from_folder(asked.folder), data_converter(payload_keys()))
    client = await _client()
    return await _report(_of(client, asked), client.data_converter)


async def fetch(asked: argparse.Namespace) -> int:
    """Keep what is there; the exit code."""
    kept = 0
    async for history in _of(await _client(), asked):
        keep(history, asked.folder)
        kept += 1
    _say(f"{kept} histories in {asked.folder}. They tell what was asked and answered: delete them afterwards.")
    return 0


async def _report(histories: AsyncIterator[WorkflowHistory], converter: DataConverter) -> int:
    done: Counter[str] = Counter()
    broken: list[Replayed] = []
    readable = decipherable(histories, converter)
    async for each in replay(readable, converter=converter, runtime=process_runtime()):
        done[each.workflow] += 1
        if each.failure is not None:
            broken.append(each)
            _say(f"broken: {each.workflow} {each.history.workflow_id} {each.history.run_id}\n  {each.failure}")
    _say(", ".join(f"{name}: {count}" for name, count in sorted(done.items())) or "No run was found.")
    _say(f"{done.total() - len(broken)} replayed, {len(broken)} broken.")
    if broken:
        _say("Guard the change with `workflow.patched`: docs/evolution.md.")
    return 1 if broken else 0


def _of(client: Client, asked: argparse.Namespace) -> AsyncIterator[WorkflowHistory]:
    return from_cluster(client, types=tuple(asked.type or TYPES), limit=asked.limit, query=asked.query)


async def _client() -> Client:
    found = find_addresses(Settings())
    return await connect(address=found.need_temporal(), namespace=found.namespace)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 where every run replays, 1 where one would break, 2 where it could not be tried."""
    asked = parser().parse_args(arguments)
    try:
        return asyncio.run((check if asked.command == "check" else fetch)(asked))
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
    except ValidationError as error:
        sys.stderr.write(f"error: {told(error)}\n")
    return 2


if __name__ == "__main__":
    end_with(main)
