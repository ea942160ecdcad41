"""`mem lookup` shows which lines of the log it took for the failure."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.client import Reply
from mem.domain.lookup import Budget, ContextAnswer, ContextRequest, SeenSignature
from mem.doors import prepare_lookup
from mem.parsing import extract, identifying
from tests.unit.cli.instead import connect

app = app_for(())

run = CliRunner().invoke
SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
TRACE = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
NOISE = "2026-07-02T10:00:00Z step {number} of the build went by without a word\n"


class StubClient:
    """Answers with the signatures of what the door sends, as the worker does."""

    def __init__(self) -> None:
        self.body = ""
        self.extracted = True

    async def look_up(self, request: ContextRequest) -> Reply[ContextAnswer]:
        prepared = prepare_lookup(request)
        found = identifying(extract(prepared.message.signature_source or "")) if self.extracted else []
        answer = ContextAnswer(
            tier=None, lessons=[], skills=[], degraded=[], abstained_reason="Nothing.", nearest_misses=0,
            budget=Budget(limit=1, used=1, tokenizer="t", dropped=[]),
            signatures=[
                SeenSignature(
                    sig_sha=one.sig_sha, tool=one.tool, envelope=None, rule=one.rule, known=False, seen_count=1
                )
                for one in found
            ],
        )  # fmt: skip
        self.body = answer.model_dump_json()
        return Reply(answer, self.body.encode(), prepared.notes, prepared.sent)


@pytest.fixture
def client(monkeypatch) -> StubClient:
    stub = StubClient()
    connect(monkeypatch, "context", stub)
    return stub


def told(tmp_path, text: str, *options: str) -> str:
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    return run(app, ["lookup", "--tool", "python", "--file", str(tmp_path / "b.log"), *options]).stdout


def test_the_lines_of_the_failure_are_shown(client, tmp_path):
    """Rule and tool, the place in the file, and the first lines."""
    out = told(tmp_path, "one\ntwo\n" + TRACE + "end\n")
    sig_sha = extract(TRACE)[0].sig_sha[:12]
    assert f"failure: {sig_sha} python python.traceback, seen once, no lesson yet\n  {tmp_path}/b.log:3-6\n" in out
    assert "\n  | Traceback (most recent call last):\n" in out
    assert out.endswith("  | ModuleNotFoundError: No module named 'yaml'\n")


@pytest.mark.parametrize("before", [0, 1, 20000])
def test_lines_are_those_of_the_file_as_given(client, tmp_path, before):
    """However much of a long log the door left out."""
    noise = "".join(NOISE.format(number=number) for number in range(20000))
    text = "".join(NOISE.format(number=number) for number in range(before)) + TRACE + noise
    assert f"b.log:{before + 1}-{before + 4}\n" in told(tmp_path, text)


def test_hidden_characters_and_secrets_shift_no_line(client, tmp_path):
    """What the door takes out or masks leaves the lines where they are, and is not shown."""
    text = f"a\u200b\n{SECRET}\r\n" + TRACE.replace("'yaml'", f"'yaml' {SECRET} \u202e\x1b[31m\x07\x9b1m")
    out = told(tmp_path, text)
    assert "b.log:3-6\n" in out
    assert SECRET not in out
    assert "\u202e" not in out
    assert not {"\x1b", "\x07", "\x9b"} & set(out)


def test_one_failure_is_quoted_and_the_next_are_placed(client, tmp_path):
    """Enough to judge by: the lines of the best, the places of three; the rest is one line each."""
    text = "".join(f"src/a{n}.c:1:2: error: unknown type name 'alpha{n * 7}x'\n\n" for n in range(5))
    assert len(identifying(extract(text))) == 5
    out = told(tmp_path, text)
    assert (out.count("\nfailure: "), out.count("b.log:"), out.count("\n  | ")) == (5, 3, 1)


def test_long_excerpts_are_cut(client, tmp_path):
    """The first lines and the last one, no wider than the terminal, and how many are between them."""
    frames = "".join(f'  File "/srv/app/{"m" * 150}{n}.py", line {n}, in f\n    g()\n' for n in range(9))
    out = told(tmp_path, TRACE.replace('  File "/srv/app/main.py", line 3, in <module>\n    import yaml\n', frames))
    quoted = [line for line in out.splitlines() if line.startswith("  | ")]
    assert (len(quoted), quoted[2]) == (4, "  | … 17 more")
    assert quoted[3] == "  | ModuleNotFoundError: No module named 'yaml'"
    assert max(len(line) for line in quoted) == 100


def test_where_nothing_was_found_what_was_searched_is_told(client, tmp_path):
    """So that a log that was cut or the wrong file is noticed."""
    out = told(tmp_path, "all good\nreally\n")
    assert f"failure: none found in {tmp_path}/b.log: 2 lines searched" in " ".join(out.split())
    long = told(tmp_path, "".join(NOISE.format(number=number) for number in range(3000)))
    assert "3000 lines searched" in " ".join(long.split())


def test_a_leg_that_failed_is_not_told_as_nothing_found(client, tmp_path):
    """Where the worker could not extract, the report says that, and does not deny the failure."""
    client.extracted = False
    assert "none found" not in told(tmp_path, TRACE)


def test_a_lookup_without_a_log_says_nothing_of_lines(client):
    """Only a log has lines."""
    out = run(app, ["lookup", "--tool", "npm"]).stdout
    assert "failure:" not in out


def test_json_is_the_answer_alone(client, tmp_path):
    """Lines are for people; the contract's answer stays as it is."""
    out = told(tmp_path, TRACE, "--format", "json")
    assert out == client.body + "\n"
    assert set(json.loads(out)["signatures"][0]) == {"sig_sha", "tool", "envelope", "rule", "known", "seen_count"}
