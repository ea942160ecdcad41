"""Programs of ours in processes that are forked from one that has them loaded, which takes longer than most run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]


class Result(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


class Forked:
    """A process that was ordered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pid: Future[int] = Future()
        self.code: Future[int] = Future()

    def kill(self) -> None:
        os.kill(self.pid.result(), signal.SIGKILL)

    async def ended(self) -> Result:
        """What it printed, when it has ended."""
        code = await asyncio.wrap_future(self.code)
        return Result(code, *((self.folder / name).read_bytes().decode() for name in ("out", "err")))


class Forks:
    """The process that is forked from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ordered: list[Forked] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forking"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def start(
        self, run: str, *arguments: str, environment: Mapping[str, str], stdin: bytes = b"", folder: Path = ROOT
    ) -> Forked:
        """Order a process that calls a function, `module:name`, with these arguments."""
        forked = Forked(self._folder / str(len(self._ordered)))
        forked.folder.mkdir()
        (forked.folder / "in").write_bytes(stdin)
        order = {
            "number": len(self._ordered), "run": run, "arguments": arguments, "environment": dict(environment),
            "folder": str(folder), "streams": [str(forked.folder / name) for name in ("in", "out", "err")],
        }  # fmt: skip
        self._ordered.append(forked)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return forked

    def mem(self, *arguments: str, environment: Mapping[str, str], stdin: bytes = b"", folder: Path = ROOT) -> Forked:
        """Order a command."""
        return self.start("tests.forking:mem", *arguments, environment=environment, stdin=stdin, folder=folder)

    def close(self) -> None:
        """End all that still runs."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _listen(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            told = json.loads(line)
            forked = self._ordered[told["number"]]
            for name in ("pid", "code"):
                if name in told:
                    getattr(forked, name).set_result(told[name])


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """The process that commands and workers are forked from."""
    forks = Forks(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()
