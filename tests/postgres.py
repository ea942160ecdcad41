"""A Postgres server for the session, and a migrated database of its own for each test that asks for one."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from mem.local.place import wheel_package
from mem.store.migrate import migrate
from mem.store.pool import Pool, open_pool
from mem.store.vector_index import ensure_vector_index
from mem.testing import FakeEmbedder
from tests.folders import new_folder

_UNSAFE_BUT_FAST = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=300",
    "shared_buffers=256MB",
    "max_wal_size=128MB",
)
_NUMBERS = itertools.count()


class Server:
    """A running server; `url` makes the address of one of its databases, with superuser rights."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._dropping = ThreadPoolExecutor(max_workers=1)

    def url(self, database: str) -> str:
        return f"postgresql://mem@127.0.0.1:{self._port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def drop(self, name: str) -> None:
        """Drop a database behind the test's back: it takes as long as making it, and nobody waits for it."""
        self._dropping.submit(self.execute, f"DROP DATABASE {name} WITH (FORCE)")

    def finish(self) -> None:
        """Wait until all are dropped."""
        self._dropping.shutdown()

    def create(self, name: str, template: str = "template0") -> str:
        # Its pages are copied as files, which takes less than through the log.
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server, which refuses root and so runs as nobody there."""
    base = new_folder("mem-postgres-")
    run_as = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    if run_as:
        shutil.chown(base, "nobody", "nogroup")
    copied = Path(tempfile.mkdtemp(prefix="mem-postgres-binaries-"))
    copied.chmod(0o711)
    package = _reachable(wheel_package(), copied) if run_as else wheel_package()
    binaries = package / "pginstall" / "bin"
    data = base / "data"
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    initdb = [binaries / "initdb", "-D", data, "-U", "mem", "--auth=trust", *locale, "--no-sync"]
    subprocess.run(initdb, check=True, cwd=base, stdout=subprocess.DEVNULL, **run_as)
    port = _free_port()
    settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", *_UNSAFE_BUT_FAST]
    options = [word for setting in settings for word in ("-c", setting)]
    with (base / "log").open("wb") as log:
        process = subprocess.Popen([binaries / "postgres", "-D", data, *options], cwd=base, stderr=log, **run_as)
    try:
        server = Server(port)
        _wait(process, server, base / "log")
        yield server
        server.finish()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)
        for folder in (base, copied):
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
async def postgres_template(postgres_server: Server) -> str:
    """The name of a migrated database that is ready for the vectors of `FakeEmbedder()`."""
    url = postgres_server.create("mem_template")
    await migrate(url)
    pool = await open_pool(url, size=2)
    embedder = FakeEmbedder()
    await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
    await pool.close()
    return "mem_template"


@pytest.fixture
def empty_database_url(postgres_server: Server) -> Iterator[str]:
    """The address of a database without anything in it."""
    name = f"empty_{next(_NUMBERS)}"
    yield postgres_server.create(name)
    postgres_server.drop(name)


@pytest.fixture
def database_url(postgres_server: Server, postgres_template: str) -> Iterator[str]:
    """The address of a migrated database for one test."""
    name = f"test_{next(_NUMBERS)}"
    yield postgres_server.create(name, postgres_template)
    postgres_server.drop(name)


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    """Connections to a migrated database for one test, all of them open, so that concurrent calls do overlap."""
    pool = await open_pool(database_url, size=12)
    await pool.resize(12, 12)
    await pool.wait()
    yield pool
    await pool.close()


@pytest.fixture
async def kept(database_url: str) -> AsyncIterator[Pool]:
    """A connection to the same database that keeps its plans."""
    kept = await open_pool(database_url, size=1, keep_plans=True)
    yield kept
    await kept.close()


def _reachable(package: Path, copied: Path) -> Path:
    """The wheel's package, copied with the libraries beside it where a folder above keeps another user out."""
    if all(folder.stat().st_mode & 0o001 for folder in package.resolve().parents):
        return package
    for folder in (package, package.with_name(f"{package.name}.libs")):
        if folder.is_dir():
            shutil.copytree(folder, copied / folder.name, symlinks=True)
    return copied / package.name


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], server: Server, log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text(encoding="utf-8", errors="replace")) from None
            time.sleep(0.05)
        else:
            return
