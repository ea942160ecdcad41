"""One process that starts the parts in order, keeps them running and stops them in reverse order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from mem.domain.errors import MemError, StackError
from mem.local.answers import answers
from mem.local.cleanup import end_leftovers, forget
from mem.local.options import StackOptions
from mem.local.plan import make_plan
from mem.local.processes import (
    POLL_SECONDS,
    Launch,
    ProcessId,
    bound,
    describe_exit,
    end_child,
    failure,
    identify,
    rotate,
    spawn,
    stand_back,
)
from mem.local.stack_file import (
    PartRecord,
    Processes,
    StackFile,
    StackHome,
    StartedProcess,
    write_model,
)

RESTART_WINDOW_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.1
LOG_CHECK_SECONDS = 20.0
CANCEL_SECONDS = 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def supervise(
    path: Path, options: StackOptions, on_ready: Callable[[StackFile], None], note: Callable[[str], None]
) -> None:
    """Run a stack until SIGINT, SIGTERM or SIGHUP; everything that was started has ended when this returns.

    Raises:
        StackError: It runs already, a part failed to start, or one kept dying.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        home = StackHome.at(path)
        home.make()
        try:
            with home.lock():
                await _supervise_locked(home, options, on_ready, note, stop)
        except BlockingIOError:
            raise already_running(home) from None
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


def stages(launches: Sequence[Launch]) -> list[list[Launch]]:
    """What starts together: those between two that have to end before others begin, and each of these alone."""
    grouped = groupby(launches, key=lambda launch: launch.name if launch.ready == "exit" else "")
    return [list(stage) for _, stage in grouped]


def already_running(home: StackHome) -> StackError:
    """The error of a second start on the same home."""
    stack = home.read_stack()
    where = f" at {stack.http}" + (f" (Temporal UI: {stack.ui})" if stack.ui else "") if stack else ", still starting"
    return StackError(
        f"The stack of {home.root} is already running{where}.",
        "Use it, stop it with `mem down`, or set MEM_HOME to another folder.",
    )


async def _supervise_locked(
    home: StackHome,
    options: StackOptions,
    on_ready: Callable[[StackFile], None],
    note: Callable[[str], None],
    stop: asyncio.Event,
) -> None:
    for name in await end_leftovers(home):
        note(f"ended {name}, which an earlier stack left behind")
    supervisor = _Supervisor(home, options, note)
    work = asyncio.create_task(supervisor.run(on_ready))
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ready = supervisor.published
        stopped.cancel()
        while not work.done():
            # More than once: a library in the middle of a question may take a cancellation for a failure of its own.
            work.cancel()
            await asyncio.wait({work}, timeout=CANCEL_SECONDS)
        outcome = (await asyncio.gather(work, return_exceptions=True))[0]
        survivors = await supervisor.stop_all()
    if survivors:
        raise StackError(f"These could not be stopped: {', '.join(survivors)}.", "End them yourself; see `ps`.")
    if isinstance(outcome, Exception):
        raise outcome
    if not ready:
        raise StackError("The stack was stopped before every part answered.")


class _Supervisor:
    """The state of one run: what was started, and under which addresses."""

    def __init__(self, home: StackHome, options: StackOptions, note: Callable[[str], None]) -> None:
        self._home = home
        self._options = options
        self._note = note
        self._me = identify(os.getpid()) or ProcessId(pid=os.getpid(), started=0.0)
        self._started: dict[str, StartedProcess] = {}
        self._order: tuple[str, ...] = ()
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._stack: StackFile | None = None
        self.published = False

    async def run(self, on_ready: Callable[[StackFile], None]) -> None:
        """Start everything, say that it is ready, keep it running; never returns by itself."""
        self._record()
        rotate(self._home.log("postgres"))  # making the cluster already writes to it
        plan = await make_plan(self._home, self._options)
        self._stack = plan.stack
        self._order = tuple(launch.name for launch in plan.launches)
        for stage in stages(plan.launches):
            await self._start_together(stage)
        self._publish()
        on_ready(self._stack)
        try:
            async with asyncio.TaskGroup() as group:
                logs = [self._home.log("supervisor"), *(launch.log for launch in plan.launches)]
                group.create_task(self._bound_logs(logs))
                for launch in plan.launches:
                    if launch.ready != "exit":
                        group.create_task(self._keep(launch))
        except* MemError as errors:
            raise errors.exceptions[0] from None

    async def stop_all(self) -> list[str]:
        """Stop what was started, last first; the names of what is still there afterwards."""
        self._home.stack_file.unlink(missing_ok=True)
        survivors = []
        for part in reversed(self._in_order()):
            self._note(f"stopping {part.name}")
            if not await end_child(self._children[part.name], part.stop_signal, part.grace):
                survivors.append(f"{part.name} (pid {part.process.pid})")
        if not survivors:
            forget(self._home)
        return survivors

    async def _start_together(self, launches: Sequence[Launch]) -> None:
        """Start parts and wait until each answers; the first that does not ends the waiting for the others."""
        for launch in launches:
            if launch.name != "postgres":
                rotate(launch.log)
            self._note(f"starting {launch.name}")
        starting = [asyncio.create_task(self._start(launch)) for launch in launches]
        try:
            await asyncio.gather(*starting)
        finally:
            for each in starting:
                each.cancel()
            await asyncio.wait(starting)

    async def _start(self, launch: Launch) -> None:
        """Start a part and wait until it answers; if it does not, nothing of it is left."""
        if launch.before is not None:
            await launch.before()
        child = await spawn(launch)
        self._children[launch.name] = child
        # None only if it has ended already and was reaped.
        process = identify(child.pid)
        if process is not None:
            self._started[launch.name] = StartedProcess(
                name=launch.name, process=process, stop_signal=launch.stop_signal, grace=launch.grace
            )
            self._record()
        try:
            async with asyncio.timeout(launch.start_timeout):
                await self._wait_ready(launch, child, process)
        except TimeoutError:
            await end_child(child, launch.stop_signal, launch.grace)
            raise failure(launch, f"did not answer within {launch.start_timeout:.0f} s") from None
        if launch.niceness:
            # Not before it answers: loading models in what a busy machine leaves could take it minutes.
            stand_back(child.pid, launch.niceness)
        if launch.ready == "exit":
            self._started.pop(launch.name, None)
            self._record()

    async def _wait_ready(self, launch: Launch, child: asyncio.subprocess.Process, process: ProcessId | None) -> None:
        if launch.ready == "exit":
            if await child.wait() != 0:
                raise failure(launch, describe_exit(child.returncode))
            return
        assert self._stack is not None  # noqa: S101  # run() sets it before it starts anything
        part = PartRecord(name=launch.name, ready=launch.ready)
        # Checked before each question: another process may answer under the address of a part that has died.
        while child.returncode is None:
            if await answers(part, self._stack, process) and child.returncode is None:
                return
            await asyncio.sleep(POLL_SECONDS)
        raise failure(launch, f"{describe_exit(child.returncode)} before it answered")

    async def _keep(self, launch: Launch) -> None:
        """Start a part again whenever it dies, unless it does so too often."""
        recent: deque[float] = deque()
        clock = asyncio.get_running_loop().time
        while True:
            how = describe_exit(await self._children[launch.name].wait())
            while recent and clock() - recent[0] > RESTART_WINDOW_SECONDS:
                recent.popleft()
            if len(recent) >= self._options.max_restarts:
                raise failure(launch, f"{how}, after {len(recent)} restarts within a minute; the stack stops")
            recent.append(clock())
            self._note(f"{launch.name} {how}; starting it again")
            # A part may die because one that it needs is being started again too: that takes a moment.
            await asyncio.sleep(FIRST_PAUSE_SECONDS * 2 ** (len(recent) - 1))
            try:
                await self._start(launch)
            except StackError as error:
                self._note(str(error))
            self._publish()

    async def _bound_logs(self, logs: list[Path]) -> None:
        while True:
            await asyncio.sleep(LOG_CHECK_SECONDS)
            for log in logs:
                bound(log)

    def _in_order(self) -> tuple[StartedProcess, ...]:
        """What was started, in the order of the plan, whatever started first and whatever was started again."""
        return tuple(self._started[name] for name in self._order if name in self._started)

    def _record(self) -> None:
        processes = Processes(supervisor=self._me, parts=self._in_order())
        write_model(self._home.processes_file, processes)

    def _publish(self) -> None:
        """Write stack.json, with the processes as they are now."""
        assert self._stack is not None  # noqa: S101
        running = {part.name: part.process for part in self._in_order()} | {"supervisor": self._me}
        self._stack = self._stack.model_copy(
            update={
                "pids": {name: process.pid for name, process in running.items()},
                "started": {name: process.started for name, process in running.items()},
            }
        )
        write_model(self._home.stack_file, self._stack)
        self.published = True
