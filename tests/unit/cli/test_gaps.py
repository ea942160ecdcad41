"""`mem gaps` and what it prints."""

from __future__ import annotations

import json
from datetime import date

import pytest
from typer.testing import CliRunner

from mem.cli.gaps import told_gaps
from mem.cli.main import app_for
from mem.domain.errors import Unavailable
from mem.domain.gaps import Gap, GapsAnswer, GapsRequest
from tests.unit.cli.instead import open_reader

app = app_for(())

run = CliRunner().invoke


def gap(name: str = "a", **fields) -> Gap:
    given = {
        "sig_sha": name * 64,
        "sig_coarse": "c" * 64,
        "tool": "npm",
        "rule": "npm.eresolve",
        "code": "ERESOLVE",
        "message": "could not resolve",
        "seen_count": 3,
        "first_seen": date(2026, 5, 11),
        "last_seen": date(2026, 7, 2),
        "projects": ["billing"],
        "variants": 0,
        "known_variants": 0,
    }
    return Gap.model_validate({**given, **fields})


def answer(*gaps: Gap, **fields) -> GapsAnswer:
    given = {"project": None, "tool": None, "since": None, "total": len(gaps), "gaps": gaps}
    return GapsAnswer.model_validate({**given, **fields})


class StubReader:
    def __init__(self) -> None:
        self.asked: list[tuple[str, GapsRequest]] = []
        self.answer = answer(gap())


@pytest.fixture
def reader(monkeypatch) -> StubReader:
    stub = StubReader()

    async def gaps(request: GapsRequest) -> GapsAnswer:
        stub.asked.append((urls[-1], request))
        return stub.answer

    urls = open_reader(monkeypatch, gaps=gaps)
    return stub


def test_what_is_asked_is_what_was_given(reader):
    """Each option is sent under its name, and one that was not given is not sent."""
    options = ["--project", "p", "--tool", "npm", "--since", "7d", "--limit", "5"]
    assert run(app, ["gaps", *options]).exit_code == 0
    assert run(app, ["gaps"]).exit_code == 0
    assert [(url, each.model_dump(exclude_unset=True)) for url, each in reader.asked] == [
        ("postgresql://db/mem", {"project": "p", "tool": "npm", "since": "7d", "limit": 5}),
        ("postgresql://db/mem", {}),
    ]


def test_json_is_one_document(reader):
    """The answer stands on stdout, and nothing else anywhere."""
    result = run(app, ["gaps", "--format", "json"])
    assert json.loads(result.stdout) == reader.answer.model_dump(mode="json")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("output", ["text", "json"])
def test_no_gap_is_exit_1(reader, output):
    """The answer is printed all the same."""
    reader.answer = answer(project="p", tool="npm", since=date(2026, 7, 1))
    result = run(app, ["gaps", "--format", output])
    assert result.exit_code == 1
    told = "no gap: no failure was seen in project p of tool npm since 2026-07-01 that no memory explains\n"
    assert result.stdout == told if output == "text" else json.loads(result.stdout)["gaps"] == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--project", "a b"], "project: "),
        (["--tool", ""], "tool: "),
        (["--since", "yesterday"], "since: should be a date such as 2026-07-02, or days such as 7d"),
        (["--limit", "0"], "limit: Input should be greater than or equal to 1"),
        (["--limit", "1001"], "limit: Input should be less than or equal to 1000"),
    ],
)
def test_wrong_usage_is_one_clear_line(reader, options, told):
    """Nothing is asked, nothing stands on stdout, and the exit code is 2."""
    result = run(app, ["gaps", *options, "--format", "json"])
    assert (result.exit_code, result.stdout, reader.asked) == (2, "", [])
    assert result.stderr.startswith("error: ")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_a_database_the_error_says_so(monkeypatch, tmp_path):
    """Where none is known, or it does not answer, the exit code is 1 and a line says what to do."""
    monkeypatch.delenv("MEM_DATABASE_URL", raising=False)
    monkeypatch.setenv("MEM_HOME", str(tmp_path))
    result = run(app, ["gaps"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Start one with `mem up`, or set MEM_DATABASE_URL." in result.stderr

    def open_reader(_: str) -> None:
        raise Unavailable("Postgres at db:5432 does not answer.", "Start it.")

    monkeypatch.setenv("MEM_DATABASE_URL", "postgresql://db/mem")
    monkeypatch.setattr("mem.reading.open_reader", open_reader)
    result = run(app, ["gaps"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: Postgres at db:5432 does not answer. Start it.\n"


def test_the_report_is_read_in_columns():
    """Figures stand to the right, names below each other; below them what failed, and what is like it."""
    second = gap(
        "b", tool="go", rule="go.undefined", code=None, message="undefined: discountFor", seen_count=1200,
        projects=["shop", "billing", "tax", "web"], variants=2, known_variants=1,
    )  # fmt: skip
    assert told_gaps(answer(second, gap(message=""), gap(), total=34, since=date(2026, 6, 25))).splitlines() == [
        "3 of 34 failures were seen since 2026-06-25 that no memory explains",
        "",
        "seen  first seen  last seen   tool  rule          signature     projects",
        "1200  2026-05-11  2026-07-02  go    go.undefined  bbbbbbbbbbbb  shop, billing and 2 more",
        "      undefined: discountFor",
        "      like it: other gaps 2, known failures 1",
        "   3  2026-05-11  2026-07-02  npm   npm.eresolve  aaaaaaaaaaaa  billing",
        "      ERESOLVE",
        "   3  2026-05-11  2026-07-02  npm   npm.eresolve  aaaaaaaaaaaa  billing",
        "      ERESOLVE: could not resolve",
    ]


def test_the_report_on_one_project_does_not_repeat_its_name():
    """The first line has it, and one failure is told as one; a long message is cut to the width of a terminal."""
    told = told_gaps(answer(gap(message="x" * 160, code="xx"), project="billing")).splitlines()
    assert told == [
        "1 failure was seen in project billing that no memory explains",
        "",
        "seen  first seen  last seen   tool  rule          signature",
        "   3  2026-05-11  2026-07-02  npm   npm.eresolve  aaaaaaaaaaaa",
        "      " + "x" * 93 + "…",
    ]
    assert max(map(len, told)) == 100


def test_what_is_told_does_not_steer_a_terminal(reader):
    """What a store from elsewhere holds in names and messages is printed without its control characters."""
    reader.answer = answer(gap(tool="n\x1b[2Jpm", message="a \x9b31mred\x07 b"))
    told = run(app, ["gaps"]).output
    assert not [char for char in told if (ord(char) < 32 and char != "\n") or 126 < ord(char) < 160]
