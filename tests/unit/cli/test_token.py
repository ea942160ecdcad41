"""`mem token new`: a secret that is told once, and the entry by which it is known."""

from __future__ import annotations

import json
import tomllib

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.rights import TokenList, hash_of
from mem.parsing.redact import redact


def _run(*arguments: str):
    return CliRunner().invoke(app_for(["token"]), ["token", "new", *arguments])


def test_the_entry_goes_into_the_file_and_the_secret_elsewhere():
    """What is printed can be sent into the file as it is; the secret beside it is the one of the entry, and new."""
    first, second = (_run("ci", "--read", "a,b", "--read", "c", "--write", "a") for _ in range(2))
    assert first.exit_code == 0
    (token,) = TokenList.model_validate(tomllib.loads(first.stdout)).token
    assert (token.name, token.read, token.write, token.admin) == ("ci", ["a", "b", "c"], ["a"], [])
    (secret,) = [line for line in first.stderr.splitlines() if line.startswith("memtok_")]
    assert hash_of(secret.encode()) == token.sha256
    assert secret not in first.stdout
    assert len(secret) > 40
    assert first.stdout != second.stdout


def test_one_document_has_both():
    """With --format json stdout is the one document, and nothing is said beside it."""
    found = _run("ops", "--all-projects", "--admin", "*", "--format", "json")
    told = json.loads(found.stdout)
    assert (told["name"], told["all-projects"], told["admin"], found.stderr) == ("ops", True, ["*"], "")
    (token,) = TokenList.model_validate(tomllib.loads(told["entry"])).token
    assert token.sha256 == told["sha256"] == hash_of(told["secret"].encode())


def test_a_secret_is_redacted_wherever_it_turns_up():
    """A token of ours in a log is a secret like any other."""
    secret = json.loads(_run("ci", "--read", "a", "--format", "json").stdout)["secret"]
    assert redact(f"curl failed: header was {secret} (22)").text == "curl failed: header was [redacted:mem-token] (22)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ci"], "without a right"),
        (["ci", "--read", ","], "without a right"),
        (["a b", "--read", "a"], "No name of a token"),
        (["ci", "--read", "a b"], "(--read)"),
        (["ci", "--write", "ä"], "(--write)"),
    ],
)
def test_what_makes_no_token_is_bad_input(arguments, told):
    """Exit code 2, and what was wrong; no secret is told."""
    found = _run(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert told in found.stderr
    assert "memtok_" not in found.stderr
