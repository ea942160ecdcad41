"""A memory whose point was a secret."""

from __future__ import annotations

from functools import cache

from pydantic import Field

from mem.domain.accepting import Verdict
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.trivial import telling_words
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import sentences


class _Secrets(Lexicon):
    min_telling_words: int = Field(ge=1)
    placeholder: Marks
    lessons: Phrases
    conditions: Marks
    discloses: Marks
    vocabulary: frozenset[str]
    bare: Marks
    harmless: Marks


def secret(case: Case) -> Verdict | None:
    """Object to a text that nothing useful is left of without its secret, or that tells one in prose."""
    rule = _rule()
    if _told_in_prose(case.text):
        return reject("secret", "The text tells a password or key in words; send the lesson without its value.")
    if rule.placeholder.search(case.text) is None:
        return None
    pieces = [(each, rule.conditions.sub(" ", rule.placeholder.sub("*", each))) for each in sentences(case.text)]
    if any(rule.lessons.search(rest) is not None for _, rest in pieces):
        return None
    telling = [rest for each, rest in pieces if rule.discloses.search(each) is None]
    left = telling_words(" ".join(telling)) - rule.vocabulary
    if len(left) >= rule.min_telling_words:
        return None
    return reject("secret", f"Without its secret the text, {quoted(case.text)}, tells nothing; say what was learned.")


def _told_in_prose(text: str) -> bool:
    rule = _rule()
    for found in rule.bare.finditer(text):
        value = next((each for each in found.groups() if each), "").rstrip(".!?)")
        mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
        whole = rule.harmless.search(value)
        if mixed and len(value) >= 6 and (whole is None or whole.span() != (0, len(value))):
            return True
    return False


@cache
def _rule() -> _Secrets:
    return lexicon("secrets.toml", _Secrets)
