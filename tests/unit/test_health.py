"""What a process tells of itself, and what the command makes of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueResponse
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.worker_health import NOT_POLLED, telling_polls
from mem.domain.errors import ConfigurationError
from mem.health import FRESH_SECONDS, fault, tell, telling_door


@pytest.fixture
def file(tmp_path):
    return tmp_path / "health.json"


def worker_told(file, *, ago: float = 0.0, **queues: str | None) -> None:
    tell(file, {"told": time.monotonic() - ago, "queues": queues})


def test_a_worker_that_polls_is_well(file):
    """It told so lately."""
    worker_told(file, mem=None)
    assert fault(file) is None


def test_a_worker_that_does_not_poll_is_not_well_and_lives(file):
    """It can do no work; that is no reason to end it, which would change nothing."""
    worker_told(file, ago=FRESH_SECONDS - 5, **{"mem": None, "mem-writes": NOT_POLLED})
    assert fault(file) == f"task queue mem-writes: {NOT_POLLED}"
    assert fault(file, live=True) is None


def test_a_worker_that_hangs_does_not_live(file):
    """It has not told for a minute."""
    worker_told(file, ago=FRESH_SECONDS + 5, mem=None)
    assert "65 s ago" in str(fault(file))
    assert "65 s ago" in str(fault(file, live=True))


@pytest.mark.parametrize("content", ["[]", "{}", "5", '{"port": "x", "host": 1}', '{"told": "x", "queues": []}'])
def test_a_file_of_something_else_is_told(file, content):
    """In a line, as all that is wrong."""
    file.write_text(content)
    assert "holds no state" in str(fault(file))


def test_who_tells_nothing_is_not_well(file):
    """A process that has not come so far, or has ended, has no file; half a file is none either."""
    assert "is not there" in str(fault(file))
    file.write_text("{")
    assert "cannot be read" in str(fault(file))


@pytest.fixture
def door():
    """A server whose paths answer as told."""
    statuses = {"/healthz": 200, "/readyz": 503}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses[self.path])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quietly."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield SimpleNamespace(port=server.server_address[1], statuses=statuses)
        server.shutdown()
        serving.join(timeout=10)


def test_a_door_is_asked_itself(file, door):
    """It is well while it is ready, and lives while it answers; one that listens everywhere is asked from here."""
    with telling_door(file, "0.0.0.0", door.port):
        assert fault(file) == "/readyz answers with status 503"
        assert fault(file, live=True) is None
        door.statuses["/readyz"] = 200
        assert fault(file) is None
    assert not file.exists()


def test_a_door_that_is_gone_is_not_well(file, door):
    """A process that was killed left its file, and nobody answers there."""
    tell(file, {"host": "127.0.0.1", "port": 1, "ready": "/readyz", "live": "/healthz"})
    assert "does not answer" in str(fault(file, live=True))


def ask(file) -> subprocess.CompletedProcess[str]:
    """Run the command, and let it tell afterwards what it imported."""
    code = (
        "import sys; sys.path.insert(0, '.'); import mem.health; code = mem.health.main(); "
        "print(sorted({name.split('.')[0] for name in sys.modules})); sys.exit(code)"
    )
    environment = {} if file is None else {"MEM_HEALTH_FILE": str(file)}
    command = [sys.executable, "-I", "-S", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_is_light_and_tells_by_its_exit_code(file):
    """It runs every few seconds: nothing but the standard library is imported."""
    worker_told(file, mem=None)
    done = ask(file)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "well")
    assert not {"pydantic", "temporalio", "structlog"} & set(json.loads(done.stdout.splitlines()[1].replace("'", '"')))
    worker_told(file, mem=NOT_POLLED)
    done = ask(file)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, f"task queue mem: {NOT_POLLED}")
    assert ask(None).returncode == 2


class Temporal:
    """A client of a server that knows pollers by their identity, or does not answer."""

    namespace = "default"
    identity = "1@here"

    def __init__(self) -> None:
        self.pollers: list[str] | None = []
        self.asked = asyncio.Event()
        self.workflow_service = self

    async def describe_task_queue(self, request: object) -> DescribeTaskQueueResponse:
        if self.pollers is None:
            raise RPCError("away", RPCStatusCode.UNAVAILABLE, b"")
        told = DescribeTaskQueueResponse()
        for identity in self.pollers:
            poller = PollerInfo(identity=identity)
            poller.last_access_time.GetCurrentTime()
            told.pollers.append(poller)
        return told


async def told(file, expected: str | None) -> None:
    async with asyncio.timeout(30):
        while fault(file) != expected:
            await asyncio.sleep(0.01)


async def test_a_worker_tells_whether_it_is_seen_to_poll(file, monkeypatch):
    """Another worker on its queue is not itself; and a server that is away makes it unable to work, not dead."""
    monkeypatch.setattr("mem.clients.temporal.worker_health.FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("mem.clients.temporal.worker_health.PAUSE_SECONDS", 0.01)
    client = Temporal()
    client.pollers = ["1@elsewhere"]
    async with telling_polls(client, ["mem"], file):
        await told(file, f"task queue mem: {NOT_POLLED}")
        client.pollers = ["1@elsewhere", "1@here"]
        await told(file, None)
        client.pollers = None
        await told(file, "task queue mem: Temporal does not answer")
        assert fault(file, live=True) is None
    assert not file.exists()


async def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path):
    """A health check that could never succeed is a fault of the settings."""
    with pytest.raises(ConfigurationError, match="MEM_HEALTH_FILE"):
        async with telling_polls(Temporal(), ["mem"], tmp_path / "missing" / "health.json"):
            pass
