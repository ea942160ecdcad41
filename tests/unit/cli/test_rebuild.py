"""`mem rebuild` and what it prints."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.errors import Unavailable
from mem.domain.rebuild import RebuildReport

app = app_for(())

run = CliRunner().invoke
SHA = "a" * 64


class StubClient:
    def __init__(self) -> None:
        self.checks: list[bool] = []
        self.report = RebuildReport(algo=2, memories=3, unchanged=5)

    async def rebuild(self, *, check: bool = False) -> RebuildReport:
        self.checks.append(check)
        return self.report.model_copy(update={"check": check})


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()

    async def connected() -> StubClient:
        return stub

    monkeypatch.setattr("mem.cli.rebuild.connected", connected)
    return stub


def test_a_rebuild_tells_its_counts(client):
    """What was looked at, what was new and what stayed; that something was new is no failure."""
    client.report = RebuildReport(algo=2, memories=1, new=2, changed=1, unchanged=4, differing=[SHA])
    result = run(app, ["rebuild"])
    counts = "2 derived, 1 corrected, 4 unchanged"
    told = f"looked at 1 memory; signatures of version 2: {counts}\n  rebuilt: {SHA}\n"
    assert (result.exit_code, result.stdout, client.checks) == (0, told, [False])


@pytest.mark.parametrize(("found", "code"), [({}, 0), ({"new": 1}, 1), ({"changed": 1}, 1)], ids=str)
def test_a_check_exits_1_on_any_difference(client, found, code):
    """Missing and different alike, in both formats."""
    client.report = client.report.model_copy(update=found)
    for output in "text", "json":
        assert run(app, ["rebuild", "--check", "--format", output]).exit_code == code
    assert client.checks == [True, True]
    told = run(app, ["rebuild", "--check"]).stdout
    assert f"{found.get('new', 0)} missing, {found.get('changed', 0)} different, 5 unchanged" in told


def test_json_is_one_document(client):
    """The report stands on stdout, and nothing else."""
    assert json.loads(run(app, ["rebuild", "--format", "json"]).stdout) == {
        "check": False, "algo": 2, "memories": 3, "new": 0, "changed": 0, "unchanged": 5, "differing": [],
    }  # fmt: skip


def test_the_help_says_what_it_rebuilds():
    """Only what works is offered."""
    told = run(app, ["rebuild", "--help"]).stdout
    assert "signatures" in told
    assert "--check" in told
    assert "--from-log" not in told


def test_where_nothing_runs_it_is_one_clear_line(monkeypatch):
    """No worker is exit 1 with the remedy."""

    async def connected() -> None:
        raise Unavailable("Temporal does not answer.", "Start it: `mem up`.")

    monkeypatch.setattr("mem.cli.rebuild.connected", connected)
    result = run(app, ["rebuild", "--check"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: Temporal does not answer. Start it: `mem up`.\n"
