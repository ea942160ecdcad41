"""The embedded stack with real Postgres and real Temporal; small stand-ins are migration, worker and gateway.

Run as a program this file is the command line of the stack with those stand-ins.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

import mem.local
from mem.clients.temporal.probe import has_pollers
from mem.domain.errors import StackError
from mem.local import (
    PartSpec,
    StackFile,
    StackHome,
    StackOptions,
    remove_data,
    running_stack,
    stack_status,
    start_detached,
)
from mem.local.place import wheel_package
from mem.local.processes import ProcessId, is_alive
from tests.folders import new_folder

ROOT = Path(__file__).resolve().parents[2]
IS_ROOT = os.geteuid() == 0
SECONDS = 300


def one_of(*given: object) -> list[object]:
    """All of the same kind: the first each time, the rest with the slow tests."""
    return [given[0], *(pytest.param(each, marks=pytest.mark.slow) for each in given[1:])]


MIGRATE = """
import os, psycopg
with psycopg.connect(os.environ["MEM_DATABASE_URL"]) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
"""
WORKER = """
import asyncio, os
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

@workflow.defn
class Nothing:
    @workflow.run
    async def run(self) -> None: ...

async def main():
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], namespace=os.environ["TEMPORAL_NAMESPACE"])
    runner = UnsandboxedWorkflowRunner()
    await Worker(client, task_queue=os.environ["MEM_TASK_QUEUE"], workflows=[Nothing], workflow_runner=runner).run()

asyncio.run(main())
"""
GATEWAY = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()
    def log_message(self, *args): ...
HTTPServer(("127.0.0.1", int(os.environ["MEM_HTTP_PORT"])), Handler).serve_forever()
"""


def python(name: str, code: str, ready: str, **more: object) -> PartSpec:
    return PartSpec(name=name, argv=(sys.executable, "-c", code), ready=ready, **more)


def stand_ins() -> tuple[PartSpec, ...]:
    return (
        python("migrate", MIGRATE, "exit"),
        python("worker", WORKER, "pollers"),
        python("gateway", GATEWAY, "http"),
    )


def options(place: Path, **more: object) -> StackOptions:
    return StackOptions(**{"parts": stand_ins(), "state_dir": place / "state", **more})


def command(place: Path, *arguments: str, **more: object) -> dict[str, object]:
    """What subprocess needs to run this file as `mem`."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
    env |= {"MEM_HOME": str(place / "home"), "PYTHONPATH": str(ROOT), "STATE_DIR": str(place / "state")}
    return {"args": [sys.executable, __file__, *arguments], "env": env, "cwd": ROOT, "text": True, **more}


def mem_command(place: Path, *arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Run this file as `mem`, its output captured."""
    return finish(command(place, *arguments, **more))


def finish(arguments: dict[str, object]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(check=False, capture_output=True, timeout=SECONDS, **arguments)  # type: ignore[call-overload, no-any-return]


def new_place() -> Path:
    """A folder that every user may pass through, as the ones pytest makes are not."""
    place = new_folder("mem-stack-test-")
    place.chmod(0o711)
    return place


def read(place: Path) -> StackFile:
    stack = StackHome.at(place / "home").read_stack()
    assert stack is not None
    return stack


def processes(stack: StackFile) -> list[ProcessId]:
    return [ProcessId(pid=pid, started=stack.started[name]) for name, pid in stack.pids.items()]


def wait_for(what: Callable[[], object], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


async def wait_until_running(place: Path) -> None:
    async with asyncio.timeout(240):
        while not (await stack_status(place / "home")).running:
            await asyncio.sleep(0.1)


def wait_all_gone(left: list[ProcessId]) -> None:
    wait_for(lambda: not any(is_alive(process) for process in left))


def insert(stack: StackFile) -> None:
    with psycopg.connect(stack.database_url) as connection:
        connection.execute("INSERT INTO kept VALUES (1)")


def count(stack: StackFile) -> int:
    with psycopg.connect(stack.database_url) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def place() -> Iterator[Path]:
    folder = new_place()
    yield folder
    shutil.rmtree(folder)


class Detached(NamedTuple):
    """What `mem up --detach` left, and the reading end of a pipe whose other end it had inherited."""

    place: Path
    reading: int


@pytest.fixture(scope="module")
def detached() -> Iterator[Detached]:
    folder = new_place()
    reading, writing = os.pipe()
    started = mem_command(folder, "up", "--detach", pass_fds=(writing,))  # returns only if stdout was let go of
    os.close(writing)
    assert started.returncode == 0, started.stderr
    yield Detached(folder, reading)
    os.close(reading)
    mem_command(folder, "down")
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shared(detached: Detached) -> Path:
    """The place of a running stack that the tests of this file share; the last of them stops it."""
    return detached.place


def test_the_stack_file_has_the_fields_of_the_contract_and_is_private(shared: Path) -> None:
    file = shared / "home/stack.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert content["http"].startswith("http://127.0.0.1:")
    assert content["ui"].startswith("http://127.0.0.1:")
    assert content["temporal"]["namespace"] == "default"
    assert set(content["pids"]) == {"supervisor", "postgres", "temporal", "worker", "gateway"}
    assert content["database_url"].startswith("postgresql://mem:")


def test_status_shows_every_part_as_answering_and_nothing_else_on_stdout(shared: Path) -> None:
    shown = mem_command(shared, "status", "--format", "json")
    status = json.loads(shown.stdout)
    assert shown.returncode == 0
    assert {part["name"]: (part["running"], part["answering"]) for part in status["parts"]} == dict.fromkeys(
        ("postgres", "temporal", "worker", "gateway", "supervisor"), (True, True)
    )


def test_no_part_listens_on_another_address_than_loopback(shared: Path) -> None:
    pids = set(read(shared).pids.values())
    if not IS_ROOT:
        pytest.skip("another user's sockets cannot be listed")
    listening = [c for c in psutil.net_connections("inet") if c.status == psutil.CONN_LISTEN and c.pid in pids]
    assert len(listening) >= 4
    assert {connection.laddr.ip for connection in listening if connection.laddr} <= {"127.0.0.1", "::1"}
    assert list((shared / "home").rglob(".s.PGSQL*")) == []


@pytest.mark.parametrize("password", ["", "guess"])
def test_postgres_lets_nobody_in_without_the_password(shared: Path, password: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(read(shared).database_url) | {"password": password}
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(**parts)  # type: ignore[arg-type]


def test_postgres_runs_as_an_unprivileged_user_and_durably(shared: Path) -> None:
    stack = read(shared)
    assert psutil.Process(stack.pids["postgres"]).uids().effective != 0
    assert psutil.Process(stack.pids["postgres"]).gids().effective != 0 or not IS_ROOT
    with psycopg.connect(stack.database_url) as connection:
        wanted = {"fsync": "on", "shared_buffers": "256MB", "max_connections": "100"}
        for name, value in wanted.items():
            assert connection.execute(f"SHOW {name}").fetchone() == (value,)
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


async def test_temporal_knows_the_search_attributes(shared: Path) -> None:
    temporal = read(shared).temporal
    client = await Client.connect(temporal.address, namespace=temporal.namespace)
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=temporal.namespace)
    )
    kinds = {name: IndexedValueType.Name(kind) for name, kind in answer.custom_attributes.items()}
    keyword, keywords = "INDEXED_VALUE_TYPE_KEYWORD", "INDEXED_VALUE_TYPE_KEYWORD_LIST"
    for name in ("MemProject", "MemTool", "MemTier", "MemOutcome"):
        assert kinds[name] == keyword
    for name in ("MemSignature", "MemDegraded"):
        assert kinds[name] == keywords


async def test_a_poller_counts_only_for_its_own_queue_and_from_when_it_was_seen(shared: Path) -> None:
    """Or a worker that has just died would be taken for the one that is to replace it."""
    temporal = read(shared).temporal
    assert await has_pollers(temporal.address, temporal.namespace, "mem")
    assert not await has_pollers(temporal.address, temporal.namespace, "mem", since=time.time() + 1)
    assert not await has_pollers(temporal.address, temporal.namespace, "nobody's")
    assert not await has_pollers("127.0.0.1:9", temporal.namespace, "mem")


@pytest.mark.parametrize("arguments", one_of(("up", "--detach"), ("up",)))
def test_a_second_up_names_the_running_one_and_fails(shared: Path, arguments: tuple[str, ...]) -> None:
    before = read(shared)
    second = mem_command(shared, *arguments)
    assert second.returncode == 1
    assert "already running" in second.stderr
    assert before.http in second.stderr
    assert before.ui is not None
    assert before.ui in second.stderr
    assert read(shared) == before
    assert all(map(is_alive, processes(before)))


@pytest.mark.parametrize("name", one_of("worker", "gateway", "postgres", "temporal"))
async def test_a_part_that_dies_is_started_again_at_the_same_address(shared: Path, name: str) -> None:
    before = read(shared)
    os.kill(before.pids[name], signal.SIGKILL)
    wait_for(lambda: (now := StackHome.at(shared / "home").read_stack()) and now.pids[name] != before.pids[name])
    after = read(shared)
    assert (after.http, after.database_url, after.temporal) == (before.http, before.database_url, before.temporal)
    await wait_until_running(shared)  # a worker needs a moment to find a Temporal that was away
    assert {other for other in after.pids if after.pids[other] != before.pids[other]} == {name}


@pytest.mark.parametrize("name", one_of("postgres", "temporal", "worker", "gateway"))
async def test_after_kill_9_of_supervisor_and_part_the_next_start_recovers_and_keeps_the_data(
    shared: Path, name: str
) -> None:
    before = read(shared)
    insert(before)
    rows = count(before)
    # The supervisor first: otherwise it would start the part again itself.
    for killed in ("supervisor", name):
        os.kill(before.pids[killed], signal.SIGKILL)
    stack = await start_detached(shared / "home", options(shared))
    assert count(stack) == rows
    assert not any(map(is_alive, processes(before)))
    await wait_until_running(shared)


async def test_a_given_database_and_a_given_temporal_are_used_and_left_running(shared: Path, place: Path) -> None:
    given = read(shared)
    wanted = options(
        place, database_url=given.database_url, temporal_address=given.temporal.address, task_queue="another"
    )
    async with running_stack(place / "home", wanted) as stack:
        assert set(stack.pids) == {"worker", "gateway", "supervisor"}
        assert (stack.database_url, stack.temporal, stack.ui) == (given.database_url, given.temporal, None)
        assert not (place / "home/postgres").exists()
        status = await stack_status(place / "home")
        assert status.running
        assert {part.name: part.pid for part in status.parts if part.name in {"postgres", "temporal"}} == {
            "postgres": None,
            "temporal": None,
        }
    assert all(map(is_alive, processes(given)))


def test_every_process_leads_a_session_of_its_own(shared: Path) -> None:
    """So that a Ctrl-C of the terminal reaches the supervisor alone, which stops the others in order."""
    assert all(os.getsid(pid) == pid for pid in read(shared).pids.values())


def test_what_a_detached_start_leaves_running_holds_no_descriptor_of_the_caller(detached: Detached) -> None:
    os.set_blocking(detached.reading, False)
    assert os.read(detached.reading, 1) == b""  # BlockingIOError while anybody holds the other end
    supervisor = read(detached.place).pids["supervisor"]
    if sys.platform == "linux":
        assert Path(f"/proc/{supervisor}/fd/0").readlink() == Path(os.devnull)


def test_ctrl_c_in_the_whole_foreground_group_stops_all_parts_in_reverse_order(shared: Path, place: Path) -> None:
    given = read(shared)
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    arguments = command(place, "up", **more)
    arguments["env"] |= {  # type: ignore[operator]
        "TEMPORAL_ADDRESS": given.temporal.address,
        "MEM_TASK_QUEUE": "third",
    }
    with subprocess.Popen(**arguments) as foreground:  # type: ignore[call-overload]
        wait_for(lambda: StackHome.at(place / "home").read_stack())
        stack = read(place)
        os.killpg(foreground.pid, signal.SIGINT)
        shown, notes = foreground.communicate(timeout=SECONDS)
    assert foreground.returncode == 0, notes
    assert stack.http in shown
    assert [line for line in notes.splitlines() if line.startswith("stopping")] == [
        "stopping gateway",
        "stopping worker",
        "stopping postgres",
    ]
    assert not any(map(is_alive, processes(stack)))


@pytest.mark.parametrize("arguments", one_of(("up",), ("up", "--detach")))
def test_an_interrupted_start_leaves_nothing_running(shared: Path, place: Path, arguments: tuple[str, ...]) -> None:
    wanted = command(place, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    given = read(shared)
    wanted["env"] |= {  # type: ignore[operator]
        "MEM_DATABASE_URL": given.database_url,
        "TEMPORAL_ADDRESS": given.temporal.address,
        "PARTS": "gateway slow",
    }
    home = StackHome.at(place / "home")
    with subprocess.Popen(**wanted) as starting:  # type: ignore[call-overload]
        wait_for(lambda: (begun := home.read_processes()) and len(begun.parts) == 2)
        begun = home.read_processes()
        assert begun is not None
        os.killpg(starting.pid, signal.SIGINT)
        starting.communicate(timeout=SECONDS)
    assert starting.returncode != 0
    wait_all_gone([begun.supervisor, *(part.process for part in begun.parts)])
    assert not home.processes_file.exists()


def given_options(shared: Path, place: Path, **more: object) -> StackOptions:
    """Options that start no server, for tests of the rest."""
    given = read(shared)
    return options(place, database_url=given.database_url, temporal_address=given.temporal.address, **more)


async def test_a_part_that_fails_to_start_is_shown_with_the_end_of_its_log(shared: Path, place: Path) -> None:
    broken = python("gateway", "raise SystemExit('no such table: kept')", "http")
    wanted = given_options(shared, place, parts=(python("worker", WORKER, "alive"), broken))
    with pytest.raises(StackError, match=r"gateway ended with exit code 1.*\n.*no such table: kept") as caught:
        async with running_stack(place / "home", wanted):
            pass
    assert str(place / "home/logs/gateway.log") in caught.value.remedy
    assert not (place / "home/stack.json").exists()
    assert not (place / "home/processes.json").exists()


async def test_a_part_that_keeps_dying_stops_the_stack_with_a_message(shared: Path, place: Path) -> None:
    dying = python("gateway", "import threading, os; threading.Timer(.5, os._exit, (7,)).start()" + GATEWAY, "http")
    wanted = given_options(shared, place, parts=(dying,), max_restarts=2)
    async with running_stack(place / "home", wanted) as stack:
        wait_all_gone([ProcessId(pid=stack.pids["supervisor"], started=stack.started["supervisor"])])
    said = (place / "home/logs/supervisor.log").read_text(encoding="utf-8")
    assert "gateway ended with exit code 7, after 2 restarts within a minute" in said
    assert not (place / "home/stack.json").exists()


async def test_of_two_concurrent_starts_one_wins(shared: Path, place: Path) -> None:
    wanted = given_options(shared, place, parts=(python("gateway", GATEWAY, "http"),))
    starts = [start_detached(place / "home", wanted) for _ in range(2)]
    outcomes = await asyncio.gather(*starts, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["StackError", "StackFile"]
    assert any("already running" in str(outcome) for outcome in outcomes)
    assert await mem.local.stop_stack(place / "home") == ["gateway", "supervisor"]


@pytest.mark.parametrize(
    ("given", "variable"),
    [
        ({"database_url": "postgresql://me:secret@127.0.0.1:9/lost"}, "MEM_DATABASE_URL"),
        ({"temporal_address": "127.0.0.1:9"}, "TEMPORAL_ADDRESS"),
    ],
)
async def test_a_given_server_that_does_not_answer_is_named(place: Path, given: dict[str, str], variable: str) -> None:
    with pytest.raises(StackError, match=r"127\.0\.0\.1:9") as caught:
        async with running_stack(place / "home", options(place, **given)):
            pass
    assert variable in caught.value.remedy
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("option", one_of("http_port", "ui_port", "temporal_port", "postgres_port"))
async def test_a_fixed_port_in_use_is_named(place: Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StackError, match=rf"Port {port} .*--{option.replace('_', '-')}"):
            async with running_stack(place / "home", options(place, **{option: port})):
                pass


async def test_without_a_worker_file_the_error_names_the_variable(place: Path) -> None:
    needy = python("worker", "", "pollers", needs_app_dir=True)
    with pytest.raises(StackError, match=r"MEM_APP_DIR is .* no worker\.py"):
        async with running_stack(place / "home", options(place, parts=(needy,), app_dir=place)):
            pass


@pytest.mark.skipif(not IS_ROOT, reason="only root runs Postgres as another user")
async def test_below_a_folder_of_mode_0700_root_keeps_postgres_in_the_state_folder(shared: Path, place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    package = wheel_package()
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    wanted = options(
        place,
        parts=(python("migrate", MIGRATE, "exit"),),
        postgres_package=closed / package.name,
        temporal_address=read(shared).temporal.address,
    )
    for rows in (0, 1):
        async with running_stack(closed / "home", wanted) as stack:
            assert stack.postgres_dir is not None
            assert Path(stack.postgres_dir).is_relative_to(place / "state")
            assert stack.postgres_binaries is not None
            assert Path(stack.postgres_binaries).is_relative_to(place / ("state" if rows == 0 else "closed"))
            assert count(stack) == rows
            insert(stack)
        if rows == 0:
            assert stat.S_IMODE(closed.stat().st_mode) == 0o700
            closed.chmod(0o755)  # reachable now: the next start goes on with the data of the first all the same
    remove_data(closed / "home")
    assert not Path(stack.postgres_dir or "").exists()
    assert not (closed / "home").exists()


@pytest.mark.skipif(not IS_ROOT, reason="the other tests run as an ordinary user already")
def test_an_ordinary_user_starts_and_stops_a_stack_as_itself(place: Path) -> None:
    user = pwd.getpwnam("nobody")
    os.chown(place, user.pw_uid, user.pw_gid)
    place.chmod(0o700)
    arguments = command(place, "up", "--detach", user="nobody", group=user.pw_gid, extra_groups=[])
    interpreter = foreign_python(user.pw_uid)
    arguments["args"][0] = interpreter  # type: ignore[index]
    site = Path(psycopg.__file__).parent.parent
    arguments["env"] |= {"PYTHONPATH": f"{ROOT}:{site}", "HOME": str(place), "PARTS": "migrate gateway"}  # type: ignore[operator]
    started = finish(arguments)
    assert started.returncode == 0, started.stderr
    stack = read(place)
    assert {psutil.Process(pid).uids().real for pid in stack.pids.values()} == {user.pw_uid}
    assert stack.postgres_dir == str(place / "home/postgres/data")
    arguments["args"] = [interpreter, __file__, "down"]
    assert finish(arguments).returncode == 0
    assert not any(map(is_alive, processes(stack)))


def foreign_python(uid: int) -> str:
    """An interpreter of the same version that this user can run."""
    candidates = (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}")
    for candidate in candidates:
        code = "import psycopg, temporalio, typer, mem"
        env = {"PYTHONPATH": f"{ROOT}:{Path(psycopg.__file__).parent.parent}"}
        try:
            subprocess.run([candidate, "-c", code], user=uid, extra_groups=[], env=env, check=True, cwd="/", timeout=30)
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    pytest.skip("no interpreter and checkout that another user can reach")


def test_down_stops_everything_it_started_and_nothing_else(shared: Path) -> None:
    stack = read(shared)
    with subprocess.Popen(["sleep", "60"], cwd=shared / "home") as bystander:
        stopped = mem_command(shared, "down", "--format", "json")
        assert stopped.returncode == 0
        assert json.loads(stopped.stdout) == {"stopped": ["gateway", "worker", "temporal", "postgres", "supervisor"]}
        assert not any(map(is_alive, processes(stack)))
        assert not (shared / "home/stack.json").exists()
        assert bystander.poll() is None
        bystander.kill()
    again = mem_command(shared, "down")
    assert again.returncode == 0
    assert "not running" in again.stdout
    assert mem_command(shared, "status").returncode == 1
    assert "database system is shut down" in (shared / "home/logs/postgres.log").read_text(encoding="utf-8")


if __name__ == "__main__":
    import typer

    from mem.cli.stack import register

    real = mem.local.StackOptions
    names = os.environ.get("PARTS", "migrate worker gateway").split()
    slow = python("slow", "import time; time.sleep(600)", "exit")
    parts = tuple(part for part in (*stand_ins(), slow) if part.name in names)
    mem.local.StackOptions = functools.partial(  # type: ignore[misc, assignment]
        real, parts=parts, state_dir=Path(os.environ["STATE_DIR"])
    )
    app = typer.Typer()
    register(app)
    app()
