"""What a caller sees who brings something wrong: one clear line or one problem document, and nothing is lost."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import ROOT, Loop

LOG = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"
CANDIDATE = {
    "project": "bad-input",
    "level": "L1",
    "text": "The registry mirror serves stale metadata after midnight; purge its cache before the nightly build.",
    "evidence": [{"source": "ci:1", "turn": 0, "text": LOG}],
}


def one_line(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(("request id:", "note:"))]
    assert len(lines) == 1, text
    assert lines[0].startswith("error: ")
    return lines[0]


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("content", "says"), [(b"", "is empty"), (b" \n\n", "is empty"), (b"\x7fELF\x02\x01\x00\x00" * 100, "binary")]
)
async def test_a_log_that_is_none_is_refused_in_one_line(loop: Loop, tmp_path: Path, content: bytes, says: str) -> None:
    """An empty or binary file is named as such, with exit code 2."""
    log = tmp_path / "ci.log"
    log.write_bytes(content)
    result = await loop.mem("lookup", "--project", "p", "--file", str(log))
    assert result.code == 2
    assert says in one_line(result.err)
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--project", "p"], "--file LOG, --task TEXT or --tool"),
        (["--project", "no spaces", "--tool", "npm"], "project"),
        (["--project", "p", "--tool", "npm", "--request-id", "ä"], "request_id"),
        (["--project", "p", "--tool", "npm", "--budget", "0"], "budget"),
        (["--project", "p", "--tool", "npm", "--scope", "galaxy"], "scope"),
        (["--project", "p", "--file", "/no/such/file"], "cannot be read"),
    ],
)
async def test_a_wrong_lookup_is_refused_in_one_line(loop: Loop, arguments: list[str], says: str) -> None:
    """Each fault is named by its field, with exit code 2."""
    result = await loop.mem("lookup", *arguments)
    assert result.code == 2
    assert says in one_line(result.err)


@pytest.mark.parametrize(("prefix", "says"), [("ffffffff", "ffffffff"), ("zz", "zz"), ("ab", "ab")])
async def test_a_sha_prefix_that_names_nothing_is_told(loop: Loop, prefix: str, says: str) -> None:
    """An unknown, malformed or too short prefix gives one line that repeats it."""
    result = await loop.mem("symptoms", "show", prefix)
    assert result.code in (1, 2)
    assert says in one_line(result.err)


async def test_an_ambiguous_prefix_names_what_it_could_mean(loop: Loop) -> None:
    """Two shas with one prefix are told apart by the user, not by chance."""
    for digit in ("0", "1"):
        loop.rows(
            "INSERT INTO mem.memory_node (sha, plain_sha, level, project, visibility, text) "
            "SELECT sha, sha, 'L1', 'twins', 'global', 'twin' FROM (SELECT 'beefbeef' || repeat(%s, 56)) AS made (sha) "
            "RETURNING 1",
            digit,
        )
    result = await loop.mem("symptoms", "show", "beefbeef")
    # No record of the journal made them, so a check would find them.
    loop.rows("DELETE FROM mem.memory_node WHERE sha LIKE 'beefbeef%%' RETURNING sha")
    assert result.code == 1
    assert "beefbeef0" in one_line(result.err)
    assert "beefbeef1" in result.err


async def test_another_body_under_a_used_request_id_is_refused_and_the_first_stands(loop: Loop) -> None:
    """The conflict is told on both doors, and the first candidate is untouched."""
    body = {**CANDIDATE, "request_id": "used"}
    first = await loop.post("/memory/accept", body)
    conflict = await loop.post("/memory/accept", {**body, "text": CANDIDATE["text"] + " Always."})
    assert conflict.status_code == 409
    assert conflict.json()["title"] == "RequestConflict"
    again = await loop.mem("accept", "-", "--format", "json", stdin=json.dumps({**body, "tool": "npm"}).encode())
    assert again.code == 1
    assert "used before" in one_line(again.err)
    assert (await loop.post("/memory/accept", body)).content == first.content


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        ({"project": "a/b"}, 422, "project"),
        ({"project": "x" * 65}, 422, "project"),
        ({"request_id": "line\nbreak"}, 422, "request_id"),
        ({"request_id": "x" * 201}, 422, "request_id"),
        ({"text": " "}, 422, "empty"),
        ({"text": "x" * 9000}, 413, "8192"),
        ({"level": "L0"}, 422, "level"),
        ({"surprise": 1}, 422, "surprise"),
        ({"evidence": [{"source": "a", "text": "word " * 1000 + str(n)} for n in range(300)]}, 413, "in all"),
    ],
)
async def test_a_wrong_candidate_is_a_problem_document(
    loop: Loop, change: dict[str, Any], status: int, says: str
) -> None:
    """Each fault has its status and is named by its field, as problem JSON."""
    response = await loop.post("/memory/accept", {**CANDIDATE, "request_id": "wrong", **change})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert says in response.json()["detail"]


async def test_a_body_over_32_mb_is_413_and_one_below_is_distilled(loop: Loop) -> None:
    """A large log is looked up by its failing parts; one beyond the limit is refused."""
    passing = "tests/test_ok.py::test_fine PASSED\n" * 100_000
    body = {"request_id": "large", "project": "p", "signature_source": passing + LOG}
    response = await loop.post("/memory/context", body)
    assert response.status_code == 200
    assert [signature["tool"] for signature in response.json()["signatures"]] == ["npm"]
    assert "distilled" in response.headers["mem-note"]
    over = await loop.post("/memory/context", {**body, "signature_source": "x" * (33 * 1024 * 1024)})
    assert over.status_code == 413


async def test_the_header_names_the_request_or_the_server_does(loop: Loop) -> None:
    """Idempotency-Key is the request id; two different ones are refused; none gets one made."""
    body = {"project": "p", "tool": "npm"}
    named = await loop.post("/memory/context", body, **{"Idempotency-Key": "by-header"})
    assert named.headers["mem-request-id"] == "by-header"
    both = await loop.post("/memory/context", {**body, "request_id": "other"}, **{"Idempotency-Key": "by-header"})
    assert both.status_code == 422
    made = await loop.post("/memory/context", body)
    assert made.headers["mem-request-id"].startswith("made-")


async def test_what_is_no_json_is_a_problem_document(loop: Loop) -> None:
    """A broken body is told as such, and so is one of another type."""
    async with httpx2.AsyncClient(base_url=loop.stack.http) as client:
        for kind, status in (("application/json", 422), ("text/plain", 415)):
            response = await client.post("/memory/context", content=b"{not json", headers={"content-type": kind})
            assert response.status_code == status
            assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("command", "address_of"),
    [
        (["worker"], "MEM_DATABASE_URL"),
        (["worker"], "TEMPORAL_ADDRESS"),
        (["serve"], "TEMPORAL_ADDRESS"),
        (["lookup", "--project", "p", "--tool", "npm"], "TEMPORAL_ADDRESS"),
        (["migrate"], "MEM_DATABASE_URL"),
        (["log", "verify"], "MEM_DATABASE_URL"),
    ],
)
async def test_a_part_that_does_not_answer_is_named_by_its_address(
    loop: Loop, tmp_path: Path, command: list[str], address_of: str
) -> None:
    """What needs a server that is down says which address it tried and what to do, and shows no password."""
    port = closed_port()
    environment = {
        "MEM_HOME": str(tmp_path),
        "MEM_DATABASE_URL": loop.stack.database_url,
        "TEMPORAL_ADDRESS": loop.stack.temporal.address,
        "MEM_TASK_QUEUE": "nobody",
    }
    down = {
        "MEM_DATABASE_URL": f"postgresql://mem:secret@127.0.0.1:{port}/mem",
        "TEMPORAL_ADDRESS": f"127.0.0.1:{port}",
    }
    run = await loop.mem(*command, env=environment | {address_of: down[address_of]})
    assert run.code == 1
    assert f"127.0.0.1:{port}" in one_line(run.err)
    assert "secret" not in run.err


def test_without_a_stack_the_remedy_is_to_start_one(tmp_path: Path) -> None:
    """A command that finds neither environment nor stack says how to get one."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "TEMPORAL_"))}
    for command in (["lookup", "--project", "p", "--tool", "npm"], ["log", "verify"]):
        run = subprocess.run(
            [sys.executable, "-m", "mem.cli.main", *command],
            env={**environment, "MEM_HOME": str(tmp_path)},
            cwd=ROOT,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert run.returncode == 1
        assert "mem up" in one_line(run.stderr.decode())
