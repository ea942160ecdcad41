"""What all tests of the command line share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the tests run in, it says nothing of how wide lines are."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def no_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor does the folder say which project they are about."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True, scope="session")
def commands_once() -> Iterator[None]:
    """The commands of an application are made of its functions once, not at each call, which takes longer than most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield
