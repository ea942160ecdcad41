"""A text that tells nothing which could help next time."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from mem.domain.accepting import Verdict
from mem.parsing.rules import compile_pattern
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Phrases, lexicon
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import sentences, tells, words


def _whole(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError("hollow sentences are a list of patterns")
    return compile_pattern(rf"(?i)^\W*(?:{'|'.join(value)})\W*$")


class _Trivial(Lexicon):
    min_telling_words: int = Field(ge=1)
    empty_words: frozenset[str]
    advises: Phrases
    decides: Phrases
    common: frozenset[str]
    hollow: Annotated[Any, PlainValidator(_whole)]


def trivial(case: Case) -> Verdict | None:
    """Object to a text with too few telling words, those of hollow sentences not counted."""
    rule = _rule()
    full = [each for each in sentences(case.text) if rule.hollow.search(each) is None and not _is_common(each)]
    if len(telling_words(" ".join(full))) >= rule.min_telling_words:
        return None
    return reject(
        "trivial",
        f"The text, {quoted(case.text)}, names neither a cause nor a remedy nor a decision that could help next time.",
    )


def telling_words(text: str) -> set[str]:
    """The distinct words of a text that could tell a reader something, in lower case."""
    empty = _rule().empty_words
    return {word for word in words(text) if word not in empty and tells(word)}


def _is_common(sentence: str) -> bool:
    """Whether a sentence is advice that everybody knows and that names nothing."""
    rule = _rule()
    if rule.advises.search(sentence) is None or rule.decides.search(sentence) is not None:
        return False
    return telling_words(sentence) <= rule.common


@cache
def _rule() -> _Trivial:
    return lexicon("trivial.toml", _Trivial)
