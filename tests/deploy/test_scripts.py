"""The scripts that compose.yaml runs in other people's images, run against the same servers here."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

from mem.addresses import find_addresses
from mem.local.place import wheel_package
from mem.local.temporal import binary
from mem.settings import Settings
from mem.wiring import migrate_database
from tests.deploy.image import ROOT
from tests.folders import new_folder
from tests.temporal_server import running_temporal

pytestmark = pytest.mark.slow

DOCKER = ROOT / "docker"
ADMIN = "chosen by nobody"


class Cluster(NamedTuple):
    """A new Postgres whose roles need their passwords, and the secrets that were made for it."""

    port: int
    secrets: Path
    log: Path

    def url(self, role: str, database: str) -> str:
        password = (self.secrets / f"{role}_database_password").read_text(encoding="utf-8")
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    base = new_folder("mem-databases-")
    base.chmod(0o755)
    shutil.copy(DOCKER / "make-secrets.sh", base)
    subprocess.run([base / "make-secrets.sh"], check=True, capture_output=True, timeout=60)
    (base / "admin").write_text(ADMIN, encoding="utf-8")
    run_as = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    if run_as:
        for path in (base, base / "admin"):
            shutil.chown(path, "nobody", "nogroup")
    programs = wheel_package() / "pginstall" / "bin"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--auth=scram-sha-256", f"--pwfile={base / 'admin'}", "--encoding=UTF8", "--locale=C", "--no-sync"]
    data = base / "data"
    made = [programs / "initdb", "-D", data, "-U", "postgres", *options]
    subprocess.run(made, check=True, cwd=base, capture_output=True, timeout=120, **run_as)
    settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
    words = [word for setting in settings for word in ("-c", setting)]
    with (base / "log").open("wb") as log:
        running = subprocess.Popen([programs / "postgres", "-D", data, *words], cwd=base, stderr=log, **run_as)
    try:
        _wait(port)
        yield Cluster(port, base / "secrets", base / "log")
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        shutil.rmtree(base, ignore_errors=True)


def _wait(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with psycopg.connect(host="127.0.0.1", port=port, user="postgres", password=ADMIN, dbname="postgres"):
                return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "the cluster does not answer"
            time.sleep(0.05)


async def test_each_role_has_its_own_databases(cluster: Cluster):
    """Ours is migrated by its owner, who is no superuser; none reaches another's, and no password is logged."""
    programs = wheel_package() / "pginstall" / "bin"
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin", "PGHOST": "127.0.0.1", "PGPORT": str(cluster.port), "PGPASSWORD": ADMIN,
        "POSTGRES_USER": "postgres", "SECRETS": str(cluster.secrets),
    }  # fmt: skip
    script = ["bash", str(DOCKER / "postgres" / "databases.sh")]
    subprocess.run(script, env=environment, check=True, capture_output=True, timeout=120)
    settings = Settings(database_url=cluster.url("mem", "mem"))
    assert "vector index" in (await migrate_database(find_addresses(settings), settings))[-1]
    for role, database in (("mem", "temporal"), ("temporal", "mem")):
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            psycopg.connect(cluster.url(role, database))
    with psycopg.connect(cluster.url("temporal", "temporal_visibility")) as connection:
        connection.execute("CREATE TABLE made (a text); CREATE INDEX ON made USING gin (a)")
    logged = cluster.log.read_text(encoding="utf-8")
    assert [role for role in ("mem", "temporal") if cluster.url(role, "").split(":")[2].split("@")[0] in logged] == []


async def test_the_namespace_keeps_runs_as_long_as_it_is_told(tmp_path: Path):
    """It is made once, and its retention follows what is configured from then on."""
    async with running_temporal() as server:
        environment = {
            "PATH": f"{binary().parent}:/usr/bin:/bin", "HOME": str(tmp_path),
            "TEMPORAL_ADDRESS": server.address, "TEMPORAL_NAMESPACE": "made",
        }  # fmt: skip
        script = ["sh", str(DOCKER / "temporal" / "namespace.sh")]
        for hours in (168, 72):
            given = {**environment, "RETENTION": f"{hours}h"}
            subprocess.run(script, env=given, check=True, capture_output=True, timeout=120)
            client = await server.client("made")
            request = DescribeNamespaceRequest(namespace="made")
            described = await client.workflow_service.describe_namespace(request)
            assert described.config.workflow_execution_retention_ttl.ToTimedelta().total_seconds() == hours * 3600
