"""Letters of one script in the place of another's."""

from __future__ import annotations

import re
import unicodedata

from mem.parsing.patterns import found_by

# Cyrillic and Greek letters that are drawn like Latin ones.
_CYRILLIC = dict(zip("авекмнорстухѕіјԁԛԝһӏьАВЕКМНОРСТУХЅІЈԚԜ", "abekmhopctyxsijdqwhlbABEKMHOPCTYXSIJQW", strict=True))
_GREEK = dict(zip("αεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeiknoptuxABEZHIKMNOPTYX", strict=True))
_LATIN_FOR = str.maketrans(_CYRILLIC | _GREEK)
_WORD = re.compile(r"[^\W\d_]{3,40}")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_MAYBE_SPACED = r"(?:[A-Za-z][ ._*-]){5}[A-Za-z]"
_SPACED = re.compile(r"(?<!\w)(?:[A-Za-z][ ._*-]){5,60}[A-Za-z](?!\w)")


def mixed_words(text: str) -> list[str]:
    """The words that mix Latin letters with look-alikes of Cyrillic or Greek, in their order."""
    if text.isascii():
        return []
    return [word for word in _WORD.findall(text) if _is_mixed(word)]


def plain_letters(text: str) -> str:
    """`text` as it reads: compatibility forms and look-alikes put right, spaced letters drawn together."""
    if not text.isascii():
        text = _WORD.sub(lambda found: _righted(found.group()), unicodedata.normalize("NFKC", text))
    elif not found_by(_MAYBE_SPACED, text):
        return text
    return _SPACED.sub(lambda found: re.sub(r"[ ._*-]", "", found.group()), text)


def _righted(word: str) -> str:
    """A word that is Latin for the most part, in Latin; one of another script stays."""
    return word.translate(_LATIN_FOR) if _is_mixed(word) else word


def _is_mixed(word: str) -> bool:
    others = _OTHER.findall(word)
    if not others or _LATIN.search(word) is None:
        return False
    return all(ord(letter) in _LATIN_FOR for letter in others)
