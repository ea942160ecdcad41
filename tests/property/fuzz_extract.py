"""A fuzzer's target: whatever the bytes, parsing them raises nothing and contradicts itself in nothing.

Run by test_fuzz.py; by hand: `python tests/property/fuzz_extract.py [libFuzzer options] CORPUS`.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["mem.parsing"]):
    from mem.parsing import decode, distill, extract, extract_source, failure_lines, identifiers, mask
    from mem.parsing.redact import redact


def check(data: bytes) -> None:
    """One input, with all that is public."""
    extraction = extract_source("fuzz", data)
    assert all(1 <= one.line_start <= one.line_end <= data.count(b"\n") + 1 for one in extraction.signatures)
    text = decode(data)
    assert distill(text).source_bytes == len(text.encode("utf-8", "surrogatepass"))
    assert [one.sig_sha for one in extract(text)] == [one.sig_sha for one in extraction.signatures]
    redacted = redact(text).text
    assert redact(redacted).text == redacted
    masked = mask(text[:4000])
    assert mask(masked) == masked
    identifiers(text)
    failure_lines(text, limit=5)


def large(data: bytes) -> None:
    """The same bytes as lines of a log too large to be read whole."""
    check(data)
    check(data + b"\n" + b"compiling a unit with all flags\n" * 1100 + data)


if __name__ == "__main__":
    atheris.Setup(sys.argv, large)
    atheris.Fuzz()
