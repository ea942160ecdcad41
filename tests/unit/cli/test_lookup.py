"""`mem lookup` and its report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.client import Reply
from mem.domain.errors import Unavailable
from mem.domain.lookup import ContextRequest
from tests.unit.cli.answers import answer, lesson
from tests.unit.cli.instead import connect

app = app_for(())

run = CliRunner().invoke


class StubClient:
    def __init__(self) -> None:
        self.requests: list[ContextRequest] = []
        self.answer = answer(lesson(1))
        self.notes: tuple[str, ...] = ()

    async def look_up(self, request: ContextRequest) -> Reply[Any]:
        self.requests.append(request)
        return Reply(self.answer, self.answer.model_dump_json().encode(), self.notes)


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()
    connect(monkeypatch, "context", stub)
    return stub


def test_what_is_asked_is_what_was_given(client, tmp_path):
    """Each option is sent under its name, and one that was not given is not sent."""
    log = tmp_path / "run.log"
    log.write_text("it failed\n", encoding="utf-8")
    options = ["--project", "p", "--tool", "npm", "--task", "upgrade", "--file", str(log), "--scope", "project"]
    assert run(app, ["lookup", *options, "--budget", "100", "--request-id", "r"]).exit_code == 0
    assert client.requests[0].model_dump(exclude_unset=True) == {
        "request_id": "r",
        "project": "p",
        "tool": "npm",
        "task": "upgrade",
        "signature_source": "it failed\n",
        "scope": "project",
        "budget": 100,
    }
    run(app, ["lookup", "--tool", "npm", "--request-id", "r"])
    assert client.requests[1].model_dump(exclude_unset=True) == {"request_id": "r", "project": "default", "tool": "npm"}


def test_a_made_request_id_is_told_and_new_each_time(client):
    """Without an id the command makes one and prints it on stderr, so that the same can be asked again."""
    told = [run(app, ["lookup", "--project", "p", "--tool", "npm"]).stderr for _ in range(2)]
    assert told == [f"request id: {each.request_id}\n" for each in client.requests]
    assert told[0] != told[1]
    assert run(app, ["lookup", "--project", "p", "--tool", "npm", "--request-id", "r"]).stderr == ""


def test_the_folder_says_the_project_if_none_is_named(client, tmp_path):
    """As for a question; but what happened before is told outside of any repository, too, and in one without a name."""
    (tmp_path / ".mem.toml").write_text('project = "shop"', encoding="utf-8")
    told = run(app, ["lookup", "--tool", "npm", "--request-id", "r"]).stderr
    assert (client.requests[0].project, told) == ("shop", f"project: shop ({tmp_path / '.mem.toml'})\n")
    (tmp_path / ".mem.toml").write_text('project = "my shop"', encoding="utf-8")
    wrong = run(app, ["lookup", "--tool", "npm"])
    assert (wrong.exit_code, wrong.stdout, len(client.requests)) == (2, "", 1)
    (tmp_path / ".mem.toml").unlink()
    told = run(app, ["lookup", "--tool", "npm", "--request-id", "r"]).stderr
    assert client.requests[1].project == "default"
    assert told == f"project: default (no git repository and no .mem.toml from {tmp_path} up)\n"


def test_json_is_the_body_and_nothing_else(client):
    """The stored bytes stand on stdout; id and notes go to stderr."""
    client.notes = ("A long log was distilled to its failing parts.",)
    result = run(app, ["lookup", "--tool", "npm", "--format", "json"])
    assert result.stdout == client.answer.model_dump_json() + "\n"
    assert "note: A long log was distilled" in result.stderr


@pytest.mark.parametrize("output", ["text", "json"])
def test_nothing_found_is_exit_1(client, output):
    """Without a tier the answer is printed all the same, and the exit code says that nothing is known."""
    client.answer = answer()
    result = run(app, ["lookup", "--tool", "npm", "--format", output])
    assert result.exit_code == 1
    assert "Nothing known concerns this" in result.stdout


def test_the_log_may_come_from_standard_input(client):
    """`--file -` reads the log from a pipe, whatever its encoding."""
    run(app, ["lookup", "--file", "-"], input="grün\n".encode("latin-1"))
    run(app, ["lookup", "--file", "-"], input="grün\n".encode("utf-16"))
    assert [each.signature_source for each in client.requests] == ["grün\n", "grün\n"]


@pytest.mark.parametrize(
    ("options", "data", "told"),
    [
        ([], b"", "Nothing to look up. Give --file LOG, --task TEXT or --tool TOOL."),
        (["--task", " "], b"", "white space"),
        (["--task", ""], b"", "task: "),
        (["--file", "-"], b"", "- is empty."),
        (["--file", "-"], b"\n\n", "- is empty."),
        (["--file", "-"], b"\x7fELF" + bytes(500), "- is a binary file"),
        (["--file", "nowhere.log"], b"", "nowhere.log cannot be read: No such file or directory."),
        (["--file", "."], b"", ". cannot be read: Is a directory."),
        (["--tool", "npm", "--project", "a b"], b"", "project: "),
        (["--tool", "npm", "--project", ""], b"", "project: "),
        (["--tool", "npm", "--request-id", "é"], b"", "request_id: "),
        (["--tool", "npm", "--scope", "galaxy"], b"", "scope: "),
        (["--tool", "npm", "--budget", "0"], b"", "budget: "),
    ],
)
def test_wrong_usage_is_one_clear_line(client, options, data, told):
    """Nothing is sent, nothing stands on stdout, and the exit code is 2."""
    result = run(app, ["lookup", *options, "--format", "json"], input=data)
    assert (result.exit_code, result.stdout, client.requests) == (2, "", [])
    assert result.stderr.startswith("error: ")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_wrong_usage_is_told_before_anything_is_reached(monkeypatch):
    """Where nothing runs a mistake is still told as the mistake."""
    connect(monkeypatch, "context", Unavailable("Temporal does not answer.", "Start it: `mem up`."))
    assert run(app, ["lookup"]).exit_code == 2
    result = run(app, ["lookup", "--project", "p", "--tool", "npm", "--request-id", "r"])
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        "error: Temporal does not answer. Start it: `mem up`.\n",
    )


def test_the_body_of_a_report_is_what_json_would_say(client):
    """Both formats tell the same answer."""
    client.answer = answer(lesson(2))
    told = run(app, ["lookup", "--tool", "npm"]).stdout
    body = json.loads(run(app, ["lookup", "--tool", "npm", "--format", "json"]).stdout)
    assert body["lessons"][0]["sha"][:12] in told
    assert told.startswith("This is known about npm, 50 % probable (tier 2)\n")
    assert "\x1b" not in told
