"""Running the supervisor as a process of its own, which outlives its caller and holds nothing of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from mem.domain.errors import StackError
from mem.local.cleanup import stop_stack
from mem.local.options import StackOptions
from mem.local.plan import python_path
from mem.local.processes import tail
from mem.local.stack_file import StackFile, StackHome


class Order(BaseModel):
    """What the supervisor process reads from stdin."""

    home: Path
    options: StackOptions


class Report(BaseModel):
    """What it writes to stdout, once: the ready stack, or why there is none."""

    stack: StackFile | None = None
    cause: str = ""
    remedy: str = ""


async def start_detached(path: Path, options: StackOptions | None = None) -> StackFile:
    """Start a stack in a session of its own and return once every part answers.

    Raises:
        StackError: It could not be started; nothing of it is left.
    """
    home = StackHome.at(path)
    home.make()
    order = Order(home=home.root, options=options or StackOptions())
    child = _spawn(home, order.model_dump_json().encode())
    try:
        answer = await asyncio.to_thread(_exchange, child)
    except BaseException:
        # Interrupted while waiting: what was begun is not left behind.
        with suppress(ProcessLookupError):
            child.terminate()
        raise
    # It runs on; somebody has to take note of its end, or it stays as a zombie while this process lives.
    threading.Thread(target=child.wait, daemon=True).start()
    try:
        report = Report.model_validate_json(answer)
    except ValidationError:
        raise StackError(
            f"The supervisor ended without an answer. The end of its log:\n{tail(_log(home))}\n",
            f"See {_log(home)}.",
        ) from None
    if report.stack is None:
        raise StackError(report.cause, report.remedy)
    return report.stack


@asynccontextmanager
async def running_stack(path: Path, options: StackOptions | None = None) -> AsyncIterator[StackFile]:
    """A stack for the length of a block; its data stays in `path` (see `remove_data`)."""
    stack = await start_detached(path, options)
    try:
        yield stack
    finally:
        await stop_stack(path)


def _log(home: StackHome) -> Path:
    return home.log("supervisor")


def _spawn(home: StackHome, order: bytes) -> subprocess.Popen[bytes]:
    # O_APPEND without rotation: a second start, which fails, must not take the log from the running one.
    log = os.open(_log(home), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "mem.local"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            close_fds=True,
            env={**os.environ, **python_path(dict(os.environ))},
        )
    finally:
        os.close(log)
    assert child.stdin is not None  # noqa: S101
    with child.stdin, suppress(BrokenPipeError):
        child.stdin.write(order)
    return child


def _exchange(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None  # noqa: S101
    with child.stdout:
        return child.stdout.readline()
