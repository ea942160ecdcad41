"""Extraction: which failure of a log is the failure."""

from __future__ import annotations

import pytest

from mem.domain.signatures import ALGO
from mem.parsing import extract, extract_source
from mem.parsing.extract import scored
from mem.parsing.page import read

TRAVIS = (
    "travis_time:start:{id}\r\x1b[0K$ {name}\n{body}\n"
    "travis_time:end:{id}:start=1\r\x1b[0K\n"
    'The command "{name}" exited with {status}.\n'
)


def command(name: str, body: str, status: int) -> str:
    return TRAVIS.format(id="0" + name[:3], name=name, body=body, status=status)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "Process completed with exit code 1",
        "##[error]Process completed with exit code 1.",
        "make: *** [all] Error 2",
        "make: *** Error 1",
        'The command "make" exited with 1.',
        "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! Exit status 1",
        "error",
        "FAILED",
        "Build failed",
        "0 errors, 0 failures",
        "warning: unused variable 'error'",
        "all tests passed, no errors",
    ],
)
def test_boilerplate_identifies_nothing(text: str) -> None:
    """A text that only says that something failed, or that nothing did, has no signature."""
    assert extract(text) == []


def test_a_job_that_passed_has_no_failure() -> None:
    """Where the job passed, even a traceback was handled."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no'
    log = f"travis_time:start:0a\r\x1b[0K$ run\n{trace}\nDone. Your build exited with 0.\n"
    assert extract(log) == []
    assert [one.rule for one in extract(log.replace("exited with 0", "exited with 1"))] == ["python.traceback"]


def test_the_failing_command_is_preferred() -> None:
    """Of two error lines the one in the command that failed is first."""
    log = command("setup", "error: cannot find plugin alpha", 0) + command("check", "error: cannot find plugin beta", 1)
    assert "beta" in extract(log)[0].message


def test_an_expected_error_seen_in_a_passed_command_counts_less() -> None:
    """A line that also stands in a command that passed is noise."""
    log = command("one", "error: flaky socket 17", 0) + command(
        "two", "error: flaky socket 99\nvalue of beta is wrong", 1
    )
    assert "beta" in extract(log)[0].message


def test_several_failures_give_several_signatures() -> None:
    """Independent failures are told apart, each once, best first."""
    body = "a.c:1:2: error: unknown type name 'alpha'\nb.c:9:2: error: unknown type name 'beta'\n"
    found = extract(body + "a.c:1:2: error: unknown type name 'alpha'\n")
    assert sorted(one.message for one in found) == ["unknown type name 'alpha'", "unknown type name 'beta'"]


def test_a_block_inside_another_is_no_second_failure() -> None:
    """The exception of a traceback belongs to the traceback."""
    log = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'
    assert [one.rule for one in extract(log)] == ["python.traceback"]


def test_the_limit_is_kept() -> None:
    """Five are returned unless more or fewer are asked for."""
    log = "\n\n".join(f"a{i}.c:1:2: error: unknown type name 'kind{chr(97 + i)}'" for i in range(12))
    assert len(extract(log)) == 5
    assert len(extract(log, limit=2)) == 2
    assert len(extract(log, limit=9)) == 9
    assert [one.sig_sha for one in extract(log, limit=2)] == [one.sig_sha for one in extract(log)][:2]


@pytest.mark.parametrize("before", ["", "web_1  | ", "[build] "])
@pytest.mark.parametrize("after", ["", "\nbye\n"])
def test_a_prefix_before_each_line_does_not_matter(before: str, after: str) -> None:
    """A traceback behind a prefix has the key that it has without."""
    lines = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "ValueError: no"]
    bare = extract("\n".join(lines))[0]
    shown = extract("\n".join(before + line for line in lines) + after)[0]
    assert (shown.rule, shown.sig_sha) == (bare.rule, bare.sig_sha)


def test_the_key_does_not_depend_on_a_secret() -> None:
    """With and without a token in the log the key is one, and the token is nowhere."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    log = "fatal: could not read from https://x:{}@git.example.com/a/b.git"
    with_token = extract(log.format(token))[0]
    assert token not in with_token.model_dump_json()
    assert with_token.sig_sha == extract(log.format(token.replace("a1B2", "z9Y8")))[0].sig_sha


def test_coarse_keys_join_what_strict_keys_part() -> None:
    """Another test with the same error has another strict key and the same coarse one."""
    first = extract("--- FAIL: TestA (0.1s)\n    a_test.go:3: no route\n")[0]
    second = extract("--- FAIL: TestB (0.1s)\n    a_test.go:3: no route\n")[0]
    assert first.sig_sha != second.sig_sha
    assert first.sig_coarse == second.sig_coarse


def test_the_document_counts_bytes_and_lines() -> None:
    """The document names its source and measures it; a last newline ends a line and begins none."""
    found = extract_source("ci.log", "é\nfatal: no such branch\n".encode())
    assert (found.source, found.bytes, found.lines) == ("ci.log", 25, 2)
    assert found.signatures[0].algo == ALGO
    assert (found.signatures[0].line_start, found.signatures[0].line_end) == (2, 2)


def test_the_score_can_be_explained() -> None:
    """A candidate carries the features that made its score."""
    best = scored(read("fatal: no such branch"))[0]
    assert best.features["strong"] == 1.0
    assert best.score > 0


def test_failing_tests_have_a_key_each_in_their_order() -> None:
    """Of tests that failed alike each is a failure of its own; the first leads whatever stands below the last."""
    block = "  ● takes {} items\n\n    Error: no answer\n\n      at Object.get (test/api.test.js:3:9)\n\n"
    report = "FAIL test/api.test.js\n" + "".join(block.format(count) for count in (2, 3, 4))
    for log in (report, report + "Saved 3 artifacts\nThe script exited with 1\n"):
        found = [signature for signature in extract(log) if signature.tool == "jest"]
        assert [signature.line_start for signature in found] == [2, 8, 14]
        assert len({signature.sig_sha for signature in found}) == 3
