"""The process that `tests.forks` forks from.

Each line on stdin orders a process, as JSON: `number`, `run` (`module:function`), its `arguments`, `environment`,
`folder`, and `streams`, the files for stdin, stdout and stderr. A line on stdout tells of its `pid`, another one of the
`code` that it ended with.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from importlib import import_module
from typing import NamedTuple

from temporalio.worker._worker import load_default_build_id

from mem.cli.main import app_for, main
from mem.clients.temporal.ending import end
from mem.clients.tokens import Cl100kCounter
from mem.domain.nodes import Node
from mem.ports import EvidenceText
from mem.recall.query import read_failure
from mem.testing import FakeMemories, FakeState
from mem.writing.candidate import Candidate
from mem.writing.gate import judge
from mem.writing.projector import derive

LOADED = (
    "worker", "mem.reading", "mem.wiring", "tests.faults.killing_worker", "tests.faults.ending_worker",
    "tests.faults.plain_worker", "tests.faults.slow_reference",
)  # fmt: skip
LOG = Node(level="L0", project="p", text="npm ERR! code ERESOLVE\n", source="ci:1")
LESSON = Node(level="L1", project="p", text="npm ci fails with ERESOLVE: react 19 is not in the peer range.")


class Order(NamedTuple):
    """A process to be started."""

    number: int
    run: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    streams: list[str]


class Running(NamedTuple):
    """One that was."""

    number: int
    pid: int


def mem(*arguments: str) -> None:
    """The command line."""
    sys.argv = ["mem", *arguments]
    main()


def serve() -> None:
    """Start what is ordered and tell of it, until stdin is closed."""
    _load()
    orders, answers = os.dup(0), os.dup(1)
    running: dict[int, Running] = {}
    pending = b""
    while True:
        for ready in select.select([orders, *running], [], [])[0]:
            if ready in running:
                number, pid = running.pop(ready)
                os.close(ready)
                _tell(answers, number=number, code=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                continue
            read = os.read(orders, 65_536)
            if not read:
                return
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                order = Order(**json.loads(line))
                alive, started = _fork(order, (orders, answers, *running))
                running[alive] = started
                _tell(answers, **started._asdict())


def _load() -> None:
    """Import what runs, and read what it reads once: rules, the lexicon, tokens."""
    app_for(())
    for module in LOADED:
        import_module(module)
    load_default_build_id()
    Cl100kCounter.load()
    read_failure(LOG.text)
    derive(LESSON.text, [EvidenceText(LOG.sha, LOG.text)])
    asyncio.run(judge(FakeMemories(FakeState()), Candidate(LESSON, (LOG,), (), (), None)))


def _fork(order: Order, ours: tuple[int, ...]) -> tuple[int, Running]:
    """Start one; the descriptor that ends when it does, however that happens."""
    alive, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        for descriptor in (*ours, alive):
            os.close(descriptor)
        _become(order)
    os.close(held)
    return alive, Running(order.number, pid)


def _become(order: Order) -> None:
    written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, (path, flags) in enumerate(zip(order.streams, (os.O_RDONLY, written, written), strict=True)):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(order.environment)
    os.chdir(order.folder)
    module, _, function = order.run.partition(":")
    getattr(import_module(module), function)(*order.arguments)
    end(0)


def _tell(answers: int, **told: int) -> None:
    os.write(answers, json.dumps(told).encode() + b"\n")


if __name__ == "__main__":
    serve()
