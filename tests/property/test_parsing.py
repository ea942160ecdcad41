"""What holds for any text: nothing raises, nothing depends on chance, masks settle, distilling keeps the verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mem.parsing import (
    decode,
    distill,
    extract,
    extract_source,
    failure_lines,
    identifiers,
    looks_binary,
    mask,
    mask_coarse,
)
from mem.parsing.excerpts import Reading
from tests.examples import examples

FOLDER = Path(__file__).parents[1] / "fixtures" / "golden_logs"
LOGS = [path.read_text(encoding="utf-8").partition("#: ---\n")[2] for path in sorted(FOLDER.glob("*.log"))]

PIECES = [
    "error: ",
    "Traceback (most recent call last):",
    '  File "/a/b.py", line 3, in f',
    "KeyError: 'x'",
    "npm ERR! code E404",
    "FAILED a.py::t - X",
    "--- FAIL: TestX (0.0s)",
    "panic: boom",
    "0 errors",
    "make: *** Error 1",
    "/a/b/c.c:3:4: error: x",
    "##[group]Run x",
    "##[error]Process completed with exit code 1.",
    "$ make",
    'The command "x" exited with 1.',
    'The command "',
    "section_start:1:a\r\x1b[0K",
    "\x1b[31m",
    "\x1b]0;",
    "\r",
    "\x00",
    "\ud800",
    "\ufffe",
    "\xe9",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "99999999999999999999999999999999999999999999999999",
    "::",
    "/",
    "\\",
    "@",
    "<n>",
    "<host>",
    "https://",
    "12:34:56",
    "2026-01-12",
    "[redacted:x]",
    "[mem: 3 lines left out, 2 with text]",
    "E   ",
    "\u25cf a \u203a b",
    " 1) ",
    "FATAL:  x",
    "curl: (28) x",
    "\t",
    "  ",
    "Caused by: java.lang.X: y",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=12) | st.just("\n"), max_size=60).map("".join)
LINES = st.lists(st.sampled_from(PIECES).map(lambda piece: piece.replace("\r", "")) | st.text(max_size=30), max_size=12)
QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(TEXTS)
def test_extract_never_raises_and_points_into_the_text(text: str) -> None:
    """Any text, with NUL and lone surrogates too, gives at most five signatures within its lines."""
    found = extract(text)
    last = text.count("\n") + 1
    assert len(found) <= 5
    assert all(1 <= one.line_start <= one.line_end <= last for one in found)
    assert len({one.sig_sha for one in found}) == len(found)


@QUICK
@given(st.binary(max_size=600))
def test_any_bytes_can_be_read(data: bytes) -> None:
    """Any bytes decode and extract."""
    assert isinstance(decode(data), str)
    assert isinstance(looks_binary(data), bool)
    assert extract_source("x", data).bytes == len(data)


@QUICK
@given(TEXTS)
def test_masks_settle(text: str) -> None:
    """The mask of a mask is itself, for both forms."""
    assert mask(mask(text)) == mask(text)
    assert mask_coarse(mask_coarse(text)) == mask_coarse(text)


@QUICK
@given(TEXTS)
def test_words_and_lines_never_raise(text: str) -> None:
    """Identifiers are sorted and unique; failure lines are unique, bounded and no wider than 300."""
    words = identifiers(text)
    assert words == sorted(set(words))
    lines = failure_lines(text, limit=7)
    assert len(lines) == len(set(lines)) <= 7
    assert all(len(line) <= 300 for line in lines)


@QUICK
@given(TEXTS | st.sampled_from(LOGS))
def test_a_reading_has_the_signatures_of_the_text(text: str) -> None:
    """What is read once to be quoted gives the signatures that extraction gives, whatever was quoted before."""
    reading = Reading(text)
    reading.telling(limit=8, around=True)
    assert reading.signatures == extract(text)


@QUICK
@given(TEXTS)
def test_the_same_text_gives_the_same_signatures(text: str) -> None:
    """Extraction is a function of the text."""
    assert extract(text) == extract(text)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(LOGS),
    st.sampled_from(LOGS),
    st.integers(0, 1500),
    st.integers(0, 1500),
    LINES,
)
def test_a_distilled_log_fails_like_the_whole(
    first: str, second: str, before: int, after: int, noise: list[str]
) -> None:
    """The signatures of the distilled text are those of the whole, at the same lines."""
    filler = [f"compiling unit {i} of many, flags -O2 -Wall -o build/unit{i}.o" for i in range(before)]
    filler += noise
    tail = [f"linking module {i} into the library of the project" for i in range(after)]
    text = "\n".join([*filler, first, *tail, second, *tail])
    small = distill(text)
    assert len(small.text.encode("utf-8", "surrogatepass")) <= 32768
    whole = [(one.sig_sha, one.line_start, one.line_end) for one in extract(text)]
    mapped = [
        (one.sig_sha, small.line_map[one.line_start - 1], small.line_map[one.line_end - 1])
        for one in extract(small.text)
    ]
    assert mapped == whole


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(LOGS), st.integers(0, 4000))
def test_a_failure_in_a_large_log_has_the_key_that_it_has_alone(log: str, before: int) -> None:
    """However much stands before it: the best of the log alone is the best of the large one."""
    filler = [f"compiling unit {i} of many, flags -O2 -Wall -o build/unit{i}.o" for i in range(before)]
    alone = [one.sig_sha for one in extract(log)[:1]]
    assert [one.sig_sha for one in extract("\n".join([*filler, log]))[:1]] == alone


def test_a_huge_line_is_no_trouble() -> None:
    """A line of many megabytes is cut to its ends before a pattern sees it."""
    text = "error: it broke " + "a@b.c/" * 500_000 + "\nfatal: no space left\n" + "9" * 2_000_000
    assert extract(text)
    assert len(distill(text).text.encode()) <= 32768


@pytest.mark.parametrize(
    ("seed", "logs"),
    [
        pytest.param("0", LOGS, marks=pytest.mark.slow),
        pytest.param("1", LOGS, marks=pytest.mark.slow),
        ("4242", LOGS[::5]),
    ],
    ids=["0", "1", "4242"],
)
def test_another_process_gives_the_same_keys(seed: str, logs: list[str]) -> None:
    """Keys depend on no hash seed."""
    program = (
        "import json, sys; from mem.parsing import extract;"
        "print(json.dumps([[s.sig_sha for s in extract(t)] for t in json.load(sys.stdin)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(logs),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert json.loads(done.stdout) == [[one.sig_sha for one in extract(log)] for log in logs]
