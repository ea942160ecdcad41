"""The histories, replayed once for all tests."""

from __future__ import annotations

import asyncio

import pytest

from replays.commands import Replayed
from tests.replay.histories import paths, replay_all


@pytest.fixture(scope="session")
async def replayed() -> dict[str, Replayed]:
    """What today's workflows make of each history."""
    async with asyncio.timeout(120):
        return await replay_all(paths())
