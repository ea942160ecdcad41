"""Cleaning: what the CI system added goes, what it said is kept, and lines stay where they are."""

from __future__ import annotations

import pytest

from mem.parsing.clean import LINE_LIMIT, cap, clean

GITHUB = "2026-01-12T08:31:44.1234567Z "


def test_no_line_moves() -> None:
    """The cleaned text has as many lines as the text, split at newline alone."""
    text = "a\r\nb\x0bc\u2028d\n\n##[group]Run x\ne"
    assert len(clean(text).lines) == text.count("\n") + 1


@pytest.mark.parametrize(
    "line",
    [
        f"{GITHUB}error: x",
        f"build\tRun make\t{GITHUB}error: x",
        "2026-01-12T08:31:44.123456Z 01E error: x",
        "2026-01-12T08:31:44.123456Z 00O+error: x",
        "2026-01-12 08:31:44,123 error: x",
        "[2026-01-12T08:31:44Z] error: x",
        "[08:31:44] error: x",
        "#12 3.456 error: x",
        "\x1b[31;1merror: x\x1b[0m",
        "\x1b]8;;https://example.com\x07error: x\x1b]8;;\x07",
        "##[error]error: x",
        "::error file=a.c,line=3::error: x",
        "10 %\r50 %\rerror: x",
        "error: x\r",
    ],
)
def test_prefixes_colour_and_progress_go(line: str) -> None:
    """Whatever a CI system or a terminal puts around a line, the line itself is left."""
    assert clean(line).lines == ["error: x"]


@pytest.mark.parametrize(
    ("text", "envelope"),
    [
        (f"{GITHUB}##[group]Run make\n{GITHUB}a", "github-actions"),
        ("section_start:17:x\r\x1b[0Kx\n$ make\na", "gitlab-ci"),
        ('travis_fold:start:x\r\x1b[0K\nThe command "make" exited with 1.', "travis"),
        ("#1 [internal] load\n#5 0.41 a", "docker-build"),
        ("a\nb", None),
        ("2026-01-12 08:31:44 a", None),
    ],
)
def test_the_envelope_is_named(text: str, envelope: str | None) -> None:
    """The CI system is known by its own marks; a plain log has none."""
    assert clean(text).envelope == envelope


def test_a_travis_command_gets_its_status() -> None:
    """The exit mark after a command speaks about it."""
    text = (
        'travis_time:start:a\r\x1b[0K$ make\nx\ntravis_time:end:a:start=1\r\x1b[0K\nThe command "make" exited with 2.'
    )
    assert [(one.name, one.status) for one in clean(text).commands] == [("make", 2)]


def test_a_quoted_command_of_several_lines_is_no_content() -> None:
    """An exit report that quotes a script over several lines is emptied as a whole."""
    cleaned = clean('$ run\nok\nThe command "set -e\n  fail here\n  done" exited with 3.\nafter')
    assert cleaned.lines == ["", "ok", "", "", "", "after"]
    assert cleaned.commands[0].status == 3


def test_a_github_step_before_the_next_one_passed() -> None:
    """A step that is followed by another passed, the one with an exit mark did not."""
    log = ["##[group]Run a", "x", "##[group]Run b", "y", "##[error]Process completed with exit code 2."]
    cleaned = clean("\n".join(GITHUB + line for line in log))
    assert [(one.name, one.status) for one in cleaned.commands] == [("a", 0), ("b", 2)]
    assert cleaned.verdict == 1


def test_a_gitlab_job_knows_its_verdict() -> None:
    """`Job succeeded` and `Job failed` decide."""
    assert clean("section_start:1:a\r\x1b[0K\n$ make\nx\nJob succeeded").verdict == 0
    assert clean("section_start:1:a\r\x1b[0K\n$ make\nx\nERROR: Job failed: exit code 1").verdict == 1


def test_red_lines_are_known() -> None:
    """A line in red, or one that the system labels an error, is remembered."""
    assert clean("a\n\x1b[31mb\x1b[0m\n##[error]c").red == {1, 2}


def test_a_long_line_keeps_head_and_tail() -> None:
    """A line over the limit is cut in its middle, and cutting it again changes nothing."""
    line = "head" + "x" * 100_000 + "tail"
    short = cap(line)
    assert len(short) <= LINE_LIMIT
    assert short.startswith("head")
    assert short.endswith("tail")
    assert cap(short) == short
    assert clean(line).lines == [short]


def test_left_out_lines_still_count() -> None:
    """The mark of a distilled text is no content, and says how much stood there."""
    cleaned = clean("a\n[mem: 12 lines left out, 9 with text]\nb")
    assert cleaned.lines == ["a", "", "b"]
    assert cleaned.elided == {1: 9}


def test_what_cleans_up_has_not_failed_the_job() -> None:
    """Marks that come after a clean-up began speak of the command before it."""
    log = (
        "[Pipeline] sh\n+ make\nx\n[Pipeline] }\n[Pipeline] stage\n[Pipeline] { (Declarative: Post Actions)\n"
        "[Pipeline] sh\n+ tidy\ny\n[Pipeline] }\nERROR: script returned exit code 2\nFinished: FAILURE"
    )
    assert [one.status for one in clean(log).commands if one.name == "sh"] == [2, 0]


def test_what_the_system_says_of_the_job_counts_more_than_one_command() -> None:
    """A step that was allowed to fail does not fail the job."""
    log = "[Pipeline] sh\nx\nERROR: script returned exit code 2\n[Pipeline] sh\ny\nFinished: SUCCESS"
    assert clean(log).verdict == 0
    assert clean(log.replace("SUCCESS", "UNSTABLE")).verdict == 1


def test_seconds_go_only_where_a_build_step_is_quoted() -> None:
    """A number at the head of a line is noise in a quoted step and content elsewhere."""
    log = "3.10 is too old\n------\n > [2/3] RUN make:\n0.412 error: x\n12.5 error: y\n------\n3.10 is too old"
    assert clean(log).lines == ["3.10 is too old", "------", "", "error: x", "error: y", "------", "3.10 is too old"]


def test_several_prefixes_go_together() -> None:
    """A container's prefix, the collector's stamp and the program's own stamp stand before one line."""
    line = "[pod/app-7d9c8b5f6-x2x4z/app] 2026-02-03T04:05:06.123456789Z 2026-02-03 04:05:06,120 error: x"
    assert clean(line).lines == ["error: x"]
