"""The files of a stack's home, and telling its processes from those of others."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mem.app_dir import find_app_dir
from mem.domain.errors import StackError
from mem.local import StackFile, StackHome, TemporalAddress, remove_data, stack_status, stop_stack
from mem.local.answers import address
from mem.local.cleanup import end_leftovers
from mem.local.place import Placement, chosen_base, first_blocked, place, wheel_package
from mem.local.ports import choose
from mem.local.postgres import describe, server
from mem.local.processes import ProcessId, RunAs, bound, end_process, identify, is_alive, rotate, tail
from mem.local.stack_file import PartRecord, Processes, StartedProcess, write_model, write_private


@pytest.fixture
def home(tmp_path: Path) -> StackHome:
    made = StackHome.at(tmp_path / "home")
    made.make()
    return made


@pytest.fixture
def sleeper() -> Iterator[ProcessId]:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        process = identify(child.pid)
        assert process is not None
        yield process
        child.kill()


def a_stack(**more: object) -> StackFile:
    fields: dict[str, object] = {
        "http": "http://127.0.0.1:8000",
        "ui": None,
        "temporal": TemporalAddress(address="127.0.0.1:7233", namespace="default"),
        "database_url": "postgresql://mem:secret@127.0.0.1:5432/mem",
        "pids": {},
    }
    return StackFile.model_validate(fields | more)


def earlier(process: ProcessId) -> ProcessId:
    """What a file says about a process that had this pid before."""
    return process.model_copy(update={"started": process.started - 3600})


def test_a_stack_file_is_read_as_it_was_written(home: StackHome) -> None:
    stack = a_stack(pids={"gateway": 5}, started={"gateway": 1.5}, parts=(PartRecord(name="gateway", ready="http"),))
    write_model(home.stack_file, stack)
    assert home.read_stack() == stack
    assert stack.process("gateway") == ProcessId(pid=5, started=1.5)
    assert stack.process("postgres") is None


def test_a_private_file_is_readable_by_its_owner_alone_whatever_it_replaces(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o644)
    write_private(file, "new")
    assert file.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_full(_: int) -> None:
        raise OSError("disk full")

    file = tmp_path / "file"
    write_private(file, "old")
    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="disk full"):
        write_private(file, "new")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("file", "old")]


@pytest.mark.parametrize("content", ["", "{", '{"http": 1}', "[]"])
def test_a_stack_file_that_cannot_be_understood_counts_as_none(home: StackHome, content: str) -> None:
    home.stack_file.write_text(content, encoding="utf-8")
    assert home.read_stack() is None


def test_a_home_is_locked_by_one_holder_until_it_lets_go(home: StackHome) -> None:
    with home.lock(), pytest.raises(BlockingIOError), home.lock():
        pass
    with home.lock():
        pass


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o750)
    StackHome.at(folder).make()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750


def test_a_home_that_cannot_be_made_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StackError, match="MEM_HOME"):
        StackHome.at(tmp_path / "file/home").make()


def test_a_process_with_the_pid_of_an_earlier_one_is_not_taken_for_it(sleeper: ProcessId) -> None:
    assert is_alive(sleeper)
    assert not is_alive(earlier(sleeper))


def test_a_process_that_waits_to_be_reaped_is_not_alive() -> None:
    child = subprocess.Popen(["sleep", "60"])
    process = identify(child.pid)
    assert process is not None
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(process)
    child.wait()


async def test_leftovers_are_ended_and_a_reused_pid_is_spared(home: StackHome, sleeper: ProcessId) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        reused = identify(stranger.pid)
        assert reused is not None
        parts = tuple(
            StartedProcess(name=name, process=process, stop_signal=signal.SIGTERM, grace=5)
            for name, process in (("worker", sleeper), ("gateway", earlier(reused)))
        )
        gone = ProcessId(pid=sleeper.pid, started=0.0)
        write_model(home.processes_file, Processes(supervisor=gone, parts=parts))
        write_model(home.stack_file, a_stack())
        assert await end_leftovers(home) == ["worker"]
        assert stranger.poll() is None
        stranger.kill()
    assert not is_alive(sleeper)
    assert not home.stack_file.exists()
    assert not home.processes_file.exists()


async def test_stopping_spares_a_process_with_the_pid_of_the_supervisor(home: StackHome, sleeper: ProcessId) -> None:
    with home.lock():
        pass  # makes the file, as a supervisor does
    write_model(home.processes_file, Processes(supervisor=earlier(sleeper)))
    assert await stop_stack(home.root) == []
    assert is_alive(sleeper)


async def test_stopping_where_nothing_ever_ran_leaves_nothing(tmp_path: Path) -> None:
    assert await stop_stack(tmp_path / "home") == []
    assert list(tmp_path.iterdir()) == []


async def test_a_process_that_ignores_the_request_is_killed_after_its_grace_time() -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        process = identify(child.pid)
        assert process is not None
        async with asyncio.timeout(10):
            assert await end_process(process, signal.SIGTERM, 0.2)
    assert child.returncode == -signal.SIGKILL


async def test_the_status_of_a_stale_stack_file_says_that_nothing_runs(home: StackHome, sleeper: ProcessId) -> None:
    parts = (PartRecord(name="gateway", ready="alive"),)
    stale = a_stack(pids={"gateway": sleeper.pid}, started={"gateway": earlier(sleeper).started}, parts=parts)
    write_model(home.stack_file, stale)
    status = await stack_status(home.root)
    assert not status.running
    assert {(part.name, part.running, part.answering, part.pid) for part in status.parts} == {
        ("gateway", False, False, None),
        ("supervisor", False, False, None),
    }


def test_a_log_is_rotated_at_start_and_cut_when_it_grows_too_long(tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    log.write_text("of the run before\n", encoding="utf-8")
    rotate(log)
    assert (tmp_path / "part.log.1").read_text(encoding="utf-8") == "of the run before\n"
    with log.open("a", encoding="utf-8") as writer:
        writer.write("line\n" * 100)
        writer.flush()
        bound(log, limit=1000)
        assert log.read_text(encoding="utf-8") == "line\n" * 100
        bound(log, limit=100)
        writer.write("after\n")
    assert log.read_text(encoding="utf-8") == "after\n"
    assert (tmp_path / "part.log.1").read_text(encoding="utf-8").count("line") == 100


def test_the_end_of_a_log_is_bounded_in_lines_and_width(tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    log.write_bytes(b"first\n" + b"x" * 9000 + b"\xff\nlast\n")
    assert tail(log, lines=2).splitlines() == ["  " + "x" * 400, "  last"]
    assert tail(tmp_path / "none.log") == ""


def test_a_fixed_port_is_taken_only_if_free_and_free_ones_differ() -> None:
    taken: set[int] = set()
    ports = {choose("--ui-port", None, taken) for _ in range(20)}
    assert len(ports) == 20
    with pytest.raises(StackError, match="--ui-port"):
        choose("--ui-port", next(iter(ports)), taken)
    with socket.create_server(("0.0.0.0", 0)) as other, pytest.raises(StackError, match="in use"):
        choose("--http-port", other.getsockname()[1], taken)


def test_the_way_of_a_user_is_blocked_by_the_first_folder_that_does_not_let_it_pass() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        root = Path(folder).resolve()
        way = root / "closed/inner"
        way.mkdir(parents=True)
        root.chmod(0o711)
        stranger = RunAs(uid=54321, gid=54321)
        (root / "closed").chmod(0o711)
        assert first_blocked(way, stranger) is None
        (root / "closed").chmod(0o700)
        assert first_blocked(way, stranger) == root / "closed"
        assert first_blocked(way, RunAs(uid=os.getuid(), gid=0)) is None


def test_an_address_never_shows_a_password() -> None:
    assert describe("postgresql://me:secret@db.example:5433/lessons") == "db.example:5433/lessons"
    assert address(PartRecord(name="postgres", ready="postgres"), a_stack()) == "127.0.0.1:5432/mem"
    with pytest.raises(StackError, match="MEM_DATABASE_URL") as caught:
        describe("postgresql://me:secret@[half/lessons")
    assert "secret" not in str(caught.value)


def test_the_current_folder_is_used_if_it_has_a_worker_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StackError, match="MEM_APP_DIR"):
        find_app_dir(None)
    (tmp_path / "worker.py").touch()
    assert find_app_dir(None) == tmp_path


async def test_a_new_postgres_waits_for_the_backends_of_a_killed_one(home: StackHome, tmp_path: Path) -> None:
    program = tmp_path / "postgres-backend"
    shutil.copy("/bin/sleep", program)
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    before = server(home, Placement(here, tmp_path), None, 1).before
    assert before is not None
    with (
        subprocess.Popen([program, "0.5"], cwd=here) as backend,
        subprocess.Popen([program, "60"], cwd=elsewhere) as other,
    ):
        async with asyncio.timeout(20):
            await before()
        assert backend.poll() == 0
        assert other.poll() is None
        other.kill()


def test_the_data_of_a_copied_home_are_its_own(home: StackHome, tmp_path: Path) -> None:
    """The place is remembered only where it is outside: a path inside would name the original's."""
    place(home, wheel_package(), tmp_path / "state", None)
    shutil.copytree(home.root, tmp_path / "copy")
    assert chosen_base(StackHome.at(tmp_path / "copy")) == tmp_path / "copy/postgres"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps data outside its home")
def test_a_new_home_at_the_path_of_a_deleted_one_begins_with_new_data(home: StackHome, tmp_path: Path) -> None:
    home.root.chmod(0o700)
    with tempfile.TemporaryDirectory() as state:
        Path(state).chmod(0o711)
        user = RunAs(uid=54321, gid=54321)
        first = place(home, wheel_package(), Path(state), user).data
        assert first.is_relative_to(state)
        assert place(home, wheel_package(), Path(state), user).data == first
        shutil.rmtree(home.root)
        home.make()
        home.root.chmod(0o700)
        assert place(home, wheel_package(), Path(state), user).data != first
        assert first.parent.is_dir()


def test_removing_the_data_of_a_stack_keeps_what_is_not_its_own(home: StackHome) -> None:
    (home.root / "notes.txt").touch()
    (home.root / "temporal.db").touch()
    (home.root / "postgres").mkdir()
    with home.lock(), pytest.raises(StackError, match="running"):
        remove_data(home.root)
    remove_data(home.root)
    assert [path.name for path in home.root.iterdir()] == ["notes.txt"]
