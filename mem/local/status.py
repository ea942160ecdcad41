"""What runs and what answers, seen from outside."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mem.domain.acceptance_rate import AcceptanceRate
from mem.local.answers import address, answers
from mem.local.processes import is_alive
from mem.local.stack_file import PartRecord, StackFile, StackHome
from mem.store.acceptance_rate import acceptance_rate


class PartStatus(BaseModel):
    """One part: a given one has no pid and no uptime, and `running` is None."""

    model_config = ConfigDict(frozen=True)

    name: str
    running: bool | None
    answering: bool
    pid: int | None
    address: str
    uptime_seconds: int | None


class StackStatus(BaseModel):
    """The whole stack; without one there are no parts."""

    model_config = ConfigDict(frozen=True)

    home: str
    running: bool
    """Every part answers."""
    http: str | None
    ui: str | None
    parts: tuple[PartStatus, ...]
    acceptance: AcceptanceRate | None = None
    """None where the database does not answer."""


async def stack_status(path: Path, *, database_url: str | None = None) -> StackStatus:
    """Ask every part of the stack of this home; without a stack the database of that address, if there is one."""
    home = StackHome.at(path)
    stack = home.read_stack()
    if stack is None:
        rate = await acceptance_rate(database_url) if database_url else None
        return StackStatus(home=str(home.root), running=False, http=None, ui=None, parts=(), acceptance=rate)
    records = (*stack.parts, PartRecord(name="supervisor", ready="alive"))
    parts = tuple(await asyncio.gather(*(_part_status(record, stack) for record in records)))
    known = any(part.answering for record, part in zip(records, parts, strict=True) if record.ready == "postgres")
    rate = await acceptance_rate(stack.database_url) if known else None
    running = all(part.answering and part.running is not False for part in parts)
    return StackStatus(home=str(home.root), running=running, http=stack.http, ui=stack.ui, parts=parts, acceptance=rate)


async def _part_status(record: PartRecord, stack: StackFile) -> PartStatus:
    process = stack.process(record.name)
    running = is_alive(process) if process is not None else None
    # What answers under the address of a dead process is not ours.
    answering = (running or record.external) and await answers(record, stack, process)
    return PartStatus(
        name=record.name,
        running=False if running is None and not record.external else running,
        answering=bool(answering),
        pid=process.pid if process is not None and running else None,
        address=address(record, stack),
        uptime_seconds=max(0, int(time.time() - process.started)) if process is not None and running else None,
    )
