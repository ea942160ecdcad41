"""Distilling: a large log becomes small and fails alike."""

from __future__ import annotations

import hashlib

from mem.parsing import distill, extract
from mem.parsing.redact import redact

FAILURE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'
FILLER = "".join(f"compiling unit {i} with all flags that there are\n" for i in range(3000))


def test_a_small_text_stays_whole() -> None:
    """Below the limit nothing changes, and each line stands for itself."""
    small = distill(FAILURE)
    assert small.text == FAILURE
    assert small.line_map == list(range(1, 6))


def test_a_large_text_is_cut_and_fails_alike() -> None:
    """The signatures are those of the whole, and the map leads to their lines."""
    text = FILLER + FAILURE + FILLER
    small = distill(text)
    assert len(small.text.encode()) <= 32768
    first, shown = extract(text)[0], extract(small.text)[0]
    assert shown.sig_sha == first.sig_sha
    assert small.line_map[shown.line_start - 1] == first.line_start == 3001
    assert small.line_map[shown.line_end - 1] == first.line_end


def test_each_kept_line_is_the_line_it_stands_for() -> None:
    """Lines of the distilled text stand in the original where the map says."""
    text = FILLER + FAILURE + FILLER
    small, lines = distill(text), text.split("\n")
    for number, line in zip(small.line_map, small.text.split("\n"), strict=True):
        assert line == lines[number - 1] or line.startswith("[mem: ")


def test_the_source_is_named() -> None:
    """Sha and size are those of the original."""
    text = FILLER + FAILURE
    small = distill(text)
    assert small.source_sha == hashlib.sha256(text.encode()).hexdigest()
    assert small.source_bytes == len(text.encode())


def test_a_large_log_without_failure_distills_to_none() -> None:
    """Where the whole has no failure, the small text has none."""
    small = distill(FILLER)
    assert len(small.text.encode()) <= 32768
    assert extract(small.text) == []


def test_the_body_of_a_private_key_is_never_kept() -> None:
    """Also where its first line, far above what was kept, does not tell what it is."""
    body = "".join("Qm9keSBvZiBhIGtleSwgbGluZSBieSBsaW5l" + f"{i:02}\n" for i in range(60))
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----\n", "-----END RSA PRIVATE " + "KEY-----\n"
    whole = distill(FILLER + begin + body + end + FAILURE + FILLER).text
    cut = distill(FILLER + begin + body + FAILURE + FILLER).text
    for text in (whole, cut):
        assert "ValueError: no" in text
        assert "Qm9keSBvZiB" not in text


def test_a_value_announced_far_above_is_hidden() -> None:
    """The announcement need not be kept to be heeded, and hiding keeps the key of the redacted log."""
    value = "correct-horse-battery"
    text = f"::add-mask::{value}\n{FILLER}{FAILURE.replace('no', value)}{FILLER}"
    small = distill(text)
    assert value not in small.text
    assert "ValueError: [redacted:masked-value]" in small.text
    assert extract(text)[0].sig_sha == extract(redact(text).text)[0].sig_sha


def test_a_long_block_keeps_its_ends() -> None:
    """Of a trace of hundreds of frames the first and the last stay, and its lines are those of the whole."""
    frames = "".join(f'  File "a{chr(97 + i % 26)}.py", line {i}, in f{i}\n    g()\n' for i in range(110))
    text = f"{FILLER}Traceback (most recent call last):\n{frames}ValueError: no\n{FILLER}"
    first = extract(text)[0]
    assert (first.line_start, first.line_end) == (3001, 3222)
    assert first.message == "no"


def test_lines_far_too_long_still_fit() -> None:
    """A failure among lines of many kilobytes is kept within the limit."""
    wide = "error: " + "x" * 9000 + "\n"
    small = distill(wide * 40 + FILLER + FAILURE)
    assert len(small.text.encode()) <= 32768
    assert extract(small.text)[0].code == "ValueError"
