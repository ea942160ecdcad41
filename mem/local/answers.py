"""Whether a part of the stack answers; the supervisor waits for it, `mem status` reports it."""

from __future__ import annotations

import asyncio
import http.client
from typing import assert_never
from urllib.parse import urlsplit

from mem.domain.errors import MemError, Unavailable
from mem.domain.ids import writes_queue
from mem.local import postgres
from mem.local.processes import ProcessId, is_alive
from mem.local.stack_file import PartRecord, StackFile

HTTP_SECONDS = 3.0


async def check(part: PartRecord, stack: StackFile, process: ProcessId | None) -> None:
    """Return if the part answers.

    Raises:
        Unavailable: It does not; the cause names its address.
    """
    # Temporal's client takes half a second to import, which `mem up --detach` and `mem down` need not wait for.
    foreign_temporal = any(record.external and record.ready == "temporal" for record in stack.parts)
    match part.ready:
        case "postgres":
            await postgres.check(stack.database_url)
        case "temporal":
            from mem.clients.temporal.probe import check_server  # noqa: PLC0415  # see above

            await check_server(stack.temporal.address, stack.temporal.namespace, environment=foreign_temporal)
            if stack.ui is not None:
                await _check_http(stack.ui, "/")
        case "http":
            await _check_http(stack.http, "/readyz")
        case "pollers" | "writers":
            from mem.clients.temporal.probe import has_pollers  # noqa: PLC0415  # see above

            since = process.started if process is not None else 0.0
            queue = _queue(part, stack)
            where = (stack.temporal.address, stack.temporal.namespace, queue)
            if not await has_pollers(*where, since=since, environment=foreign_temporal):
                raise Unavailable(f"Nobody polls the task queue {queue} at {stack.temporal.address}.")
        case "alive" | "exit":
            if process is None or not is_alive(process):
                raise Unavailable(f"{part.name} does not run.")
        case _:
            assert_never(part.ready)


async def answers(part: PartRecord, stack: StackFile, process: ProcessId | None) -> bool:
    """Whether the part answers."""
    try:
        await check(part, stack, process)
    except MemError:
        return False
    return True


def address(part: PartRecord, stack: StackFile) -> str:
    """Where the part answers, for people; never with a password."""
    match part.ready:
        case "postgres":
            return postgres.describe(stack.database_url)
        case "temporal":
            return stack.temporal.address
        case "http":
            return stack.http
        case "pollers" | "writers":
            return f"task queue {_queue(part, stack)}"
        case "alive" | "exit":
            return ""
        case _:
            assert_never(part.ready)


def _queue(part: PartRecord, stack: StackFile) -> str:
    return writes_queue(stack.task_queue) if part.ready == "writers" else stack.task_queue


async def _check_http(base: str, path: str) -> None:
    status = await asyncio.to_thread(_get, base, path)
    if status != 200:
        said = "does not answer" if status is None else f"answers with status {status}"
        raise Unavailable(f"{base}{path} {said}.")


def _get(base: str, path: str) -> int | None:
    # http.client and not urllib: no proxy of the environment stands between us and 127.0.0.1.
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=HTTP_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
