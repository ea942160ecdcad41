"""One real stack for all tests of the loop: Postgres, Temporal, worker, gateway and the bundled models."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from mem.local import StackFile, StackOptions, remove_data, start_detached, stop_stack
from mem.local.temporal import binary
from tests.folders import new_folder
from tests.forks import Forks, Result

ROOT = Path(__file__).resolve().parents[2]


class Loop:
    """A running stack and the ways into it."""

    def __init__(self, home: Path, stack: StackFile, forks: Forks) -> None:
        self.home = home
        self.stack = stack
        self._forks = forks
        self.forgotten_body = b""

    async def post(self, path: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
        async with httpx2.AsyncClient(base_url=self.stack.http, timeout=300) as client:
            return await client.post(path, json=body, headers=headers)

    async def mem(
        self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None, folder: Path = ROOT
    ) -> Result:
        """Run the command line as a user would, against this stack."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
        environment |= {"MEM_HOME": str(self.home), **(env or {})}
        return await self._forks.mem(*arguments, environment=environment, stdin=stdin, folder=folder).ended()

    async def temporal(self, *arguments: str) -> int:
        """Run Temporal's own command line against this stack; its exit code."""
        command = [binary(), *arguments, "--address", self.stack.temporal.address]
        return (await asyncio.to_thread(subprocess.run, command, capture_output=True, timeout=300)).returncode

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.stack.database_url) as connection:
            return connection.execute(query.encode(), values).fetchall()

    async def restart(self) -> None:
        """Stop the whole stack and start it again over the same data, on other ports."""
        await stop_stack(self.home)
        self.stack = await start_detached(self.home, StackOptions(app_dir=ROOT))


@pytest.fixture(scope="session")
def stack_home() -> Iterator[Path]:
    home = new_folder("mem-loop-")
    yield home
    remove_data(home)


FORGOTTEN = {
    "request_id": "kept",
    "project": "keeper",
    "signature_source": "git: fatal: refusing to merge unrelated histories\n",
}
"""A lookup that is answered first of all, and whose workflow is then deleted, which takes half a minute."""


@pytest.fixture(scope="session")
async def loop(stack_home: Path, forks: Forks) -> AsyncIterator[Loop]:
    loop = Loop(stack_home, await start_detached(stack_home, StackOptions(app_dir=ROOT)), forks)
    loop.forgotten_body = (await loop.post("/memory/context", FORGOTTEN)).content
    await loop.temporal("workflow", "delete", "-w", "context:keeper:kept", "-y")
    yield loop
    await stop_stack(stack_home)
