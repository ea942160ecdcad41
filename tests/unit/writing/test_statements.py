"""What a memory quotes of a failure."""

from __future__ import annotations

import pytest

from mem.domain.errors import RuleError
from mem.writing.statements import packaged_statements, read_statement_rules, statements_of


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("It said `no space left on device` at night.", ["no space left on device"]),
        ('The log had "permission denied for table orders" in it.', ["permission denied for table orders"]),
        ("The API returned 503 for minutes.", ["503 Service Unavailable"]),
        ("It answered with a 413 there.", ["413 Request Entity Too Large"]),
        ("The step ended with exit code 137.", ["exit code 137"]),
        ("It died of SIGSEGV.", ["killed by signal SIGSEGV"]),
        ("Pods were in ImagePullBackOff.", ["ImagePullBackOff"]),
        ("A java.net.UnknownHostException came up.", ["java.net.UnknownHostException"]),
        ("We saw ECONNREFUSED.", ["ECONNREFUSED"]),
        ("SQLSTATE 40P01 was retried.", ["ERROR: deadlock detected (SQLSTATE 40P01)"]),
        ("SQLSTATE 0A000 was retried.", ["SQLSTATE 0A000"]),
        ("A retry on 40P01 stays.", ["ERROR: deadlock detected (SQLSTATE 40P01)"]),
        ("TMPRL1100 was logged.", ["TMPRL1100"]),
    ],
)
def test_messages_codes_and_names_are_quoted(text, quoted):
    """What a program could have printed is taken, a code with what it stands for."""
    assert statements_of(text) == quoted


@pytest.mark.parametrize(
    "text",
    [
        "Set `proxy-body-size: 0` and `fail_fast=true`.",
        "Run `git push --force` when the error is gone.",
        "Pass `--ignore-errors` to it.",
        "Run `kubectl get pods --field-selector=status.phase=Failed` first, then `git rebase failed: abort`.",
        "Set `--on-error fail with: fatal error`.",
        "The build broke because the cache was stale and could not be read.",
        "It needs port 5003 and 404 megabytes.",
        "We call it 'the red button' here.",
        "",
    ],
)
def test_settings_commands_and_prose_are_not(text):
    """What was set, run or told is no message of a failure."""
    assert statements_of(text) == []


def test_a_statement_is_quoted_once():
    """A message that is told twice, or is part of another one, stands once."""
    assert statements_of("A KeyError, again a KeyError.") == ["KeyError"]


def test_a_wrong_file_is_told():
    """Whoever edits the shapes reads where."""
    with pytest.raises(RuleError, match=r"statements\.toml is no TOML"):
        read_statement_rules("version = ")
    with pytest.raises(RuleError, match=r"statements\.toml, rule vendor-code \(shape"):
        read_statement_rules(packaged_statements().replace("pattern = '\\b(TMPRL", "pattern = '(\\b(TMPRL"))
