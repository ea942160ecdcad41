"""The recorded histories, and how one more is kept beside them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle, WorkflowHistory

from replays.commands import Replayed, replay
from tests.replay.procedure import NOT_RECORDED
from tests.replay.scrub import scrubbed
from tests.temporal_server import events, eventually

FOLDER = Path(__file__).parent / "histories"
RECORDING = "MEM_RECORD_HISTORIES"


def paths() -> list[Path]:
    """All that was ever recorded."""
    return sorted(FOLDER.glob("*.json"))


def generations(name: str) -> list[Path]:
    """What was recorded of one kind of run, the oldest first: `name.json`, `name.2.json` and so on."""
    return sorted((path for path in paths() if kind_of(path) == name), key=_generation)


def kind_of(path: Path) -> str:
    """The kind of run that a history is of, under which `index.toml` has it."""
    return path.name.partition(".")[0]


def load(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


async def replay_all(which: Iterable[Path], **options: Any) -> dict[str, Replayed]:
    """What today's workflows make of histories, by the names of their files."""

    async def loaded() -> AsyncIterator[WorkflowHistory]:
        for path in which:
            yield load(path)

    return {f"{each.history.workflow_id}.json": each async for each in replay(loaded(), **options)}


async def record(name: str, handle: WorkflowHandle) -> None:
    """Hold a run that has just been made against the last one of its kind, and keep it where it went another way.

    Only with `MEM_RECORD_HISTORIES` is it kept; else it must have gone that way. What was recorded before is never
    written over: those runs may still be open somewhere.
    """

    async def closed() -> bool:
        return (await handle.describe()).close_time is not None

    await eventually(closed)
    text = json.dumps(scrubbed(json.loads(WorkflowHistory(name, await events(handle)).to_json())), indent=1)
    known = generations(name)
    if known and await _way(known[-1].stem, known[-1].read_text(encoding="utf-8")) == await _way(name, text):
        return
    assert RECORDING in os.environ, f"{name}: {NOT_RECORDED}"
    path = FOLDER / (f"{name}.json" if not known else f"{name}.{_generation(known[-1]) + 1}.json")
    path.write_text(json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n", encoding="utf-8")


async def _way(name: str, text: str) -> list[str]:
    """What a run was made of. Of steps side by side either may be first; a larger journal takes more of the same."""

    async def one() -> AsyncIterator[WorkflowHistory]:
        yield WorkflowHistory.from_json(name, text)

    (replayed,) = [each async for each in replay(one())]
    assert replayed.failure is None, f"{name}: {replayed.failure}"
    return sorted(set(replayed.commands))


def _generation(path: Path) -> int:
    number = re.search(r"\.(\d+)\.json$", path.name)
    return int(number[1]) if number else 1
