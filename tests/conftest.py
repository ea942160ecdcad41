"""Fixtures that all tests may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.examples import MANY
from tests.live_models import refuse_live_models

pytest_plugins = ["tests.forks", "tests.postgres", "tests.temporal_server"]

# A law holds on a slow machine, too; `make test-slow` tries it with all examples.
settings.register_profile("mem", deadline=None, max_examples=25)
settings.register_profile(MANY, deadline=None, max_examples=100)
settings.load_profile("mem")

refuse_live_models(os.environ)

TESTS = Path(__file__).parent
FIRST = ("e2e", "faults", "workflows", "contract")
"""Where a file of tests may take long: what is short comes last and fills up what time is left."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Several processes take one file after the other."""

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(TESTS).parts[0]
        return FIRST.index(folder) if folder in FIRST else len(FIRST)

    items.sort(key=rank)
