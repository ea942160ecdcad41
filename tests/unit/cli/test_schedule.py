"""`mem schedule`: what it asks for, and how it tells what there is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.replaying import NightlyCheck, NightlyRun

app = app_for(["schedule"])
run = CliRunner().invoke
NIGHT = datetime(2026, 12, 2, 3, 0, tzinfo=UTC)


class Memory:
    """A client that keeps what it was asked."""

    def __init__(self) -> None:
        self.at: time | None = None
        self.found: NightlyCheck | None = None

    async def schedule_check(self, at: time) -> None:
        self.at = at

    async def scheduled_check(self) -> NightlyCheck | None:
        return self.found


@pytest.fixture
def memory(monkeypatch) -> Memory:
    made = Memory()

    async def connected() -> Memory:
        return made

    monkeypatch.setattr("mem.cli.schedule.connected", connected)
    return made


def nightly(state: str | None = None, **fields) -> NightlyCheck:
    last = state and NightlyRun(workflow_id="check:journal-1", started=NIGHT, state=state, **fields)
    return NightlyCheck(schedule_id="s", paused=False, next=NIGHT, skipped=0, missed=0, last=last or None)


@pytest.mark.parametrize(("arguments", "at"), [([], time(3, 0)), (["--at", "23:15"], time(23, 15))])
def test_it_is_switched_on_for_a_time(memory, arguments, at):
    """Three in the morning, or what is said; the answer is what there is now."""
    memory.found = nightly()
    result = run(app, ["schedule", "on", *arguments])
    assert (result.exit_code, memory.at) == (0, at)
    assert result.stdout == "next check: 2026-12-02 03:00 UTC\nlast check: none yet\n"


@pytest.mark.parametrize("at", ["25:00", "3", "noon", "03:00:00"])
def test_what_is_no_time_of_day_is_bad_input(memory, at):
    """Exit 2, and nothing is scheduled."""
    result = run(app, ["schedule", "on", "--at", at])
    assert (result.exit_code, result.stdout, memory.at) == (2, "", None)
    assert result.stderr.startswith(f"error: {at!r} is no time of day.")


@pytest.mark.parametrize(
    ("found", "code", "told"),
    [
        (None, 1, "There is no nightly check"),
        (nightly(), 0, "last check: none yet"),
        (nightly("same"), 0, "every table is what the journal makes it"),
        (nightly("differs", differing={"skill": 2}), 1, "skill: 2 rows differ"),
        (nightly("failed"), 1, "it failed"),
    ],
)
def test_it_is_shown_with_what_came_of_the_last_night(memory, found, code, told):
    """Exit 1 where there is none, and where somebody has to look."""
    memory.found = found
    result = run(app, ["schedule", "show"])
    assert (result.exit_code, told in result.stdout) == (code, True)
    document = run(app, ["schedule", "show", "--format", "json"])
    assert json.loads(document.stdout) == (None if found is None else found.model_dump(mode="json"))
