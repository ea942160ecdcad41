"""`mem mcp` as a process, as an agent starts it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import StdioServerParameters

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ["-m", "mem.cli.main", "mcp"]


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
    return {**kept, "MEM_HOME": str(home), "PYTHONPATH": str(ROOT), **more}


def over_stdio(home: Path, *arguments: str, folder: Path = ROOT) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=[*COMMAND, *arguments], env=environment(home), cwd=str(folder)
    )


async def started(home: Path, *arguments: str, folder: Path = ROOT, **more: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        *arguments,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment(home, **more),
        cwd=folder,
        limit=2**26,
    )


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@asynccontextmanager
async def over_http(home: Path, *arguments: str, **more: str) -> AsyncIterator[str]:
    """A server over HTTP, up when entered; it has to end by SIGTERM with exit code 0 and nothing on stdout."""
    port = free_port()
    process = await started(home, "--http", "--port", str(port), *arguments, **more)
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    assert process.returncode is None, (await process.communicate())[1].decode()
                    await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        out, err = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, out) == (0, b""), err.decode()
