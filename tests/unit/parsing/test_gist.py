"""What a line says without its logger."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.parsing.gist import gist, is_error_record


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Apr 21 17:22:44 hooks-1 hookd[770]: OSError: [Errno 24] Too many open files",
            "OSError: [Errno 24] Too many open files",
        ),
        ("2026-03-11 14:02:33.904 UTC [31902] ERROR:  deadlock detected", "deadlock detected"),
        ("[2026-03-03 08:00:01,310: CRITICAL/MainProcess] Can't decode message", "Can't decode message"),
        ("web-1  | exec /app/start.sh: no such file or directory", "exec /app/start.sh: no such file or directory"),
        ('{"ts":"2026","level":"error","msg":"query failed","error":"ERROR: timeout"}', "ERROR: timeout query failed"),
        ('time="2026" level=error msg="no such host" host=a', "no such host"),
        ("2026-03-19T12:01:04.0240000Z ##[error]Resource not accessible", "Resource not accessible"),
        ("[09:14:34]: ▸ lib.framework: errSecInternalComponent", "lib.framework: errSecInternalComponent"),
        ("0f6c9a71-9d2e-4c1b-8f0d-1e9d4d7a0c55 Task timed out after 6 seconds", "Task timed out after 6 seconds"),
        ('{"msg": "ssh: @@@@@@@@@@ @ WARNING: KEY HAS CHANGED! @"}', "ssh: @ WARNING: KEY HAS CHANGED! @"),
        ("│ Error: Failed to install provider", "Error: Failed to install provider"),
        ("error during build:", "error during build:"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("npm ERR! code ERESOLVE", "npm ERR! code ERESOLVE"),
        ("{not json}", "{not json}"),
        ('{"a": 1}', '{"a": 1}'),
        ("12:00:01", "12:00:01"),
    ],
)
def test_what_stands_around_a_message_is_taken_off(line, said):
    """Times, hosts, processes and levels go; how a program begins its message stays."""
    assert gist(line) == said


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_line_has_a_gist(line):
    """It is one line, empty only where the line is, and never longer."""
    said = gist(line)
    assert "\n" not in said
    assert bool(said) == bool(line.split())
    assert len(said) <= len(" ".join(line.split()))


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('time=2026 level=error msg="push rejected" reason=BadToken', True),
        ('{"ts":"2026","severity":"CRITICAL","msg":"gone"}', True),
        ('time=2026 level=info msg="error page sent"', False),
        ('{"ts":"2026","level":"warn","msg":"level=low"}', False),
        ("the level of error is high", False),
    ],
)
def test_a_record_calls_itself_an_error_by_its_level(line, error):
    """The field counts, not the word."""
    assert is_error_record(line) is error
