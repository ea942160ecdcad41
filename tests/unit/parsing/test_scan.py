"""The scan of a large log: places, sections, and how little depends on where it is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from mem.parsing import scan
from mem.parsing.distill import condensed
from mem.parsing.scan import Scanner

FILLER = "".join(f"compiling unit {i} with all flags that there are\n" for i in range(900))
FAILURE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'
FOLDER = Path(__file__).parents[2] / "fixtures" / "golden_logs"
LOGS = [path.read_text(encoding="utf-8").partition("#: ---\n")[2] for path in sorted(FOLDER.glob("*.log"))]


def step(name: str, body: str, status: int) -> str:
    end = f"##[error]Process completed with exit code {status}.\n" if status else ""
    return f"##[group]Run {name}\n{name}\n##[endgroup]\n{body}{end}"


def test_a_hit_knows_its_line_and_its_byte() -> None:
    """The line numbers count line feeds and the byte offsets lead to the lines."""
    data = (FILLER + "\r\n\n" + FAILURE + FILLER + "error: it broke").encode()
    outline = Scanner(data).scan()
    assert outline.lines == data.count(b"\n") + 1
    assert {hit.place.line for hit in outline.hits} >= {902, 905}
    for hit in outline.hits:
        assert data.count(b"\n", 0, hit.place.at) == hit.place.line
        assert hit.place.at == 0 or data[hit.place.at - 1 : hit.place.at] == b"\n"


def test_the_failing_step_is_told_from_those_that_passed() -> None:
    """The first step that failed, with its beginning, its end and its status."""
    text = step("setup", FILLER, 0) + step("build", FILLER + FAILURE, 2) + step("clean", FILLER, 0)
    outline = Scanner(text.encode()).scan()
    assert [(section.status, section.begin.line) for section in outline.failed] == [(2, 903)]
    assert outline.hits[0].section is outline.failed[0]


def test_what_stands_in_a_passed_step_too_counts_less() -> None:
    """A line like one of a step that passed goes behind one that only the failing step has."""
    noise = "error: could not read the cache of run 17\n"
    text = step("setup", noise + FILLER, 0) + step("build", noise + "error: no rule for it\n" + FILLER, 2)
    outline = Scanner(text.encode()).scan()
    lines = text.split("\n")
    assert lines[outline.hits[0].place.line] == "error: no rule for it"


@pytest.mark.parametrize("chunk", [300, 1000, 4096])
def test_where_the_log_is_cut_changes_nothing(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """Any size of the pieces that the scan reads gives the same text."""
    texts = [(FILLER + log + FILLER + log).encode() for log in LOGS[::4]]
    whole = [condensed(text) for text in texts]
    monkeypatch.setattr(scan, "_CHUNK", chunk)
    assert [condensed(text) for text in texts] == whole


def test_a_quote_that_never_ends_hides_nothing() -> None:
    """A report that quotes a command over lines is skipped only where it ends soon."""
    text = FILLER + 'The command "make\n' + FAILURE + FILLER
    assert any(hit.place.line == 901 for hit in Scanner(text.encode()).scan().hits)


def test_memory_of_a_scan_is_bounded() -> None:
    """However many lines may tell the failure, and however many steps fail, few are remembered."""
    many = "".join(
        f"error: {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)} broke\n" for i in range(9000)
    )
    steps = "".join(step(f"s{i}", f"error: {i} of it\n", 1) for i in range(300))
    outline = Scanner((many + steps).encode()).scan()
    assert len(outline.hits) <= 2000
    assert len(outline.failed) <= 40
    assert outline.failed[0].begin.line == 9000
