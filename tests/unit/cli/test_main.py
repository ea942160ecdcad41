"""The root of the command line: a call loads its own command alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.main import get_command

from mem.cli.main import app_for

COMMANDS = sorted(get_command(app_for(())).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_found_alone(command: str) -> None:
    """What a call loads for a command holds that command."""
    assert command in get_command(app_for((command, "--help"))).commands  # type: ignore[attr-defined]


def test_a_short_command_loads_no_settings() -> None:
    """Extracting needs neither the environment's settings nor Temporal, which take longer to load than it runs."""
    program = "import sys; from mem.cli.main import app_for; app_for(['signature']); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "'mem.cli.signature'" in loaded
    assert "pydantic_settings" not in loaded
    assert "temporalio" not in loaded
