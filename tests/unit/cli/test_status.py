"""`mem status`: what it says of the acceptance rate, and where runs can be seen."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.acceptance_rate import AcceptanceRate
from mem.local import PartStatus, StackStatus

app = app_for(())
run = CliRunner().invoke
PART = PartStatus(name="postgres", running=True, answering=True, pid=7, address="127.0.0.1", uptime_seconds=5)
UI = "http://127.0.0.1:8233"
RATE = AcceptanceRate(accepted=2, rejected=5, duplicate=1, pending=1)


@pytest.fixture
def shown(monkeypatch):
    """The output of the command for a rate, with a stack that runs or without one."""

    def show(rate: AcceptanceRate | None, *options: str, parts=(PART,)) -> str:
        async def status(*_, **__) -> StackStatus:
            ui = UI if parts else None
            return StackStatus(home="h", running=bool(parts), http=None, ui=ui, parts=parts, acceptance=rate)

        monkeypatch.setattr("mem.local.stack_status", status)
        result = run(app, ["status", *options])
        assert result.exit_code == (0 if parts else 1)
        return result.stdout

    return show


def test_the_share_is_told_with_its_counts_and_its_aim(shown):
    """A person reads the share, how the candidates ended, and what the gate is meant to keep."""
    told = shown(RATE)
    assert "acceptance: 25% of 8 (2 accepted, 5 rejected, 1 duplicate, 1 pending)" in told
    assert "meant to keep it under 30%" in told


def test_the_document_has_counts_and_share(shown):
    """A program reads the same numbers."""
    document = json.loads(shown(RATE, "--format", "json"))
    expected = {"accepted": 2, "rejected": 5, "duplicate": 1, "pending": 1, "share": 0.25}
    assert document["acceptance"] == expected


def test_an_empty_journal_and_a_silent_database_are_told(shown):
    """Neither is an error, and the document has null where nothing is known."""
    assert "nothing was handed in yet" in shown(AcceptanceRate())
    assert "unknown" in shown(None)
    assert json.loads(shown(None, "--format", "json"))["acceptance"] is None


def test_a_given_database_is_asked_without_a_stack(shown):
    """Where no stack runs the rate of the database that the environment names is told."""
    assert "acceptance: 25%" in shown(RATE, parts=())
    assert "acceptance" not in shown(None, parts=())


def test_the_ui_is_told_where_a_stack_runs(shown):
    """A person finds Temporal's UI, whose port is another one at each start."""
    assert f"Temporal UI: {UI}\n" in shown(RATE)
    assert "UI" not in shown(RATE, parts=())
