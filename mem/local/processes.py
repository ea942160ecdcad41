"""Starting, recognising and ending operating system processes."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psutil
from pydantic import BaseModel, ConfigDict

from mem.domain.errors import StackError
from mem.local.options import ReadyKind

POLL_SECONDS = 0.05
LOG_LIMIT = 20_000_000
SAME_START_SECONDS = 1.0
"""Creation times are computed from the boot time, which moves a little when the clock is set."""


class ProcessId(BaseModel):
    """A process, told apart from a later one with the same pid by its creation time."""

    model_config = ConfigDict(frozen=True)

    pid: int
    started: float


class RunAs(NamedTuple):
    """The unprivileged user that a process of root runs as."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Launch:
    """Everything needed to start one part, start it again and stop it."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    ready: ReadyKind
    log: Path
    run_as: RunAs | None = None
    cwd: Path | None = None
    stop_signal: int = signal.SIGTERM
    grace: float = 10.0
    start_timeout: float = 60.0
    before: Callable[[], Awaitable[None]] | None = None
    """Awaited before each start."""
    niceness: int = 0


def identify(pid: int) -> ProcessId | None:
    """The process with this pid, None if there is none."""
    try:
        return ProcessId(pid=pid, started=psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return None


def is_alive(process: ProcessId) -> bool:
    """Whether this very process runs, as opposed to a later one under its pid; one to be reaped has ended."""
    try:
        found = psutil.Process(process.pid)
        same = abs(found.create_time() - process.started) < SAME_START_SECONDS
        return same and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def wait_gone(process: ProcessId, seconds: float) -> bool:
    """Wait until the process has ended; False if it still runs after `seconds`."""
    end = time.monotonic() + seconds
    while is_alive(process):
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


async def end_process(process: ProcessId, stop_signal: int, grace: float) -> bool:
    """Ask the process to end, and kill it after its grace time; False if it survives even that."""
    if not is_alive(process):
        return True
    _signal(process, stop_signal)
    if await wait_gone(process, grace):
        return True
    _signal(process, signal.SIGKILL)
    return await wait_gone(process, 10.0)


async def end_child(child: asyncio.subprocess.Process, stop_signal: int, grace: float) -> bool:
    """The same for a child of this process, which its handle tells apart even after the clock was set."""
    for number, seconds in ((stop_signal, grace), (signal.SIGKILL, 10.0)):
        if child.returncode is None:
            with suppress(ProcessLookupError):
                # Each part leads a session of its own, so that its children can be killed with it.
                os.killpg(child.pid, number) if number == signal.SIGKILL else child.send_signal(number)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await child.wait()
    return child.returncode is not None


def _signal(process: ProcessId, number: int) -> None:
    with suppress(ProcessLookupError):
        if number == signal.SIGKILL and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, number)  # each part leads its own session: its children go with it
        else:
            os.kill(process.pid, number)


async def spawn(launch: Launch, stdin: int = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
    """Start a part in a session of its own, so that a Ctrl-C of the terminal reaches the supervisor alone."""
    user = launch.run_as
    log = os.open(launch.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return await asyncio.create_subprocess_exec(
            *launch.argv,
            stdin=stdin,
            stdout=log,
            stderr=log,
            env=dict(launch.env),
            cwd=launch.cwd,
            start_new_session=True,
            umask=0o077,
            user=None if user is None else user.uid,
            group=None if user is None else user.gid,
            extra_groups=None if user is None else [],
        )
    except OSError as error:
        raise StackError(
            f"{launch.name} cannot be started: {launch.argv[0]}: {error.strerror}.",
            "Install the package again with its extras local, worker and http.",
        ) from error
    finally:
        os.close(log)


def stand_back(pid: int, niceness: int) -> None:
    """Give a process, and all that it will start, less of the processor while others want it."""
    with suppress(OSError):  # it has ended already, or the system is none that tells
        # To Linux a thread is a process, and each has its own niceness.
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)
        # It may weigh sessions against each other, each part being one, and niceness within them alone.
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness), encoding="ascii")


async def run_to_end(launch: Launch, stdin: bytes = b"") -> None:
    """Run a command that ends by itself.

    Raises:
        StackError: It failed or took too long.
    """
    process = await spawn(launch, stdin=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(launch.start_timeout):
            await process.communicate(stdin)
    except TimeoutError as error:
        raise failure(launch, f"took longer than {launch.start_timeout:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise failure(launch, describe_exit(process.returncode))


def failure(launch: Launch, what: str) -> StackError:
    """The error for a part that failed, with the end of its log."""
    lines = tail(launch.log)
    return StackError(
        f"{launch.name} {what}." + (f" The end of its log:\n{lines}\n" if lines else " Its log is empty."),
        f"Remove the cause that its log {launch.log} shows, then run `mem up` again.",
    )


def describe_exit(code: int | None) -> str:
    """How a process ended, in words."""
    if code is not None and code < 0:
        return f"was killed by signal {-code}"
    return f"ended with exit code {code}"


def tail(path: Path, lines: int = 15) -> str:
    """The last lines of a log, indented."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 16_000))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    return "\n".join(f"  {line[:400]}" for line in text.splitlines()[-lines:])


def rotate(path: Path) -> None:
    """Keep the log of the run before as NAME.log.1 and begin an empty one."""
    with suppress(FileNotFoundError):
        path.replace(path.with_name(path.name + ".1"))


def bound(path: Path, limit: int = LOG_LIMIT) -> None:
    """Cut a log that grew past the limit; its writer appends, so it goes on at the new end."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > limit:
            with suppress(OSError):  # on a full disk the cut is needed most
                path.with_name(path.name + ".1").write_text(tail(path, lines=200) + "\n", encoding="utf-8")
            os.truncate(path, 0)
