"""The lock file of a Postgres server that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from mem.local.postgres import drop_dead_lock


def lock_of(data: Path, pid: int) -> Path:
    lock = data / "postmaster.pid"
    lock.write_text(f"{pid}\n{data}\n1760000000\n", "utf-8")
    return lock


def test_the_lock_of_a_killed_server_that_nobody_reaped_is_removed(tmp_path):
    """A process that has ended but is still listed holds nothing, whatever a signal to it says."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE
        lock = lock_of(tmp_path, ended.pid)
        drop_dead_lock(tmp_path)
        assert not lock.exists()
    finally:
        ended.wait()


def test_the_lock_of_a_running_server_stays(tmp_path):
    """Whoever runs holds the data."""
    lock = lock_of(tmp_path, os.getpid())
    drop_dead_lock(tmp_path)
    assert lock.exists()


@pytest.mark.parametrize("text", ["", "not a pid\n", "999999999\n"])
def test_a_lock_that_names_nobody_is_left_to_the_server(tmp_path, text):
    """Postgres itself knows what to do with a lock that no process has."""
    (tmp_path / "postmaster.pid").write_text(text, "utf-8")
    drop_dead_lock(tmp_path)
    assert (tmp_path / "postmaster.pid").exists()
