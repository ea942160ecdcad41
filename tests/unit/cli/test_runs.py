"""`mem runs`, what it prints, and the page of ready filters."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.runs_report import told_runs
from mem.cli.terminal import printed
from mem.clients.temporal.list_filter import list_filter
from mem.domain.runs import Run, RunsAnswer, RunsRequest
from tests.ready_filters import NOON, ready_filters

app = app_for(("runs",))

run = CliRunner().invoke
FILTER = 'MemTool = "npm" AND MemTier = "1"'
URL = "http://ui/namespaces/default/workflows?query=MemTool%20%3D%20%22npm%22%20AND%20MemTier%20%3D%20%221%22"


def ran(**fields: Any) -> Run:
    given = {
        "kind": "context", "workflow_id": "context:billing:run-811", "run_id": "r1", "request_id": "run-811",
        "project": "billing", "tool": "npm", "tier": "1", "outcome": "answered", "signatures": ["a" * 64],
        "degraded": [], "status": "completed", "started": NOON,
        "closed": NOON + timedelta(seconds=0.12), "seconds": 0.12,
    }  # fmt: skip
    return Run.model_validate({**given, **fields})


def listed(*runs: Run, **fields: Any) -> RunsAnswer:
    return RunsAnswer.model_validate({"filter": FILTER, "exact": True, "total": len(runs), "runs": runs, **fields})


class StubClient:
    def __init__(self) -> None:
        self.asked: list[RunsRequest] = []
        self.answer = listed(ran())

    async def runs(self, request: RunsRequest) -> RunsAnswer:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StubClient:
    stub = StubClient()

    async def connected() -> StubClient:
        return stub

    stack = {"ui": "http://ui", "temporal": {"address": "127.0.0.1:1", "namespace": "default"}}
    (tmp_path / "stack.json").write_text(json.dumps(stack), encoding="utf-8")
    monkeypatch.setenv("MEM_HOME", str(tmp_path))
    monkeypatch.delenv("TEMPORAL_ADDRESS", raising=False)
    monkeypatch.setattr("mem.cli.runs.connected", connected)
    return stub


@pytest.mark.parametrize(("what", "text", "command"), ready_filters(), ids=lambda each: each[:40])
def test_the_page_and_the_command_say_the_same(client, what, text, command):
    """Each line of the page of filters is a command that lists by the filter which stands beside it."""
    program, *words = command.split()
    assert program == "mem", what
    assert run(app, words).exit_code == 0
    assert list_filter(client.asked[-1], NOON) == (text, True)


def test_json_is_one_document(client):
    """The answer stands on stdout with the address of the same list in the UI, and nothing else anywhere."""
    result = run(app, ["runs", "--format", "json"])
    assert json.loads(result.stdout) == {"url": URL, **client.answer.model_dump(mode="json")}
    assert (result.exit_code, result.stderr) == (0, "")


def test_another_temporal_than_the_stacks_has_another_ui(client, monkeypatch):
    """The stack's UI would show the runs of the stack."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", "cluster:7233")
    assert json.loads(run(app, ["runs", "--format", "json"]).stdout)["url"] is None
    assert "http" not in run(app, ["runs"]).stdout


@pytest.mark.parametrize("output", ["text", "json"])
def test_no_run_is_exit_1(client, output):
    """The filter is printed all the same."""
    client.answer = listed()
    result = run(app, ["runs", "--format", output])
    assert (result.exit_code, result.stderr) == (1, "")
    told = f"no run\nfilter: {FILTER}\nin the UI: {URL}\n"
    assert result.stdout == told if output == "text" else json.loads(result.stdout)["runs"] == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--project", "a b"], "project.0: Use 1 to 64 letters, digits, '.', '_' and '-'"),
        (["--signature", "xyz"], "signature: should be 8 to 64 hexadecimal digits"),
        (["--since", "yesterday"], "since: should be an age such as 30m, 2h or 7d"),
        (["--outcome", "Accepted"], "outcome.0: "),
        (["--tier", "4"], "'4' is not one of '1', '2', '3', 'none'"),
        (["--kind", "lookup"], "'lookup' is not one of 'accept', 'context'"),
        (["--limit", "0"], "limit: Input should be greater than or equal to 1"),
    ],
)
def test_wrong_usage_names_what_is_right(client, options, told):
    """Nothing is asked, nothing stands on stdout, and the exit code is 2."""
    result = run(app, ["runs", *options], env={"TERM": "dumb"})
    assert (result.exit_code, result.stdout, client.asked) == (2, "", [])
    assert told in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


def test_the_list_is_read_in_columns():
    """Those that hold nothing are left out, an open run says for how long, and the id is last and whole."""
    waiting = ran(
        kind="accept", workflow_id="accept:tax:x  y", request_id="x  y", project="tax", tool=None, tier=None,
        outcome="pending", status="running", closed=None, seconds=None,
    )  # fmt: skip
    rebuilt = ran(
        kind="rebuild", workflow_id="check:journal", request_id=None, project=None, tool=None, tier=None,
        outcome=None, degraded=["text"], status="failed", seconds=7300.0,
    )  # fmt: skip
    answer = listed(waiting, rebuilt, ran(), total=34)
    lines = told_runs(answer, "http://ui/namespaces/n", now=NOON + timedelta(minutes=90))
    assert printed(lines, colour=False).splitlines() == [
        "3 of 34 runs",
        f"filter: {FILTER}",
        f"in the UI: {URL.replace('default', 'n')}",
        "",
        "started (UTC)        took         kind     status     outcome   tier  project  tool  degraded  request",
        "2026-07-02 12:00:00  open 90 min  accept   running    pending         tax                      x  y",
        "2026-07-02 12:00:00  2 h          rebuild  failed                                    text      check:journal",
        "2026-07-02 12:00:00  0.12 s       context  completed  answered  1     billing  npm             run-811",
    ]
    assert "\x1b]8;;http://ui/namespaces/n/workflows/accept%3Atax%3Ax%20%20y/r1\x1b\\x  y" in printed(
        lines, colour=True
    )


def test_a_filter_that_selects_more_says_so():
    """Whoever pastes it into the UI is told that its list is longer."""
    told = printed(told_runs(listed(ran(), exact=False, total=None), None), colour=False)
    assert told.splitlines()[:3] == [
        "1 run",
        f"filter: {FILTER}",
        "  selects more in the UI: Temporal cannot filter by all that was asked for",
    ]


def test_what_is_told_does_not_steer_a_terminal(client):
    """Whatever a run that somebody started by hand has for a tool or an id is printed without control characters."""
    client.answer = listed(ran(tool="n\x1b[2Jpm", request_id="a\x1b[1m\nb", degraded=["\x9b31m"]))
    told = run(app, ["runs"]).output
    assert not [char for char in told if (ord(char) < 32 and char != "\n") or 126 < ord(char) < 160]
    assert told.count("\n") == 6
