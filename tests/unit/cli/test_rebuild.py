"""`mem rebuild` and what it prints."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.progress import progress_bar
from mem.domain.accepting import MadeProjection, Projection
from mem.domain.errors import JournalCorrupt, Unavailable
from mem.domain.journal import Head
from mem.domain.rebuild import RebuildReport
from mem.domain.regenerating import Proposal, RegenerateReport
from mem.domain.replaying import Difference, Progress, ReplayReport, TableReport
from tests.unit.cli.instead import connect

app = app_for(())

run = CliRunner().invoke
SHA = "a" * 64


def table(name: str, **fields) -> TableReport:
    same = {"rows": 2, "digest": "d" * 64, "replayed_rows": 2, "replayed_digest": "d" * 64}
    return TableReport(table=name, **{**same, **fields})


WRONG = table(
    "memory_node", rows=1, replayed_digest="e" * 64, differing=1, differences=[Difference(key=SHA, what="missing")]
)
OLD = Projection(text="kept\ngone", model_id="m0", prompt_sha="p0")
NEW = MadeProjection(text="kept\ncame", model_id="m1", prompt_sha="p1")


class StubClient:
    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []
        self.report = RebuildReport(algo=2, memories=3, unchanged=5)
        self.tables = [table("memory_node"), table("skill")]

    async def check(self, *needed: str) -> None:
        self.asked.append(("check", needed == ("writes",)))

    async def rebuild(self, *, check: bool = False, watch: object = None) -> RebuildReport:
        self.asked.append(("rebuild", check))
        return self.report.model_copy(update={"check": check})

    async def replay(self, *, check: bool = False, watch: object = None) -> ReplayReport:
        self.asked.append(("replay", check))
        return ReplayReport(check=check, records=7, head=SHA, tables=self.tables if check else [])

    async def regenerate(self, *, apply: bool = False, watch: object = None) -> RegenerateReport:
        self.asked.append(("regenerate", apply))
        return RegenerateReport(
            apply=apply, model_id="m1", prompt_sha="p1", memories=3, same=1, different=1, refused=1, applied=int(apply)
        )


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()

    async def proposals() -> AsyncIterator[Proposal]:
        yield Proposal(sha=SHA, recorded=OLD, proposed=NEW)
        yield Proposal(sha="b" * 64, recorded=OLD, proposed=None, refused="It says no.")
        yield Proposal(sha="c" * 64, recorded=OLD, proposed=MadeProjection(**OLD.model_dump()))

    connect(monkeypatch, "rebuild", stub)
    monkeypatch.setattr("mem.cli.rebuild._proposals", proposals)
    return stub


def test_a_rebuild_tells_its_counts(client):
    """What was looked at, what was new and what stayed; that something was new is no failure."""
    client.report = RebuildReport(algo=2, memories=1, new=2, changed=1, unchanged=4, differing=[SHA])
    result = run(app, ["rebuild"])
    counts = "2 derived, 1 corrected, 4 unchanged"
    told = f"looked at 1 memory; signatures of version 2: {counts}\n  rebuilt: {SHA}\n"
    assert (result.exit_code, result.stdout, client.asked) == (0, told, [("rebuild", False)])


@pytest.mark.parametrize(("found", "code"), [({}, 0), ({"new": 1}, 1), ({"changed": 1}, 1)], ids=str)
def test_a_check_exits_1_on_any_difference(client, found, code):
    """Missing and different alike, in both formats."""
    client.report = client.report.model_copy(update=found)
    for output in "text", "json":
        assert run(app, ["rebuild", "--check", "--format", output]).exit_code == code
    assert client.asked == [("rebuild", True)] * 2
    told = run(app, ["rebuild", "--check"]).stdout
    assert f"{found.get('new', 0)} missing, {found.get('changed', 0)} different, 5 unchanged" in told


def test_json_is_one_document(client):
    """The report stands on stdout, and nothing else."""
    assert json.loads(run(app, ["rebuild", "--format", "json"]).stdout) == {
        "check": False, "algo": 2, "memories": 3, "new": 0, "changed": 0, "unchanged": 5, "differing": [],
    }  # fmt: skip


def test_from_log_replays_the_journal(client):
    """It says up to which record, and asks for nothing else."""
    result = run(app, ["rebuild", "--from-log"])
    told = f"every projection rebuilt from 7 records, head {SHA}\n"
    assert (result.exit_code, result.stdout, client.asked) == (0, told, [("replay", False)])


def test_a_check_goes_through_the_tables(client):
    """Each table with its rows and digest; a row that differs is named, and makes it exit 1."""
    same = run(app, ["rebuild", "--from-log", "--check"])
    assert same.exit_code == 0
    assert "  memory_node: same, 2 rows, dddddddddddd\n  skill: same" in same.stdout
    client.tables = [WRONG, table("skill")]
    wrong = run(app, ["rebuild", "--from-log", "--check"])
    assert wrong.exit_code == 1
    assert f"  memory_node: 1 row differs, 1 there, 2 by the journal\n    missing: {SHA}\n  skill: same" in wrong.stdout
    document = run(app, ["rebuild", "--from-log", "--check", "--format", "json"])
    assert document.exit_code == 1
    assert json.loads(document.stdout)["tables"][0]["differences"] == [{"key": SHA, "what": "missing"}]


def test_a_file_is_imported_first(client, monkeypatch):
    """Once it is known that a worker is there, and before the rebuild; a file that does not hold ends it."""

    async def import_export(path: str, watch: object) -> Head:
        client.asked.append((path, True))
        if path == "bad":
            raise JournalCorrupt("Line 3 was changed.", "Export the journal again.")
        return Head(7, SHA)

    monkeypatch.setattr("mem.cli.rebuild.import_export", import_export)
    assert run(app, ["rebuild", "--from-log", "journal.jsonl"]).exit_code == 0
    assert client.asked == [("check", True), ("journal.jsonl", True), ("replay", False)]
    client.asked.clear()
    result = run(app, ["rebuild", "--from-log", "bad"])
    assert (result.exit_code, result.stderr) == (1, "error: Line 3 was changed. Export the journal again.\n")
    assert client.asked == [("check", True), ("bad", True)]


def test_a_regeneration_shows_what_would_change(client):
    """Per memory the lines that go and come, under both models and prompts; one that stays is not shown."""
    result = run(app, ["rebuild", "--regenerate"])
    diff = f"{SHA}\n--- m0, prompt p0\n+++ m1, prompt p1\n  kept\n- gone\n+ came\n{'b' * 64}\n  refused: It says no.\n"
    assert result.stdout.startswith(diff)
    assert "c" * 64 not in result.stdout
    assert "asked m1 about 3 memories: 1 as recorded" in result.stdout
    assert "nothing was changed" in result.stdout
    assert (result.exit_code, client.asked) == (0, [("regenerate", False)])
    applied = run(app, ["rebuild", "--from-log", "--regenerate", "--apply"])
    assert applied.stdout.startswith(diff)
    assert applied.stdout.endswith("recorded 1\n")
    assert client.asked[1:] == [("regenerate", True)]
    document = json.loads(run(app, ["rebuild", "--regenerate", "--format", "json"]).stdout)
    assert [one["sha"] for one in document["proposals"]] == [SHA, "b" * 64]
    assert document["different"] == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--apply"], "--apply belongs to --regenerate"),
        (["--regenerate", "--check"], "--regenerate changes nothing"),
        (["journal.jsonl"], "only by --from-log"),
        (["--from-log", "journal.jsonl", "--regenerate"], "only by --from-log"),
        (["--from-log", "journal.jsonl", "--check"], "--check changes nothing"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(client, options, told):
    """Each is refused with what to do instead, before anything is asked."""
    result = run(app, ["rebuild", *options])
    assert (result.exit_code, result.stdout, client.asked) == (2, "", [])
    assert told in result.stderr


class Terminal:
    written: ClassVar[list[str]] = []

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.written.append(text)

    def flush(self) -> None:
        pass


def test_a_bar_stands_on_a_terminal_alone(monkeypatch, capsys):
    """It tells stage, done and total on stderr; where that is no terminal there is none, and nobody is asked."""
    with progress_bar() as watch:
        assert watch is None
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar() as watch:
        watch(Progress(phase="replay", done=40, total=120))
    assert re.search(r"replay.*40/120", "".join(Terminal.written), re.DOTALL)
    assert capsys.readouterr().out == ""


def test_the_help_says_what_it_rebuilds():
    """Only what works is offered."""
    told = run(app, ["rebuild", "--help"]).stdout
    for word in ("signatures", "--check", "--from-log", "--regenerate", "--apply", "FILE"):
        assert word in told


def test_where_nothing_runs_it_is_one_clear_line(monkeypatch):
    """No worker is exit 1 with the remedy."""
    connect(monkeypatch, "rebuild", Unavailable("Temporal does not answer.", "Start it: `mem up`."))
    result = run(app, ["rebuild", "--check"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: Temporal does not answer. Start it: `mem up`.\n"
