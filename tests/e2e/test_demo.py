"""The demonstration as a newcomer runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT


@pytest.mark.slow
def test_the_demonstration_shows_every_tier_and_comes_out_as_told() -> None:
    """It exits 0, names all three tiers, shows why candidates were refused, and leaves nothing running."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
    run = subprocess.run(
        [sys.executable, "-m", "mem.cli.main", "demo"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    shown = run.stdout
    for words in ("tier 1", "tier 2", "tier 3", "symptom", "no-evidence", "trivial", "duplicate", "bad-parents"):
        assert words in shown, words
    assert "1 distinct body" in shown
    assert "1 occurrence counted" in shown
    assert "demo --keep" in shown
    assert "http://127.0.0.1:" not in shown, "an address of a stack that has ended"
    home = next(word for word in shown.split() if "mem-demo-" in word)
    assert not Path(home).exists()
