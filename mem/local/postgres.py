"""The embedded Postgres server: making its cluster once, starting it, asking whether it answers."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from mem.domain.errors import StackError, Unavailable
from mem.local.place import Placement
from mem.local.ports import HOST
from mem.local.processes import POLL_SECONDS, Launch, RunAs, run_to_end
from mem.local.stack_file import StackHome, write_private

ROLE = DATABASE = "mem"
MAJOR = "18"
TIMEOUT_SECONDS = 5.0
ORPHANS_SECONDS = 30.0

SETTINGS = (
    f"listen_addresses={HOST}",
    "unix_socket_directories=",  # a socket in a shared folder would be a second door
    "shared_buffers=256MB",
    "max_connections=100",
    "fsync=on",
    "password_encryption=scram-sha-256",
    "logging_collector=off",
    "timezone=UTC",
    "log_timezone=UTC",
)


async def make_cluster(home: StackHome, placement: Placement, user: RunAs | None) -> str:
    """Create the cluster unless it is there, and return the password of its role.

    Raises:
        StackError: initdb failed, or what is there cannot be used.
    """
    data = placement.data
    if (data / "PG_VERSION").exists():
        return _known_password(home, data)
    password = secrets.token_urlsafe(24)
    # Made beside its final place and renamed at the end, so that a cluster is either whole or not there. Under a new
    # name each time: the initdb of a killed supervisor may still be writing to the last one.
    for left in data.parent.glob("new-*"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = data.with_name(f"new-{secrets.token_hex(4)}")
    password_file = data.with_name("password.new")
    try:
        write_private(password_file, password + "\n")
        if user is not None:
            os.chown(password_file, user.uid, user.gid)
        await run_to_end(
            _launch(
                home, placement, user, "initdb", "-D", str(fresh), "-U", ROLE, "--auth=scram-sha-256",
                f"--pwfile={password_file}", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8", "--no-instructions",
            )
        )  # fmt: skip
        single = _launch(home, placement, user, "postgres", "--single", "-D", str(fresh), "postgres")
        await run_to_end(single, stdin=f"CREATE DATABASE {DATABASE}\n".encode())
    finally:
        password_file.unlink(missing_ok=True)
    write_private(home.postgres_password, password + "\n")
    fresh.rename(data)
    return password


def server(home: StackHome, placement: Placement, user: RunAs | None, port: int) -> Launch:
    """How to run the server."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    arguments = ("-D", str(placement.data), "-p", str(port), *settings)

    async def before() -> None:
        await _wait_for_orphans(placement.data)
        drop_dead_lock(placement.data)

    return _launch(
        home, placement, user, "postgres", *arguments,
        stop_signal=signal.SIGINT,  # fast shutdown: roll open transactions back, write a checkpoint
        grace=20.0,
        before=before,
    )  # fmt: skip


def url(password: str, port: int) -> str:
    """The address of the embedded server's database."""
    return f"postgresql://{ROLE}:{quote(password, safe='')}@{HOST}:{port}/{DATABASE}"


async def check(database_url: str) -> None:
    """Return if a statement can be run there.

    Raises:
        Unavailable: It cannot; the cause names host, port and database, never the password.
    """
    where = describe(database_url)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            connection = await psycopg.AsyncConnection.connect(database_url, connect_timeout=int(TIMEOUT_SECONDS))
            async with connection:
                await connection.execute("SELECT 1")
    except TimeoutError as error:
        raise Unavailable(f"Postgres at {where} does not answer within {TIMEOUT_SECONDS:.0f} s.") from error
    except psycopg.Error as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Unavailable(f"Postgres at {where} does not answer: {reason}.") from error


def describe(database_url: str) -> str:
    """Host, port and database of a URL, without user and password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(database_url)
    except psycopg.ProgrammingError as error:
        raise StackError(
            "The database URL cannot be understood.",
            "Set MEM_DATABASE_URL to something like postgresql://user:password@host:5432/database.",
        ) from error
    return f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"


def _launch(
    home: StackHome,
    placement: Placement,
    user: RunAs | None,
    program: str,
    *arguments: str,
    stop_signal: int = signal.SIGTERM,
    grace: float = 10.0,
    before: Callable[[], Awaitable[None]] | None = None,
) -> Launch:
    return Launch(
        name="postgres",
        argv=(str(placement.binaries / program), *arguments),
        # Not the caller's environment: PGOPTIONS and the like would change the server.
        env={"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath},
        ready="postgres",
        log=home.log("postgres"),
        run_as=user,
        cwd=placement.data.parent,
        stop_signal=stop_signal,
        grace=grace,
        before=before,
    )


def _known_password(home: StackHome, data: Path) -> str:
    major = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    if major != MAJOR:
        raise StackError(
            f"The data in {data} is of PostgreSQL {major}, the installed server is {MAJOR}.",
            "Export the journal with the version that made it, and import it into a new MEM_HOME.",
        )
    try:
        return home.postgres_password.read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise StackError(
            f"The password of the Postgres data in {data} is missing: {home.postgres_password} is not there.",
            "Put that file back, or choose another MEM_HOME.",
        ) from error


async def _wait_for_orphans(data: Path) -> None:
    """Wait for the backends of a killed server: until they end, its shared memory keeps a new one from starting."""
    end = time.monotonic() + ORPHANS_SECONDS
    while any(_works_in(process, data) for process in psutil.process_iter()):
        if time.monotonic() >= end:
            return  # the new server then says so itself, in its log
        await asyncio.sleep(POLL_SECONDS)


def drop_dead_lock(data: Path) -> None:
    """Remove the lock of a killed server that nobody has reaped yet: a new one would take it for alive."""
    lock = data / "postmaster.pid"
    with suppress(OSError, ValueError, IndexError, psutil.Error):
        holder = psutil.Process(int(lock.read_text("utf-8").split()[0]))
        if holder.status() == psutil.STATUS_ZOMBIE:
            lock.unlink()


def _works_in(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error, OSError):
        return process.name().startswith("postgres") and bool(process.cwd() == str(folder))
    return False
