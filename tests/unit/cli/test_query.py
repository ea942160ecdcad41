"""`mem query` and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.client import Reply
from mem.domain.errors import ConfigurationError, NotFound, Unavailable
from mem.domain.query import QueryAnswer, QueryRequest, RecordedQuery
from mem.recall.projects import Known
from tests.unit.cli.instead import connect
from tests.unit.cli.queries import candidate, hit, queried

app = app_for(())

run = CliRunner().invoke
TOLD = "project: here (.mem.toml)\n"
"""What the folder of these tests says, but for the path before the file."""


class StubClient:
    def __init__(self) -> None:
        self.requests: list[QueryRequest] = []
        self.answer = queried(hit())
        self.notes: tuple[str, ...] = ()

    async def query(self, request: QueryRequest) -> Reply[QueryAnswer]:
        self.requests.append(request)
        return Reply(self.answer, self.answer.model_dump_json().encode(), self.notes)


class StubReader:
    """What stands for the store: what is known, and the answers that were given."""

    def __init__(self) -> None:
        self.known: Known | Exception = Known(own=True, shared=False, nearest=[])
        self.recorded: dict[tuple[str, str], bytes] = {}
        self.opened: list[str] = []

    def open(self, url: str, **_: object) -> StubReader:
        self.opened.append(url)
        return self

    async def __aenter__(self) -> Self:
        if isinstance(self.known, Exception):
            raise self.known
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def projects(self, project: str) -> Known:
        return self.known

    async def answer(self, query: RecordedQuery) -> bytes:
        try:
            return self.recorded[query.project, query.query_id]
        except KeyError:
            raise NotFound("No answer is recorded.", "Name the project.") from None


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> None:
    """A folder that says its project, and no stack."""
    (tmp_path / ".mem.toml").write_text('project = "here"\n', encoding="utf-8")
    monkeypatch.delenv("MEM_DATABASE_URL", raising=False)
    monkeypatch.setenv("MEM_HOME", str(tmp_path / "none"))


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()
    connect(monkeypatch, "query", stub)
    return stub


@pytest.fixture
def reader(monkeypatch) -> StubReader:
    stub = StubReader()
    monkeypatch.setenv("MEM_DATABASE_URL", "postgresql://db/mem")
    monkeypatch.setattr("mem.reading.open_reader", stub.open)
    return stub


def stderr_of(result) -> str:
    """What a command said, without the path before a file's name."""
    return result.stderr.replace(f"{Path.cwd()}/", "")


def test_what_is_asked_is_what_was_given(client):
    """Each option is sent under its name, and one that was not given is not sent."""
    options = ["--project", "p", "--levels", "L0, R", "--k", "7", "--explain", "--request-id", "r"]
    assert run(app, ["query", *options, "why?"]).exit_code == 0
    run(app, ["query", "why?", "--request-id", "r"])
    assert [each.model_dump(exclude_unset=True) for each in client.requests] == [
        {"request_id": "r", "project": "p", "question": "why?", "levels": ["L0", "R"], "k": 7, "explain": True},
        {"request_id": "r", "project": "here", "question": "why?"},
    ]


def test_a_made_request_id_is_told_and_new_each_time(client):
    """Without an id the command makes one and prints it on stderr, so that the same can be asked again."""
    told = [stderr_of(run(app, ["query", "why?"])) for _ in range(2)]
    assert told == [f"{TOLD}request id: {each.request_id}\n" for each in client.requests]
    assert told[0] != told[1]
    assert run(app, ["query", "why?", "--project", "p", "--request-id", "r"]).stderr == ""


def test_json_is_the_body_and_nothing_else(client):
    """The stored bytes stand on stdout; id and notes go to stderr."""
    client.notes = ("Secrets were redacted: jwt.",)
    result = run(app, ["query", "why?", "--format", "json"])
    assert result.stdout == client.answer.model_dump_json() + "\n"
    assert "candidates" not in json.loads(result.stdout)
    assert "note: Secrets were redacted" in result.stderr


@pytest.mark.parametrize(("output", "told"), [("text", "no hit for query r in project p\n"), ("json", '"hits":[]')])
def test_no_hit_is_exit_1(client, output, told):
    """The answer is printed all the same."""
    client.answer = queried()
    result = run(app, ["query", "why?", "--format", output])
    assert result.exit_code == 1
    assert told in result.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["", "--request-id", "r"], "The question is empty. Ask in words"),
        ([" \n"], "The question is empty."),
        (
            ["x" * 8193],
            "The question takes 8193 characters, and 8192 at most are read. Ask with the lines that failed;",
        ),
        ([], "No question. Ask in words, name - for standard input, or --show ID an earlier answer."),
        (["-"], "- is empty."),
        (["why?", "--levels", "L1,,L2"], "levels.1: "),
        (["why?", "--k", "0"], "k: Input should be greater than or equal to 1"),
        (["why?", "--k", "51"], "k: Input should be less than or equal to 50"),
        (["why?", "--levels", "L1,L3"], "levels.1: Input should be 'L0', 'L1', 'L2' or 'R'"),
        (["why?", "--levels", ""], "levels.0: "),
        (["why?", "--project", "a b"], "project: "),
        (["why?", "--request-id", "é"], "request_id: "),
        (["why?", "--show", "r"], "--show opens an answer as it was given, and QUESTION asks anew. Leave one out."),
        (["--show", "r", "--k", "3"], "and --k asks anew."),
        (["--show", "r", "--levels", "L1"], "and --levels asks anew."),
        (["--show", "r", "--explain"], "and --explain asks anew."),
        (["--show", "r", "--request-id", "s"], "and --request-id asks anew."),
        (["--show", "é"], "query_id: "),
        (["--show", ""], "query_id: "),
        (["--show", "r", "--project", "a b"], "project: "),
    ],
)
def test_wrong_usage_is_one_clear_line(client, options, told):
    """Nothing is sent, nothing stands on stdout, and the exit code is 2."""
    result = run(app, ["query", *options, "--format", "json"])
    assert (result.exit_code, result.stdout, client.requests) == (2, "", [])
    assert result.stderr.startswith("error: ")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_failed_call_is_exit_1(monkeypatch):
    """Where nothing runs the error says so."""
    connect(monkeypatch, "query", Unavailable("Temporal does not answer.", "Start it: `mem up`."))
    result = run(app, ["query", "why?", "--request-id", "r"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert stderr_of(result) == f"{TOLD}error: Temporal does not answer. Start it: `mem up`.\n"


def test_what_is_told_does_not_steer_a_terminal(client):
    """Evidence keeps its escape sequences: in the document they stand to the letter, and none reaches a person."""
    log = "\x1b]0;title\x07it \x1b[31mfailed\x1b[0m\x08 \x9b2J\x7f\tbecause"
    client.answer = queried(hit(level="L0", text=log))
    client.notes = ("a \x1b[2J note",)
    told = run(app, ["query", "why?"])
    assert "it [31mfailed[0m 2J because" in told.stdout
    assert not [char for char in told.output if (ord(char) < 32 and char != "\n") or 126 < ord(char) < 160]
    document = run(app, ["query", "why?", "--format", "json"])
    assert json.loads(document.stdout)["hits"][0]["text"] == log


def test_levels_are_taken_in_any_case_and_once(client):
    """What is meant is clear, so that it is no mistake."""
    run(app, ["query", "why?", "--levels", "l1, L0,l1,r,L1,l0,L1"])
    assert client.requests[0].levels == ["L1", "L0", "R"]


def test_a_question_may_come_from_standard_input(client):
    """A log is piped in, in whatever encoding; too much of one is sent to where logs are read whole."""
    assert run(app, ["query", "-"], input="es schlug fehl: gr\u00fcn\n".encode("utf-16")).exit_code == 0
    assert client.requests[0].question == "es schlug fehl: gr\u00fcn\n"
    result = run(app, ["query", "-"], input=b"x\n" * 5000)
    assert (result.exit_code, result.stdout, len(client.requests)) == (2, "", 1)
    assert "takes 10000 characters" in result.stderr
    assert "`mem lookup --file LOG`" in result.stderr
    assert run(app, ["query", "-"], input=b"\x7fELF" + bytes(500)).exit_code == 2


def test_without_a_project_nothing_is_asked(client, tmp_path):
    """The error says how to name one, and --project does; a wrong file is an error even so that it is not needed."""
    (tmp_path / ".mem.toml").unlink()
    result = run(app, ["query", "why?"])
    assert (result.exit_code, result.stdout, client.requests) == (2, "", [])
    assert result.stderr.startswith("error: No project is named, and none is known here: no git repository and no ")
    assert "--project" in result.stderr
    assert run(app, ["query", "--show", "r"]).exit_code == 2
    assert run(app, ["query", "why?", "--project", "p"]).exit_code == 0


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_project_of_which_nothing_is_known_is_an_error(client, reader, output):
    """It is no empty answer, and names the projects that may be meant."""
    client.answer = queried()
    reader.known = Known(own=False, shared=False, nearest=["homelab", "hotel"])
    result = run(app, ["query", "why?", "--project", "homlab", "--request-id", "r", "--format", output])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "error: The memory holds nothing of project 'homlab', and nothing that all projects share. "
        "Known projects near that name: homelab, hotel.\n"
    )
    reader.known = Known(own=False, shared=False, nearest=[])
    assert "It knows no project." in run(app, ["query", "why?", "--project", "homlab"]).stderr


def test_where_only_shared_things_are_known_a_note_says_so(client, reader):
    """There was something to search, so that nothing found is an answer."""
    client.answer = queried()
    reader.known = Known(own=False, shared=True, nearest=["homelab"])
    asked = ["query", "why?", "--project", "homlab", "--request-id", "r"]
    result = run(app, [*asked, "--levels", "L1,R"])
    assert (result.exit_code, result.stdout[:7]) == (1, "no hit ")
    assert result.stderr.startswith("note: the memory holds nothing of project 'homlab' itself. Known projects near ")
    # Only reference is shared, and it was not asked for.
    result = run(app, asked)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "error: The memory holds nothing of project 'homlab'. Known projects near that name: "
    )
    reader.known = Known(own=True, shared=False, nearest=["homelab"])
    assert run(app, asked).stderr == ""


@pytest.mark.parametrize("fault", [Unavailable("No."), ConfigurationError("No."), ModuleNotFoundError("No.")])
def test_where_the_store_cannot_be_read_the_answer_stands(client, reader, fault):
    """Whether the project is known is a courtesy."""
    client.answer = queried()
    reader.known = fault
    result = run(app, ["query", "why?"])
    assert (result.exit_code, result.stdout[:7]) == (1, "no hit ")


def test_the_store_is_read_only_where_nothing_was_found(client, reader):
    """A hit or a candidate says that something is known."""
    run(app, ["query", "why?"])
    client.answer = queried(candidates=[candidate()])
    run(app, ["query", "why?", "--explain"])
    assert reader.opened == []


@pytest.mark.parametrize("output", ["text", "json"])
def test_an_answer_can_be_opened_again(client, reader, output):
    """As it was printed, with the same exit code, and without a worker; the project is inferred as for a question."""
    for project, found in (("here", queried(hit(), project="here")), ("p", queried())):
        client.answer = found
        asked = run(app, ["query", "why?", "--project", project, "--request-id", "r", "--format", output])
        reader.recorded[project, "r"] = found.model_dump_json().encode()
        given = [] if project == "here" else ["--project", "p"]
        shown = run(app, ["query", "--show", "r", *given, "--format", output])
        assert (shown.exit_code, shown.stdout) == (asked.exit_code, asked.stdout)
        assert stderr_of(shown) == ("" if given else TOLD)


def test_an_answer_that_is_not_recorded_is_exit_1(reader, monkeypatch):
    """The error says why that may be; without a database it says how to name one."""
    result = run(app, ["query", "--show", "r"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: No answer is recorded. Name the project." in result.stderr
    monkeypatch.delenv("MEM_DATABASE_URL")
    result = run(app, ["query", "--show", "r"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "MEM_DATABASE_URL" in result.stderr
