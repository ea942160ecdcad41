"""What all tests of the command line share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the tests run in, it says nothing of how wide lines are."""
    monkeypatch.delenv("COLUMNS", raising=False)
