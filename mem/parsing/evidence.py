"""Whether a text speaks of a failure that happened: what its end says, and whether a person wrote it."""

from __future__ import annotations

import re
from functools import cache

from mem.parsing.page import Page
from mem.parsing.rules import Classes, load

LAST_LINES = 6
"""Within so many lines a run says how it ended."""
_SENTENCE = 6
_LED = re.compile(
    r"\W*(?:unable|cannot|can.?t|could|couldn.?t|failed|failure|error|fatal|invalid|missing|unexpected|no|not)\b",
    re.IGNORECASE,
)


@cache
def _prose_words() -> frozenset[str]:
    return frozenset(load("classes.toml", Classes).prose_words.split())


def is_prose(line: str) -> bool:
    """Whether a person could have written `line` in a letter: plain words, several of which programs leave out.

    A line that begins with the failure, or with the name of who reports it, is none.
    """
    words = line.split()
    if words and not any(char.isalnum() for char in words[0]):
        words = words[1:]
    if len(words) < _SENTENCE or words[0].endswith(":") or _LED.match(line):
        return False
    bare = [word.strip(".,;:?!\"'()").lower() for word in words]
    plain = sum(1 for word in bare if word.isalpha() or word.replace("'", "").replace("-", "").isalpha())
    shouted = any(len(word) > 3 and word.isupper() for word in words)
    named = any(word.endswith(":") for word in words[:3])
    spoken = sum(1 for word in bare if word in _prose_words())
    return not shouted and plain >= 0.85 * len(words) and spoken >= (3 if named else 2)


def told(page: Page) -> bool:
    """Whether the end of the text says that something failed, though not what."""
    says, soft = page.bit("wrapper", "bad_count", "outer"), page.bit("zero", "passed", "low_level", "negation")
    looked = 0
    for line in range(len(page.lines) - 1, -1, -1):
        if page.lines[line].strip() or line in page.cleaned.marks:
            if page.bits[line] & says and not page.bits[line] & soft:
                return True
            looked += 1
            if looked > 2 * LAST_LINES:
                break
    return False
