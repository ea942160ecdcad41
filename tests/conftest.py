"""Fixtures that all tests may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.live_models import refuse_live_models

pytest_plugins = ["tests.forks", "tests.postgres", "tests.temporal_server"]

# A law holds on a slow machine, too.
settings.register_profile("mem", deadline=None)
settings.load_profile("mem")

refuse_live_models(os.environ)

TESTS = Path(__file__).parent
FIRST = ("e2e", "faults", "workflows", "contract")
"""Where a test, or a file of tests, may take long: what is short comes last and fills up what time is left."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of several processes one runs all tests of a file, so that no fixture of a file is made twice.

    Nor is the stack: what asks for it is one group.
    """
    of_stack = {item.path for item in items if "loop" in getattr(item, "fixturenames", ())}
    for item in items:
        name = "stack" if item.path in of_stack else str(item.path.relative_to(TESTS))
        item.add_marker(pytest.mark.xdist_group(name))

    def rank(item: pytest.Item) -> tuple[bool, int]:
        folder = item.path.relative_to(TESTS).parts[0]
        return item.path not in of_stack, FIRST.index(folder) if folder in FIRST else len(FIRST)

    items.sort(key=rank)
