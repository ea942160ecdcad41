"""Bytes to text, without ever failing."""

from __future__ import annotations

import codecs

_SAMPLE = 8192
_PIECE = 1 << 20
_UTF16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_BINARY_SHARE = 0.05


def decode(data: bytes) -> str:
    """The text of `data`: UTF-8 (bad bytes replaced), UTF-16 by its BOM, latin-1 where UTF-8 explains little."""
    for mark, codec in _UTF16:
        if data.startswith(mark):
            return data[2:].decode(codec, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    # A few bad bytes are a cut character or noise; if most of the bytes over
    # 0x7f are bad, the text was never UTF-8.
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    bad = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    return data.decode("latin-1") if bad * 2 > high else text


def as_utf8(data: bytes) -> bytes:
    """`data` itself where it is UTF-8 without a mark, else its text in UTF-8."""
    if not data.startswith((*(mark for mark, _ in _UTF16), b"\xef\xbb\xbf")) and _is_utf8(data):
        return data
    return decode(data).encode("utf-8", "replace")


def _is_utf8(data: bytes) -> bool:
    """Checked piece by piece, since a decoded copy of a large log takes as much memory again."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def looks_binary(data: bytes) -> bool:
    """Whether `data` is no text: NUL or control bytes in its head, and no UTF-16 mark."""
    head = data[:_SAMPLE]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    control = sum(head.count(code) for code in range(32) if code not in b"\t\n\r\x1b\x08\x0c\x07")
    return control > len(head) * _BINARY_SHARE or head.count(0) > max(1, len(head) // 100)


def without_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced, since they cannot be encoded; the lines stay the same."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
