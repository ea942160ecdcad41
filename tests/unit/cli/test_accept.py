"""`mem accept`: what it reads, what it prints, and how it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.client import Reply
from mem.domain.accepting import AcceptAnswer, AcceptRequest, PublicVerdict
from mem.domain.errors import RequestConflict, Unavailable
from tests.unit.cli.instead import connect

app = app_for(())

CANDIDATE = {"project": "p", "level": "L1", "text": "Pin react.", "evidence": [{"source": "ci", "text": "it failed"}]}
run = CliRunner().invoke


class StubClient:
    """Accepts everything, but what a test says otherwise about a text."""

    def __init__(self) -> None:
        self.requests: list[AcceptRequest] = []
        self.errors: dict[str, Exception] = {}
        self.rules: dict[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self.overrides: list[str | None] = []

    async def accept(self, request: AcceptRequest, *, override: str | None = None) -> Reply[AcceptAnswer]:
        self.requests.append(request)
        self.overrides.append(override)
        if request.text in self.errors:
            raise self.errors[request.text]
        rule = self.rules.get(request.text)
        answer = AcceptAnswer(
            status="rejected" if rule else "accepted",
            sha=None if rule else "a" * 64,
            duplicate_of=None,
            verdict=PublicVerdict(accept=not rule, rule=rule, reason="Because.", model_id=None, prompt_sha=None),
            projection=None,
            signatures=[],
            vectors=[],
            pending=[],
        )
        return Reply(answer, answer.model_dump_json().encode(), self.notes)


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()
    connect(monkeypatch, "accept", stub)
    return stub


def lines(*candidates: Any) -> str:
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in candidates)


@pytest.mark.parametrize("indent", [None, 2])
def test_one_candidate_may_take_any_number_of_lines(client, indent):
    """A JSON object is a candidate, however it is laid out."""
    result = run(app, ["accept", "-"], input=json.dumps(CANDIDATE, indent=indent))
    assert (result.exit_code, len(client.requests)) == (0, 1)
    assert client.requests[0].model_dump(exclude_unset=True, exclude={"request_id"}) == CANDIDATE


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n \n"])
def test_json_lines_are_a_candidate_each(client, end):
    """Blank lines and other line ends change nothing; candidates are sent in their order."""
    texts = ["one", "two", "three"]
    result = run(app, ["accept", "-"], input=end.join(json.dumps({**CANDIDATE, "text": text}) for text in texts) + end)
    assert (result.exit_code, [each.text for each in client.requests]) == (0, texts)


def test_a_file_is_read_like_standard_input(client, tmp_path):
    """A file with a byte order mark is text like any other."""
    file = tmp_path / "candidates.jsonl"
    file.write_text(lines(CANDIDATE), encoding="utf-8-sig")
    assert run(app, ["accept", str(file)]).exit_code == 0
    assert len(client.requests) == 1


def test_a_derived_request_id_is_stable_and_told(client):
    """The same line has the same id in every run, another line another, and a given id stays."""
    batch = lines(CANDIDATE, {**CANDIDATE, "text": "other"}, {**CANDIDATE, "request_id": "mine"})
    ids = []
    for _ in range(2):
        result = run(app, ["accept", "-", "--format", "json"], input=batch)
        ids.append([json.loads(line)["request_id"] for line in result.stdout.splitlines()])
    assert ids[0] == ids[1] == [each.request_id for each in client.requests[:3]]
    assert len(set(ids[0])) == 3
    assert ids[0][2] == "mine"


def test_the_order_of_fields_makes_no_other_request(client):
    """A line that is written differently, but says the same, is the same request."""
    run(app, ["accept", "-"], input=lines(CANDIDATE, dict(reversed(CANDIDATE.items()))))
    assert client.requests[0].request_id == client.requests[1].request_id


def test_a_project_is_for_candidates_that_name_none(client):
    """The option fills a gap and overrides nothing."""
    bare = {key: value for key, value in CANDIDATE.items() if key != "project"}
    run(app, ["accept", "-", "--project", "q"], input=lines(bare, CANDIDATE))
    assert [each.project for each in client.requests] == ["q", "p"]


def test_json_is_all_that_stands_on_stdout(client):
    """One line an answer, with its request id; notes go to stderr."""
    client.notes = ("Secrets were redacted: jwt.",)
    result = run(app, ["accept", "-", "--format", "json"], input=lines(CANDIDATE, {**CANDIDATE, "text": "other"}))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["status"], each["sha"]) for each in answers] == [("accepted", "a" * 64)] * 2
    assert result.stderr.count("Secrets were redacted: jwt.") == 2


def test_a_rejection_is_an_answer(client):
    """A rejected candidate is told with rule and reason, and the command has done its work."""
    client.rules["Pin react."] = "trivial"
    result = run(app, ["accept", "-"], input=lines(CANDIDATE))
    assert result.exit_code == 0
    assert "rejected" in result.stdout
    assert "trivial: Because." in result.stdout


@pytest.mark.parametrize("output", ["text", "json"])
def test_one_that_fails_does_not_keep_the_others(client, output):
    """A conflict and a wrong shape are told by request id, the rest is sent, and the exit code is 1."""
    client.errors["bad"] = RequestConflict("Used before.", "Choose a new id.")
    batch = lines({**CANDIDATE, "text": "bad", "request_id": "r1"}, {"request_id": "r2", "level": "L9"}, CANDIDATE)
    result = run(app, ["accept", "-", "--project", "p", "--format", output], input=batch)
    assert (result.exit_code, [each.text for each in client.requests]) == (1, ["bad", "Pin react."])
    assert "error: r1: Used before. Choose a new id." in result.stderr
    assert "error: r2: level:" in result.stderr
    if output == "json":
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        assert [each["request_id"] for each in answers][:2] == ["r1", "r2"]
        assert (answers[0]["error"], "status" in answers[2]) == ("Used before. Choose a new id.", True)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no candidate"),
        (b"\n \n", "no candidate"),
        (b"\xff\xfe\x00binary", "not UTF-8"),
        (json.dumps(CANDIDATE).encode() + b"\n\n{bad}\n", "Line 3 is no JSON"),
        (b"{bad}", "Line 1 is no JSON"),
        (b'{\n "a": 1,\n "a": 2\n}', "The candidate is no JSON: a field stands twice"),
        (b'{"a": 1,\n "b": tru\n}', "The candidate is no JSON: Expecting value: line 2"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[{}]", "Candidate 1 is no JSON object"),
        (b"{}\n5\n", "Candidate 2 is no JSON object"),
        (b"null", "Candidate 1 is no JSON object"),
    ],
    ids=[
        "empty",
        "blank",
        "binary",
        "bad line",
        "bad object",
        "twice over lines",
        "bad over lines",
        "deep",
        "list",
        "number",
        "null",
    ],
)
def test_input_that_cannot_be_read_is_one_clear_line(client, data, told):
    """Nothing is sent, stdout stays empty, the message is one line, and the exit code is that of wrong usage."""
    result = run(app, ["accept", "-", "--format", "json"], input=data)
    assert (result.exit_code, result.stdout, client.requests) == (2, "", [])
    assert told in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_one_clear_line(client, tmp_path):
    """The message names the file and why it cannot be read."""
    result = run(app, ["accept", str(tmp_path / "nowhere.json")])
    assert result.exit_code == 2
    assert "nowhere.json cannot be read: No such file or directory." in result.stderr


def test_no_worker_is_one_clear_line(monkeypatch):
    """Where nothing answers the command fails with the address and what to do."""
    connect(monkeypatch, "accept", Unavailable("Temporal at 127.0.0.1:7233 does not answer.", "Start it: `mem up`."))
    result = run(app, ["accept", "-"], input=lines(CANDIDATE))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: Temporal at 127.0.0.1:7233 does not answer. Start it: `mem up`.\n"


def test_a_person_overrules_one_candidate(client):
    """The reason goes with the candidate, which is another request than the one that was rejected."""
    run(app, ["accept", "-"], input=json.dumps(CANDIDATE))
    assert run(app, ["accept", "-", "--override", "Both hold."], input=json.dumps(CANDIDATE)).exit_code == 0
    assert client.overrides == [None, "Both hold."]
    plain, overruled = client.requests
    assert plain.request_id != overruled.request_id
    run(app, ["accept", "-", "--override", "Both hold."], input=json.dumps(CANDIDATE))
    assert client.requests[-1].request_id == overruled.request_id


def test_a_person_overrules_one_candidate_at_a_time(client):
    """One reason for many candidates is refused before anything is sent."""
    result = run(app, ["accept", "-", "--override", "All hold."], input=lines(CANDIDATE, {**CANDIDATE, "text": "two"}))
    assert (result.exit_code, client.requests) == (2, [])
    assert "one candidate" in result.stderr


def test_a_candidate_cannot_overrule_the_gate_itself(client):
    """A field `override` in the input is refused, with the option and without."""
    for option in ([], ["--override", "Both hold."]):
        result = run(app, ["accept", "-", *option], input=json.dumps({**CANDIDATE, "override": "I know better."}))
        assert (result.exit_code, client.requests) == (1, [])
        assert "override" in result.stderr


@pytest.mark.parametrize("reason", ["", "  ", "\u200b", "x" * 501], ids=["empty", "blank", "hidden", "long"])
def test_a_reason_that_is_none_is_wrong_usage(client, reason):
    """Nothing is sent, the message is one line, and the exit code is that of wrong usage."""
    result = run(app, ["accept", "-", "--override", reason], input=json.dumps(CANDIDATE))
    assert (result.exit_code, result.stdout, client.requests) == (2, "", [])
    assert result.stderr.startswith("error: The reason for overruling the gate takes ")
