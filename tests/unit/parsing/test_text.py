"""Decoding, words, and the lines a reader would quote."""

from __future__ import annotations

import gzip
import random

import pytest

from mem.parsing import decode, failure_lines, identifiers, looks_binary


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("é".encode(), "é"),
        ("\ufeffé".encode(), "é"),
        (b"\xff\xfe" + "é".encode("utf-16-le"), "é"),
        (b"\xfe\xff" + "é".encode("utf-16-be"), "é"),
        (b"caf\xe9 au lait", "café au lait"),
        ("ééé".encode() + b"\xff", "ééé\ufffd"),
        (b"\xff\xfea", "\ufffd"),
    ],
)
def test_bytes_become_text(data: bytes, text: str) -> None:
    """UTF-8 first, UTF-16 by its mark, latin-1 where the text is no UTF-8."""
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"", False),
        (b"plain\tlog\r\n\x1b[31m", False),
        (b"\xff\xfe" + "log".encode("utf-16-le"), False),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 60, True),
        (bytes(range(32)) * 9, True),
        (gzip.compress(bytes(range(256)) * 64 + b"a log line that varies\n" * 50, mtime=0), True),
        (random.Random(7).randbytes(4096), True),
        (b"one NUL \x00 in a log of some length", False),
    ],
)
def test_binary_data_is_known(data: bytes, binary: bool) -> None:
    """Control bytes make data binary; a stray NUL does not."""
    assert looks_binary(data) is binary


def test_identifiers_come_whole_and_in_parts() -> None:
    """Dotted, snake and camel names are found by each of their parts; codes stay."""
    words = identifiers("HTTPServerError in shop.cart_total: E0308 ERESOLVE 413")
    assert {
        "httpservererror", "http", "server", "error", "shop.cart_total", "cart_total", "cart", "total", "shop",
        "e0308", "eresolve", "413",
    } <= set(words)  # fmt: skip


TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
"""Made here, so that no scanner takes this file for a leak."""

LOG = f"""INFO up
Traceback (most recent call last):
  File "/srv/a.py", line 3, in f
    g(token="{TOKEN}")
ValueError: bad port 8443
"""


def test_failure_lines_show_what_a_reader_would_quote() -> None:
    """The lines are cleaned but not masked, frames are left out."""
    assert failure_lines(LOG, limit=9) == ["ValueError: bad port 8443"]


def test_failure_lines_hold_no_secret_and_no_long_line() -> None:
    """Lines are redacted and cut."""
    lines = failure_lines(f"fatal: token {TOKEN} refused " + "x" * 900, limit=3)
    assert "ghp_" not in lines[0]
    assert len(lines[0]) == 300


def test_a_log_without_failure_has_no_failure_lines() -> None:
    """Nothing failed, nothing is quoted."""
    assert failure_lines("all is well", limit=5) == []
    assert failure_lines(LOG, limit=0) == []
