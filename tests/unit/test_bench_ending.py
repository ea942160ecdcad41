"""What a measurement starts ends with it, however it is ended."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

BENCH = Path(__file__).parents[2] / "bench"
STARTING = re.compile(r"running_postgres|running_stack|\btalk_store\b|\babstention_store\b")
"""By what a script starts a server, itself or through a module beside it."""


def _servers(script: psutil.Process) -> list[psutil.Process]:
    """Those that are up, and so have processes of their own."""
    return [child for child in script.children() if child.name() == "postgres" and child.children()]


@pytest.mark.parametrize("interrupts", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_measurement_that_is_terminated_leaves_no_server(tmp_path, interrupts):
    """SIGTERM ends the server with the script, in the background of a shell, too, where Ctrl-C is ignored."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.query", "--nodes", "100000", "--json", str(tmp_path / "figures.json")],
        cwd=BENCH.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, interrupts),  # noqa: PLW1509 - a single thread forks here
    ) as script:
        seen = psutil.Process(script.pid)
        while not (servers := _servers(seen)):
            assert script.poll() is None
            time.sleep(0.05)
        script.terminate()
        script.wait(timeout=120)
    _, left = psutil.wait_procs(servers, timeout=30)
    for one in left:
        one.kill()
    assert left == []


def test_each_script_that_starts_a_server_is_run_like_that():
    """None of them begins its work in another way."""
    scripts = {path.name: path.read_text("utf-8") for path in BENCH.glob("*.py")}
    started = {name for name, text in scripts.items() if "__main__" in text and STARTING.search(text)}
    assert len(started) >= 10
    assert {name for name in started if "asyncio.run(" in scripts[name]} == set()
