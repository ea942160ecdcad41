"""Every entry point of the image, run outside Docker from the built wheel, an app folder and a clean environment."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import yaml

from tests.deploy.image import ROOT, Image, make_image
from tests.temporal_server import eventually, running_temporal

pytestmark = pytest.mark.slow

COMPOSE = ROOT / "docker" / "compose.yaml"
LOG = "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error peer react@17 from chart@3.1.0\n"
LESSON = {
    "request_id": "lesson",
    "project": "billing",
    "level": "L1",
    "text": "npm ci stopped with ERESOLVE: the chart package wants react 17. Pin react with an override until then.",
    "evidence": [{"source": "ci:812", "turn": 4, "text": LOG}],
}


class Place(NamedTuple):
    """Where the processes of the image find what is theirs."""

    image: Image
    secrets: Path
    given: dict[str, str]

    def start(self, name: str, *, command: list[str] | None = None, **given: str) -> Process:
        """Start a service of compose.yaml, or another command of the image, as its container would."""
        service = _services().get(name, {})
        tmp = self.image.root / f"tmp-{name}"
        tmp.mkdir()
        if self.image.user is not None:
            os.chown(tmp, self.image.user, self.image.user)
        said = {key: _expanded(value) for key, value in service.get("environment", {}).items()}
        environment = self.image.environment(tmp, self.secrets, {**said, **self.given, **given})
        words = [*self.image.stage.command, *(command or service.get("command") or self.image.stage.default)]
        log = (self.image.root / f"{name}.log").open("wb")
        return Process(self, self._run(words, environment, stdout=log, stderr=log), environment, Path(log.name))

    def _run(self, words: list[str], environment: dict[str, str], **streams: Any) -> subprocess.Popen[bytes]:
        program = shutil.which(words[0], path=environment["PATH"])
        assert program is not None, words
        user = self.image.user
        as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        return subprocess.Popen(
            [program, *words[1:]], env=environment, cwd=self.image.app, stdin=subprocess.DEVNULL, **as_user, **streams
        )


class Process(NamedTuple):
    """A process of the image."""

    place: Place
    running: subprocess.Popen[bytes]
    environment: dict[str, str]
    log: Path

    async def ended(self, code: int = 0) -> str:
        """What it said, once it ended with a code."""
        assert await asyncio.to_thread(self.running.wait, 120) == code, self.log.read_text()
        return self.log.read_text()

    async def health(self) -> tuple[int, str]:
        """What the health check of the image says, run beside it as Docker does."""
        asking = self.place._run(self.place.image.stage.health, self.environment, stdout=subprocess.PIPE)
        told, _ = await asyncio.to_thread(asking.communicate, None, 60)
        return asking.returncode, told.decode()

    async def well(self) -> bool:
        assert self.running.poll() is None, self.log.read_text()
        return (await self.health())[0] == 0

    async def stopped(self) -> None:
        """Told to end, it does so in order, and tells nothing of its health any more."""
        self.running.send_signal(signal.SIGTERM)
        await self.ended()
        assert (await self.health())[0] == 1


def _services() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]


def _expanded(value: str) -> str:
    """A value as compose makes it where no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    root = Path("/tmp") / f"mem-image-{os.getpid()}"
    root.mkdir(mode=0o755)
    yield make_image(root)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def secrets(image: Image) -> Path:
    """What docker/make-secrets.sh makes; root's go to the image's user."""
    folder = image.root / "docker"
    folder.mkdir()
    shutil.copy(ROOT / "docker" / "make-secrets.sh", folder)
    subprocess.run([folder / "make-secrets.sh"], check=True, capture_output=True, timeout=60)
    return folder / "secrets"


@pytest.fixture
async def place(image: Image, secrets: Path, empty_database_url: str) -> AsyncIterator[Place]:
    (secrets / "MEM_DATABASE_URL").write_text(f"{empty_database_url}\n")
    async with running_temporal("mem") as server:
        yield Place(image, secrets, {"TEMPORAL_ADDRESS": server.address})


@asynccontextmanager
async def started(*processes: Process) -> AsyncIterator[None]:
    """Wait until each is well; whatever comes, none is left behind."""
    try:
        for each in processes:
            await eventually(each.well)
        yield
    finally:
        for each in processes:
            if each.running.poll() is None:
                each.running.kill()
                each.running.wait(timeout=60)


async def test_every_entry_point_works(place: Place):
    """Migration, both workers, gateway and MCP server do their work as the image's user, and end in order."""
    said = await place.start("migrate", MEM_METRICS_ADDRESS="").ended()
    assert "vector index" in said
    assert "local" not in said
    http, mcp = _free_port(), _free_port()
    worker = place.start("worker", MEM_METRICS_ADDRESS=f"127.0.0.1:{_free_port()}")
    writer = place.start("writer", MEM_METRICS_ADDRESS=f"127.0.0.1:{_free_port()}")
    local = {"MEM_HTTP_HOST": "127.0.0.1", "MEM_TOKENS_FILE": "/run/secrets/tokens", "MEM_METRICS_ADDRESS": ""}
    gateway = place.start("gateway", **{**local, "MEM_HTTP_PORT": http})
    alone = {**local, "MEM_TASK_QUEUE": "mem", "TEMPORAL_NAMESPACE": "mem"}
    agents = place.start("mcp", command=["mcp", "--http", "--port", mcp, "--project", "billing"], **alone)
    processes = (worker, writer, gateway, agents)
    async with started(*processes), httpx2.AsyncClient(timeout=120) as caller:
        bearer = {"Authorization": f"Bearer {(place.secrets / 'admin_token').read_text()}"}
        base = f"http://127.0.0.1:{http}"
        assert (await caller.post(f"{base}/memory/accept", json=LESSON)).status_code == 401
        accepted = await caller.post(f"{base}/memory/accept", json=LESSON, headers=bearer)
        assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted"), accepted.text
        asked = {"request_id": "again", "project": "billing", "signature_source": LOG}
        answer = await caller.post(f"{base}/memory/context", json=asked, headers=bearer)
        assert (answer.status_code, answer.json()["tier"]) == (200, 1), answer.text
        metrics = {"Authorization": f"Bearer {(place.secrets / 'metrics_token').read_text()}"}
        counted = await caller.get(f"{base}/metrics", headers=metrics)
        assert 'mem_lookups_total{tier="1"} 1.0' in counted.text
        assert (await caller.post(f"{base}/memory/context", json=asked, headers=metrics)).status_code == 403
        client = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        opening = {"protocolVersion": "2025-06-18", **client}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}
        accepts = {"Accept": "application/json, text/event-stream", **bearer}
        greeted = await caller.post(f"http://127.0.0.1:{mcp}/mcp", json=hello, headers=accepts)
        assert (greeted.status_code, "serverInfo" in greeted.text) == (200, True)
        for each in reversed(processes):
            await each.stopped()
