"""Characters that hide or reorder text are taken out; what a reader sees stays."""

from __future__ import annotations

import pytest

from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe

UNSEEN = [
    "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u3164", "\ufe0f",
    "\u202e", "\u2066", "\u200f", "\u061c", "\U000e0041", "\U000e0100", "\ufdd0", "\uffff", "\U0001fffe",
]  # fmt: skip


@pytest.mark.parametrize("character", UNSEEN)
def test_unseen_characters_go(character: str) -> None:
    """Both functions take out what a reader cannot see, and count it."""
    for strip in (strip_unsafe, strip_bidi_and_zero_width):
        assert strip(f"a{character}b{character}") == ("ab", 2)


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x08", "\r", "\x1b", "\x7f", "\x9b"])
def test_control_characters_go_from_short_texts_only(character: str) -> None:
    """A raw log keeps them, since colour codes and rewritten lines are parsed later."""
    assert strip_unsafe(f"a{character}b\n") == ("ab\n", 1)
    assert strip_bidi_and_zero_width(f"a{character}b\n") == (f"a{character}b\n", 0)


@pytest.mark.parametrize("text", ["a\tb\nc", "naïve 日本語 עברית عربي", "\U0001f600", "", "e\u0301"])
def test_readable_text_stays(text: str) -> None:
    """Tabs, line feeds, other scripts, combining accents and emoji are readable."""
    assert strip_unsafe(text) == (text, 0)
    assert strip_bidi_and_zero_width(text) == (text, 0)


def test_a_lone_surrogate_is_replaced() -> None:
    """It cannot be encoded; the replacement character shows that something was there."""
    assert strip_unsafe("a\ud800b") == ("a\ufffdb", 1)
    assert strip_bidi_and_zero_width("\ud83d\ude00") == ("\ufffd\ufffd", 2)


def test_a_foreign_line_break_becomes_a_space() -> None:
    """Two words stay two, and the number of lines does not depend on who counts them."""
    assert strip_unsafe("a\u2028b\x85c") == ("a b c", 2)


@pytest.mark.parametrize("strip", [strip_unsafe, strip_bidi_and_zero_width])
def test_stripping_twice_changes_nothing(strip: object) -> None:
    """Every character of the planes at once."""
    assert callable(strip)
    text = "".join(chr(code) for code in range(0, 0x110000, 7))
    once = strip(text).text
    assert strip(once) == (once, 0)
