"""Stopping a supervisor whose start does not heed it at once."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from mem.domain.errors import StackError
from mem.local import StackOptions, supervise, supervisor


async def test_a_swallowed_cancellation_does_not_keep_the_stack_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library may take the first cancellation for a time-out of its own; the supervisor asks again."""
    swallowed = asyncio.Event()

    async def run(self: object, on_ready: object) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            swallowed.set()
            await asyncio.sleep(3600)

    monkeypatch.setattr(supervisor._Supervisor, "run", run)
    monkeypatch.setattr(supervisor, "CANCEL_SECONDS", 0.1)
    asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(10):
        with pytest.raises(StackError, match="stopped before every part answered"):
            await supervise(tmp_path, StackOptions(), lambda _: None, lambda _: None)
    assert swallowed.is_set()
