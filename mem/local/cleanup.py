"""Ending what an earlier supervisor left behind, and stopping a stack from outside."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from mem.domain.errors import StackError
from mem.local.place import chosen_base
from mem.local.processes import POLL_SECONDS, end_process, is_alive
from mem.local.stack_file import StackHome

STOP_SECONDS = 90.0
"""More than the grace times of all parts together."""


async def end_leftovers(home: StackHome) -> list[str]:
    """End the parts of a supervisor that is gone, last first, and remove its files; the names of what was ended.

    Only to be called by the holder of the home's lock.

    Raises:
        StackError: One of them could not be ended.
    """
    ended = []
    processes = home.read_processes()
    for part in reversed(processes.parts if processes is not None else ()):
        if not is_alive(part.process):
            continue
        try:
            gone = await end_process(part.process, part.stop_signal, part.grace)
        except PermissionError:
            gone = False
        if not gone:
            raise StackError(
                f"{part.name} (pid {part.process.pid}) of an earlier stack of {home.root} could not be ended.",
                "Stop it as the user that started it.",
            )
        ended.append(part.name)
    forget(home)
    return ended


def forget(home: StackHome) -> None:
    """Remove the files that say that a stack runs."""
    home.stack_file.unlink(missing_ok=True)
    home.processes_file.unlink(missing_ok=True)


async def stop_stack(path: Path) -> list[str]:
    """Stop the stack of this home and all it started; the names of what was stopped, empty if nothing ran.

    Raises:
        StackError: Something could not be stopped.
    """
    home = StackHome.at(path)
    if not home.lock_file.exists():
        return []
    processes = home.read_processes()
    stopped: list[str] = []
    if processes is not None and is_alive(processes.supervisor):
        names = [part.name for part in reversed(processes.parts)]
        try:
            # Killed only after all its parts had their grace time; what it then leaves is ended below.
            gone = await end_process(processes.supervisor, signal.SIGTERM, STOP_SECONDS)
        except PermissionError:
            gone = False
        if not gone:
            raise StackError(
                f"The stack of {home.root} (pid {processes.supervisor.pid}) could not be stopped.",
                "Stop it as the user that started it.",
            )
        stopped = [*names, "supervisor"]
    with suppress(FileNotFoundError):
        await _end_alone(home, stopped)
    return stopped


async def _end_alone(home: StackHome, stopped: list[str]) -> None:
    end = time.monotonic() + 5.0
    while True:
        try:
            with home.lock():
                stopped.extend(await end_leftovers(home))
                return
        except BlockingIOError:
            # The kernel frees the lock of a killed process a moment after the process; or another `mem up` has begun.
            if time.monotonic() >= end:
                raise StackError(
                    f"Another process holds {home.lock_file} and has not said which one it is.",
                    "Stop that `mem up` where it was started.",
                ) from None
        await asyncio.sleep(POLL_SECONDS)


def remove_data(path: Path) -> None:
    """Delete everything that a stopped stack keeps, also outside its home; files of others in the home stay.

    Raises:
        StackError: The stack runs.
    """
    home = StackHome.at(path)
    if not home.root.is_dir():
        return
    try:
        with home.lock():
            _remove_postgres(home)
            shutil.rmtree(home.logs, ignore_errors=True)
            for file in (*home.root.glob("temporal.db*"), home.postgres_password, home.postgres_pointer):
                file.unlink(missing_ok=True)
            forget(home)
            home.lock_file.unlink(missing_ok=True)
    except BlockingIOError:
        raise StackError(f"The stack of {home.root} is running.", "Stop it with `mem down` first.") from None
    with suppress(OSError):
        home.root.rmdir()


def _remove_postgres(home: StackHome) -> None:
    base = chosen_base(home)
    if base is not None and base.name.startswith("postgres"):
        shutil.rmtree(base, ignore_errors=True)
        if base.parent != home.root:
            with suppress(OSError):
                base.parent.rmdir()
