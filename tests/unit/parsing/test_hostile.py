"""Whatever a log holds, extraction raises nothing, and it gives the same however it is run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mem.parsing import distill, explain_source, extract, extract_source

FOLDER = Path(__file__).parents[2] / "fixtures" / "golden_logs"
LOGS = [path.read_text(encoding="utf-8").partition("#: ---\n")[2] for path in sorted(FOLDER.glob("*.log"))]
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "shop/cart.py", line 14, in total\n    price(item)\n'
    '  File "shop/price.py", line 3, in price\n    raise KeyError(item)\n'
    "KeyError: 'gözleme'\n"
)
FILLER = "compiling a unit with all the flags that there are\n" * 900


@pytest.mark.parametrize("around", ["", FILLER], ids=["small", "large"])
def test_a_traceback_cut_at_every_byte(around: str) -> None:
    """A log may end anywhere, and so may the pieces that somebody pasted."""
    data = (around + TRACE).encode()
    for end in range(len(data) - len(TRACE.encode()), len(data) + 1):
        extraction = extract_source("cut", data[:end])
        assert all(1 <= one.line_start <= one.line_end <= extraction.lines for one in extraction.signatures)
    whole = extract_source("whole", data).signatures[0]
    assert (whole.rule, whole.code) == ("python.traceback", "KeyError")


@pytest.mark.parametrize("repeat", [1, 900], ids=["small", "large"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "latin-1"])
def test_any_encoding_gives_the_same_failure(codec: str, repeat: int) -> None:
    """UTF-16 with its mark, UTF-8 with one, or bytes that are no UTF-8: the key is that of the text."""
    text = "compiling a unit with all the flags that there are\n" * repeat + TRACE
    plain, other = extract(text)[0], extract_source("x", text.encode(codec)).signatures[0]
    assert (other.sig_sha, other.line_start, other.line_end) == (plain.sig_sha, plain.line_start, plain.line_end)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("\n", "\x00\n"),
        lambda text: text.replace("raise", "\x1b[1m\x1b[\x1b]0;title\x07\x1b[31mraise"),
        lambda text: "".join(f"\x1b[{i % 90}m{line}\x1b[0m\r\n" for i, line in enumerate(text.splitlines())),
        lambda text: "\x00" * 5000 + "\n" + text,
        lambda text: "\x1b[" * 3000 + "\n" + text,
    ],
    ids=["nul", "nested escapes", "every line coloured", "a line of nul", "escapes without end"],
)
def test_damage_around_a_failure_does_not_hide_it(damage: object) -> None:
    """NUL bytes and escapes, nested or without an end, leave the key as it is."""
    shown = extract(damage(TRACE))  # type: ignore[operator]
    assert shown[0].sig_sha == extract(TRACE)[0].sig_sha


def test_interleaved_jobs_raise_nothing_and_keep_what_stands_on_one_line() -> None:
    """Two jobs that write by turns tear blocks apart; each line is still one's own."""
    first = [f"api_1  | {line}" for line in TRACE.splitlines()]
    second = [f"web_1  | src/cart.ts(3,{i}): error TS2345: no overload matches {i}" for i in range(6)]
    text = "\n".join(line for pair in zip(first, second, strict=False) for line in pair)
    assert "TS2345" in {one.code for one in extract(text)}


def test_threads_give_what_one_gives() -> None:
    """Extraction shares nothing that a run changes."""
    logs = [*LOGS[::6], *(FILLER + log + FILLER for log in LOGS[::40])]
    alone = [[one.sig_sha for one in extract(log)] for log in logs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda log: [one.sig_sha for one in extract(log)], logs * 2))
    assert together == alone * 2


def test_an_explanation_adds_up() -> None:
    """The features of each candidate sum to its score, those that became signatures are the extraction's."""
    for log in [*LOGS[::9], FILLER + LOGS[3]]:
        explanation = explain_source("x", log.encode())
        for one in explanation.candidates:
            assert sum(one.features.values()) == pytest.approx(one.score, abs=0.01)
        chosen = [one.sig_sha for one in explanation.candidates if one.fate == "signature"]
        assert chosen == [one.sig_sha for one in explanation.signatures]
        scores = [one.score for one in explanation.candidates]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_one_line_of_fifty_megabytes() -> None:
    """It is cut before any pattern sees it, and what stands around it is found."""
    text = "error: it broke " * 3_300_000 + "\n" + TRACE
    assert any(one.code == "KeyError" for one in extract(text))
    assert len(distill(text).text.encode()) <= 32768
