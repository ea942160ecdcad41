"""An installation without the extras says what to install, whichever command needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mem.domain.faults import not_installed

RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys(("uvicorn", "prometheus_client", "fastapi", "psycopg", "numpy", "mcp", "anyio")))
module, *sys.argv[1:] = sys.argv[1:]
runpy.run_module(module, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("module", "arguments", "extras"),
    [
        ("mem.gateway", [], "worker,http"),
        ("mem.gateway.mcp", [], "mcp"),
        ("mem.gateway.mcp", ["--http"], "mcp,http"),
        ("mem.cli.main", ["gaps"], "local,worker,http"),
    ],
)
def test_what_is_missing_is_told_in_one_line(module, arguments, extras, tmp_path):
    """Exit code 1, nothing on stdout, and on stderr how to install it."""
    command = [sys.executable, "-c", RUN, module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.endswith(f' is not installed. Install it with `pip install "PATH-OF-THE-CHECKOUT[{extras}]"`.\n')


def test_a_missing_part_of_this_package_is_a_fault_of_its_own():
    """No extra brings what is not there, so the error stays what it was."""
    gone = ModuleNotFoundError("No module named 'mem.gone'", name="mem.gone")
    with pytest.raises(ModuleNotFoundError, match=r"mem\.gone"):
        not_installed(gone, "worker")
