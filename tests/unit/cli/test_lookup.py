"""`mem lookup` and its report."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.report import report
from mem.client import Reply
from mem.domain.errors import Unavailable
from mem.domain.lookup import (
    Budget,
    ContextAnswer,
    ContextRequest,
    Degradation,
    Lesson,
    Scores,
    SeenSignature,
    SkillHit,
)
from mem.domain.nodes import Parent

app = app_for(())

run = CliRunner().invoke


def lesson(tier: int, **fields) -> Lesson:
    given = {
        "tier": tier,
        "level": "R" if tier == 3 else "L1",
        "sha": str(tier) * 64,
        "project": None if tier == 3 else "homelab",
        "text": f"What tier {tier} knows. " * 10,
        "matched_kind": {1: "signature", 2: "symptom", 3: "text"}[tier],
        "score": 0.5,
        "scores": Scores(recall=0.4, rerank=0.5),
        "parents": [],
        "supersedes": [],
    }
    return Lesson.model_validate({**given, **fields})


def answer(*lessons: Lesson, **fields) -> ContextAnswer:
    given = {
        "tier": min((each.tier for each in lessons), default=None),
        "lessons": list(lessons),
        "skills": [],
        "signatures": [],
        "budget": Budget(limit=6000, used=42, tokenizer="cl100k_base", dropped=[]),
        "degraded": [],
        "abstained_reason": None if lessons else "Nothing known concerns this.",
        "nearest_misses": 0,
    }
    return ContextAnswer.model_validate({**given, **fields})


class StubClient:
    def __init__(self) -> None:
        self.requests: list[ContextRequest] = []
        self.answer = answer(lesson(1))
        self.notes: tuple[str, ...] = ()

    async def look_up(self, request: ContextRequest) -> Reply[ContextAnswer]:
        self.requests.append(request)
        return Reply(self.answer, self.answer.model_dump_json().encode(), self.notes)


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()

    async def connected() -> StubClient:
        return stub

    monkeypatch.setattr("mem.cli.context.connected", connected)
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
    told = [run(app, ["lookup", "--tool", "npm"]).stderr for _ in range(2)]
    assert told == [f"request id: {each.request_id}\n" for each in client.requests]
    assert told[0] != told[1]
    assert run(app, ["lookup", "--tool", "npm", "--request-id", "r"]).stderr == ""


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
    assert "Nothing known concerns this." in result.stdout


def test_the_log_may_come_from_standard_input(client):
    """`--file -` reads the log from a pipe, whatever its encoding."""
    run(app, ["lookup", "--file", "-"], input="grün\n".encode("latin-1"))
    run(app, ["lookup", "--file", "-"], input="grün\n".encode("utf-16"))
    assert [each.signature_source for each in client.requests] == ["grün\n", "grün\n"]


@pytest.mark.parametrize(
    ("options", "data", "told"),
    [
        ([], b"", "Nothing to look up"),
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

    async def connected() -> None:
        raise Unavailable("Temporal does not answer.", "Start it: `mem up`.")

    monkeypatch.setattr("mem.cli.context.connected", connected)
    assert run(app, ["lookup"]).exit_code == 2
    result = run(app, ["lookup", "--tool", "npm", "--request-id", "r"])
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        "error: Temporal does not answer. Start it: `mem up`.\n",
    )


def test_a_report_tells_the_tiers_in_words():
    """Each tier has its own register, so that a manual is never taken for what happened here."""
    told = report(answer(lesson(1), lesson(2), lesson(2, sha="b" * 64), lesson(3)))
    headings = [line for line in told.splitlines() if line.startswith("tier")]
    assert headings == [
        "tier 1: this exact failure happened before",
        "tier 2: something similar happened",
        "tier 3: nobody here has hit this; the documentation says",
    ]
    assert told.splitlines()[0] == "answered by tier 1: 3 lessons, 1 reference, 42 tokens"
    assert told.index("tier 1:") < told.index("111111111111") < told.index("tier 2:") < told.index("tier 3:")


def test_a_report_tells_where_a_lesson_comes_from():
    """Level, sha, project, kind, score, sightings, sources and what it replaced; lines fit a terminal."""
    parents = [Parent(level="L0", sha="c" * 64, source="pi:1", turn=12), Parent(level="L0", sha="d" * 64, source="log")]
    full = lesson(1, seen_count=3, last_seen="2026-07-02", parents=parents, supersedes=["e" * 64])
    told = report(answer(full, lesson(3, score=None)))
    assert "L1, 111111111111, homelab, matched by signature, score 0.50, seen 3 times, last 2026-07-02" in told
    assert "from: pi:1 turn 12; log" in told
    assert "in place of: eeeeeeeeeeee" in told
    assert "R, 333333333333, shared, matched by text\n" in told
    assert max(len(line) for line in told.splitlines()) <= 100


def test_a_report_tells_what_is_missing():
    """Skills, failures, failed legs and drops are there; what is absent is not mentioned."""
    signature = SeenSignature(
        sig_sha="f" * 64, tool="npm", envelope=None, rule="npm.eresolve", known=True, seen_count=3
    )
    told = report(
        answer(
            lesson(1),
            skills=[SkillHit(name="ci-triage", score=0.77)],
            signatures=[signature, signature.model_copy(update={"seen_count": None})],
            degraded=[Degradation(leg="text", reason="timeout after 2.0 s")],
            budget=Budget(limit=50, used=42, tokenizer="t", dropped=[{"tier": 3, "sha": "a", "tokens": 9}]),
        )
    )
    assert told.endswith(
        "skills that fit: ci-triage (0.77)\n\n"
        "failure: ffffffffffff npm npm.eresolve, seen 3 times\n"
        "failure: ffffffffffff npm npm.eresolve\n"
        "degraded: text: timeout after 2.0 s\n"
        "left out by the budget of 50 tokens: 1"
    )
    assert report(answer()) == "no tier: Nothing known concerns this."
    assert report(answer(nearest_misses=2)) == "no tier: Nothing known concerns this. (2 near misses)"


def test_the_body_of_a_report_is_what_json_would_say(client):
    """Both formats tell the same answer."""
    client.answer = answer(lesson(2))
    told = run(app, ["lookup", "--tool", "npm"]).stdout
    body = json.loads(run(app, ["lookup", "--tool", "npm", "--format", "json"]).stdout)
    assert body["lessons"][0]["sha"][:12] in told
    assert f"answered by tier {body['tier']}" in told
