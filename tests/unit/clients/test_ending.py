"""How a process ends by signals."""

from __future__ import annotations

import subprocess
import sys

import pytest

WAITING = """
import asyncio, os, signal, sys
from datetime import timedelta
from mem.clients.temporal.ending import end, stopped_by_signals

async def main():
    stop = stopped_by_signals(timedelta(seconds=float(sys.argv[1])))
    for _ in range(int(sys.argv[2])):
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.wait()
        await asyncio.sleep(0)
    if sys.argv[3] == "hangs":
        await asyncio.sleep(60)

asyncio.run(main())
end(0)
"""


@pytest.mark.parametrize(
    ("longest", "signals", "how", "code"),
    [("60", "1", "ends", 0), ("0.1", "1", "hangs", 1), ("60", "2", "hangs", 143)],
    ids=["in time", "too late", "twice"],
)
def test_a_signal_ends_it_whatever_hangs(longest, signals, how, code):
    """With 0 when all was closed, with 1 after the longest time, and with the signal's code at the second one."""
    command = [sys.executable, "-c", WAITING, longest, signals, how]
    ended = subprocess.run(command, timeout=30, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert ("ended without closing all" in ended.stdout + ended.stderr) == (code == 1)
