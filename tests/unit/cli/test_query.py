"""`mem query` and what it prints."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mem.cli.hits import told_hits
from mem.cli.main import app_for
from mem.client import Reply
from mem.domain.errors import Unavailable
from mem.domain.lookup import Degradation, Scores
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer, QueryCandidate, QueryHit, QueryRequest

app = app_for(())

run = CliRunner().invoke


def hit(sha: str = "a" * 64, **fields) -> QueryHit:
    given = {
        "sha": sha,
        "level": "L1",
        "project": "homelab",
        "score": 0.5,
        "scores": Scores(recall=0.4, rerank=0.5),
        "text": "What is known about it. " * 10,
        "provenance": [Parent(level="L0", sha="c" * 64, source="ci:1", turn=12), Parent(level="L1", sha="d" * 64)],
        "supersedes": [],
    }
    return QueryHit.model_validate({**given, **fields})


def answer(*hits: QueryHit, **fields) -> QueryAnswer:
    return QueryAnswer.model_validate({"query_id": "r", "project": "p", "hits": hits, "degraded": [], **fields})


class StubClient:
    def __init__(self) -> None:
        self.requests: list[QueryRequest] = []
        self.answer = answer(hit())
        self.notes: tuple[str, ...] = ()

    async def query(self, request: QueryRequest) -> Reply[QueryAnswer]:
        self.requests.append(request)
        return Reply(self.answer, self.answer.model_dump_json().encode(), self.notes)


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()

    async def connected() -> StubClient:
        return stub

    monkeypatch.setattr("mem.cli.query.connected", connected)
    return stub


def test_what_is_asked_is_what_was_given(client):
    """Each option is sent under its name, and one that was not given is not sent."""
    options = ["--project", "p", "--levels", "L0, R", "--k", "7", "--explain", "--request-id", "r"]
    assert run(app, ["query", *options, "why?"]).exit_code == 0
    run(app, ["query", "why?", "--request-id", "r"])
    assert [each.model_dump(exclude_unset=True) for each in client.requests] == [
        {"request_id": "r", "project": "p", "question": "why?", "levels": ["L0", "R"], "k": 7, "explain": True},
        {"request_id": "r", "project": "default", "question": "why?"},
    ]


def test_a_made_request_id_is_told_and_new_each_time(client):
    """Without an id the command makes one and prints it on stderr, so that the same can be asked again."""
    told = [run(app, ["query", "why?"]).stderr for _ in range(2)]
    assert told == [f"request id: {each.request_id}\n" for each in client.requests]
    assert told[0] != told[1]


def test_json_is_the_body_and_nothing_else(client):
    """The stored bytes stand on stdout; id and notes go to stderr."""
    client.notes = ("Secrets were redacted: jwt.",)
    result = run(app, ["query", "why?", "--format", "json"])
    assert result.stdout == client.answer.model_dump_json() + "\n"
    assert "candidates" not in json.loads(result.stdout)
    assert "note: Secrets were redacted" in result.stderr


@pytest.mark.parametrize(("output", "told"), [("text", "no hit\n"), ("json", '"hits":[]')])
def test_no_hit_is_exit_1(client, output, told):
    """The answer is printed all the same."""
    client.answer = answer()
    result = run(app, ["query", "why?", "--format", output])
    assert result.exit_code == 1
    assert told in result.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["", "--request-id", "r"], "The question is empty. Ask in words"),
        ([" \n"], "The question is empty."),
        (["x" * 8193], "question: String should have at most 8192 characters"),
        (["why?", "--k", "0"], "k: Input should be greater than or equal to 1"),
        (["why?", "--k", "51"], "k: Input should be less than or equal to 50"),
        (["why?", "--levels", "L1,L3"], "levels.1: Input should be 'L0', 'L1', 'L2' or 'R'"),
        (["why?", "--levels", ""], "levels.0: "),
        (["why?", "--project", "a b"], "project: "),
        (["why?", "--request-id", "é"], "request_id: "),
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

    async def connected() -> None:
        raise Unavailable("Temporal does not answer.", "Start it: `mem up`.")

    monkeypatch.setattr("mem.cli.query.connected", connected)
    result = run(app, ["query", "why?", "--request-id", "r"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: Temporal does not answer. Start it: `mem up`.\n"


def test_what_is_told_does_not_steer_a_terminal(client):
    """Evidence keeps its escape sequences: in the document they stand to the letter, and none reaches a person."""
    log = "\x1b]0;title\x07it \x1b[31mfailed\x1b[0m\x08 \x9b2J\x7f\tbecause"
    client.answer = answer(hit(level="L0", text=log))
    client.notes = ("a \x1b[2J note",)
    told = run(app, ["query", "why?"])
    assert "it [31mfailed[0m 2J because" in told.stdout
    assert not [char for char in told.output if (ord(char) < 32 and char != "\n") or 126 < ord(char) < 160]
    document = run(app, ["query", "why?", "--format", "json"])
    assert json.loads(document.stdout)["hits"][0]["text"] == log


def test_a_hit_is_a_block():
    """Score, level, sha and project, then the memory within the width of a terminal, then where it comes from."""
    told = told_hits(answer(hit(supersedes=["e" * 64]), hit("b" * 64, level="R", project=None, score=None)))
    first, second = told.split("\n\n")
    lines = first.splitlines()
    assert lines[0] == "0.5000  L1  aaaaaaaaaaaa  homelab"
    assert lines[-3:] == [
        "    from L0  cccccccccccc  ci:1 turn 12",
        "    from L1  dddddddddddd",
        "    in place of eeeeeeeeeeee",
    ]
    assert second.startswith("~0.4000  R  bbbbbbbbbbbb  shared\n")
    assert max(len(line) for line in told.splitlines()) <= 100


def test_an_explanation_is_a_table():
    """Each candidate stands under its leg with rank and distance, and with the hit that came of it."""
    candidates = [
        QueryCandidate(sha="e" * 64, leg="symptom", rank=1, distance=0.25),
        QueryCandidate(sha="f" * 64, leg="symptom", rank=2, distance=0.5),
        QueryCandidate(sha="a" * 64, leg="lexical", rank=1, distance=0.75),
    ]
    degraded = [Degradation(leg="text", reason="timeout after 2.0 s")]
    told = told_hits(answer(hit(supersedes=["e" * 64]), candidates=candidates, degraded=degraded)).splitlines()
    assert told[-5:] == [
        "degraded: text: timeout after 2.0 s",
        "leg      rank  distance  candidate     hit",
        "symptom     1    0.2500  eeeeeeeeeeee  #1",
        "symptom     2    0.5000  ffffffffffff  -",
        "lexical     1    0.7500  aaaaaaaaaaaa  #1",
    ]
    assert told_hits(answer(candidates=[])).splitlines() == ["no hit", "leg      rank  distance  candidate     hit"]
