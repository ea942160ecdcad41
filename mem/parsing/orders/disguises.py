"""The other ways in which a text can be read: decoded, backwards, drawn with other letters, joined, apart."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import unquote

from ahocorasick_rs import AhoCorasick

from mem.parsing.orders.lookalikes import plain_letters
from mem.parsing.patterns import found_by
from mem.parsing.sanitize import strip_unsafe

_DEPTH = 3
_LEAST = 12
"""A shorter run of code says nothing."""
_MOST_RUNS = 40
_SCRAP = 3
_ENGLISH = re.compile(
    r"\b(?:the|and|you|your|to|of|is|all|this|that|must|not|with|for|ignore|instructions?|previous|system|prompt)\b",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,8192}={0,2}")
_BASE32 = re.compile(r"\b[A-Z2-7]{24,8192}={0,6}")
_HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}[ :,-]?){12,8192}")
_NUMBERS = re.compile(r"\b(?:[01]{8}|[0-7]{3}|\d{2,3})(?:[ ,;]+(?:[01]{8}|[0-7]{3}|\d{2,3})){11,8192}\b")
_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{3}))")
_ENTITY = re.compile(r"&(?:#|[a-zA-Z]{2,8};)")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_LEET_WORD = re.compile(r"[A-Za-z0-9@$!|]{3,24}")
_WORD = re.compile(r"[A-Za-z0-9@$!|]+")
_LEET = str.maketrans("01345789@$!|", "oieastbgasil")
_LEET_L = str.maketrans("01345789@$!|", "oleastbgasll")
_GLUE = re.compile(r"(?<=[A-Za-z])[_./\\|~+*=^\u00b7\u2022\u2024\u2026,;:-]+(?=[A-Za-z])|[`*|]+")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDED = re.compile(r"[.,;:!?\u2026]+\s+|\s*\n\s*(?:[-*+\u2022|]\s+)?")
_HYPHENED = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")
_CUT = re.compile(r"['\"]\s*[;,+&]?\s*(?:\w{1,12}\s*=\s*)?['\"]")
_ASIDE = re.compile(r"\s*\([^()\n]{1,80}\)")
_MARK = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_ATBASH = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"
)
_SMALL = str.maketrans(
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b"
    "\u1d1c\u1d20\u1d21\u028f\u1d22",
    "abcdefghijklmnoprstuvwyz",
)
# Letters that stand on their heads; some of them are other letters then.
_TURNED = "\u0250\u0254\u01dd\u025f\u0183\u0265\u0131\u027e\u029e\u026f\u0279\u0287\u028c\u028d\u028e"
_UPRIGHT = str.maketrans(f"{_TURNED}unpdbq", "acefghijkmrtvwynudpqb")
_LONG = re.compile(r"[A-Za-z]{14,200}")
_NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz"))
_DRAWN = r"[A-Za-z][0134578@$!|]|[0134578@$!|][A-Za-z]"
_REGIONAL = {0x1F1E6 + place: chr(ord("a") + place) for place in range(26)}


def readings(text: str) -> Iterator[str]:
    """The ways in which `text` can be read, itself first, each once; in time linear in its length."""
    seen: set[str] = set()
    layer = [text]
    for _ in range(_DEPTH):
        following: list[str] = []
        for each in layer:
            if each not in seen:
                seen.add(each)
                yield each
                following += [strip_unsafe(decoded).text for decoded in _decoded(each)]
        layer = following
    yield from _drawn(text, seen)


def decoded_prose(text: str) -> str | None:
    """What a run of code in `text` says, where that is prose."""
    return next((said for said in _runs(text) if len(said.split()) >= 3 and _ENGLISH.search(said)), None)


def plain_readings(text: str) -> Iterator[str]:
    """The readings of a text that is known to hold nothing to decode, no spaced letters and no strange ones."""
    yield text
    yield from _drawn(text, {text})


def decodes(text: str) -> bool:
    """Whether a run of code in `text` stands for a text."""
    return next(_runs(text), None) is not None


def drawn(text: str) -> Iterator[str]:
    """The words of `text` that have figures or signs among their letters, with letters in their place."""
    for word in _WORD.findall(text):
        if not word.isalpha() and any(map(str.isalpha, word)):
            yield word.translate(_LEET)
            yield word.translate(_LEET_L)


def merged(text: str) -> tuple[str, str]:
    """`text` without its hyphens at the ends of lines, and without what cuts words in two either."""
    joined = _HYPHENED.sub("", text)
    return joined, _ASIDE.sub("", _CUT.sub("", joined))


def cipher_words() -> list[str]:
    """The words of orders in the ciphers that anybody reads."""
    return [turned for word in _data()["words"].split() for turned in _turned(word)]


def _drawn(text: str, seen: set[str]) -> Iterator[str]:
    """What a person reads who looks over letters, signs and breaks."""
    for each in _redrawn(text):
        if each not in seen:
            seen.add(each)
            yield each


def _redrawn(text: str) -> Iterator[str]:
    if not text.isascii() and any(letter in text for letter in _TURNED):
        yield text.translate(_UPRIGHT)[::-1]
    plain = plain_letters(text)
    if not plain.isascii():
        plain = _unmarked(plain.translate(_REGIONAL).translate(_SMALL))
    yield plain
    alike = [plain, *(_leet(plain, table) for table in (_LEET, _LEET_L) if found_by(_DRAWN, plain))]
    yield from alike[1:]
    if any(_words().hidden.find_matches_as_indexes(_letters(each)) for each in alike):
        yield from _joined(plain)
    if _words().ciphers.find_matches_as_indexes(plain.lower()):
        yield from _turned(plain)


def _letters(text: str) -> str:
    """The small letters of `text` alone."""
    return text.lower().encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS).decode("ascii")


def _joined(text: str) -> Iterator[str]:
    """`text` without the signs, breaks and humps that stand between its words, and with gaps where there are none."""
    joined, uncut = merged(text)
    yield uncut
    yield _spaced(_GLUE.sub(" ", joined))
    yield _spaced(_HUMPS.sub(" ", joined) if found_by("[a-z][A-Z]", joined) else joined)
    yield _spaced(_GLUE.sub(" ", _unended(joined)))
    if found_by("[A-Za-z]{14}", text):
        inside = _words().inside
        yield _LONG.sub(lambda found: _spaced(inside.sub(r" \g<0> ", found.group())), text)


def _unended(text: str) -> str:
    """`text` without the stops around scraps: whoever puts one between words writes no sentences."""
    parts = _ENDED.split(text)
    ends = _ENDED.findall(text)
    scraps = [len(part.split()) <= _SCRAP for part in parts]
    pairs = zip(ends, scraps, scraps[1:], parts[1:], strict=False)
    return parts[0] + "".join(f"{' ' if one or other else end}{part}" for end, one, other, part in pairs)


def _turned(text: str) -> Iterator[str]:
    """The ciphers that anybody reads: rot13, back to front, the alphabet back to front."""
    yield codecs.encode(text, "rot13")
    yield text[::-1]
    yield text.translate(_ATBASH)


class _Words(NamedTuple):
    hidden: AhoCorasick
    ciphers: AhoCorasick
    inside: re.Pattern[str]


@cache
def _words() -> _Words:
    data = _data()
    words = data["words"].split()
    inside = sorted(data["inside"].split(), key=lambda word: (-len(word), word))
    return _Words(
        AhoCorasick(words),
        AhoCorasick(cipher_words()),
        re.compile("|".join(inside), re.IGNORECASE),
    )


@cache
def _data() -> dict[str, str]:
    return tomllib.loads(files(__package__).joinpath("disguises.toml").read_text(encoding="utf-8"))


def _unmarked(text: str) -> str:
    """Letters without what is drawn over, under or through them; compatibility forms put right."""
    if text.isascii():
        return text
    return _MARK.sub("", unicodedata.normalize("NFKD", text))


def _leet(text: str, table: dict[int, int]) -> str:
    """Figures and signs as the letters that they are drawn for, in words that have letters, too."""

    def righted(found: re.Match[str]) -> str:
        word = found.group()
        return word.translate(table) if any(map(str.isalpha, word)) else word

    return _LEET_WORD.sub(righted, text)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _decoded(text: str) -> Iterator[str]:
    if _ENTITY.search(text):
        yield html.unescape(text)
    if _PERCENT.search(text):
        yield unquote(text, errors="replace")
    if _ESCAPES.search(text):
        yield _ESCAPES.sub(_escaped, text)
    yield from _runs(text)


def _escaped(found: re.Match[str]) -> str:
    octal, number = found[4], found[1] or found[2] or found[3]
    code = int(octal, 8) if octal else int(number, 16)
    return chr(code) if code <= 0x10FFFF else ""


def _runs(text: str) -> Iterator[str]:
    """What runs of base64, base32, hexadecimal and numbers of characters stand for, where that is text."""
    for needed, pattern, decode in _codings():
        if text.isascii() and not found_by(needed, text):
            continue
        for place, run in enumerate(pattern.finditer(text)):
            if place == _MOST_RUNS:
                break
            said = _said(decode, run.group())
            if said is not None:
                yield said


def _said(decode: Callable[[str], bytes], run: str) -> str | None:
    try:
        said = decode(run).decode("utf-8")
    except (ValueError, binascii.Error):
        return None
    readable = sum(char.isprintable() or char in "\n\t" for char in said)
    return said if len(said) >= _LEAST and readable >= 0.9 * len(said) else None


@cache
def _codings() -> tuple[tuple[str, re.Pattern[str], Callable[[str], bytes]], ...]:
    """Of each coding what a text has to hold, where its runs are, and how one is decoded."""
    numbers = r"\d{2}[ ,;]+(?:\d{2,8}[ ,;]+){10}\d{2}"
    return (
        ("[A-Za-z0-9+/_-]{16}", _BASE64, _of_base64),
        ("[A-Z2-7]{24}", _BASE32, lambda run: base64.b32decode(run.rstrip("=") + "=" * (-len(run.rstrip("=")) % 8))),
        (_HEX.pattern.replace(",8192", ""), _HEX, lambda run: bytes.fromhex(re.sub(r"[ :,-]", "", run))),
        (
            numbers,
            _NUMBERS,
            lambda run: bytes(int(number, 2) if len(number) == 8 else int(number) for number in _split(run)),
        ),
        (numbers, _NUMBERS, lambda run: bytes(int(number, 8) for number in _split(run))),
    )


def _of_base64(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(run + "=" * (-len(run) % 4), validate=True)


def _split(run: str) -> list[str]:
    return re.split(r"[ ,;]+", run)
