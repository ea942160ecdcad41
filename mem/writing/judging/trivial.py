"""A text that tells nothing which could help next time."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.domain.accepting import Verdict
from mem.writing.judging.case import Case
from mem.writing.judging.verdicts import reject

# Han, kana and Thai are written without spaces: there each character tells about as much as a short word.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}](?:(?![{_UNSPACED}])[\w'-])*")
_ALONE = re.compile(f"[{_UNSPACED}]")


class _TrivialRule(NamedTuple):
    min_telling_words: int
    empty_words: frozenset[str]


def trivial(case: Case) -> Verdict | None:
    """Object to a text with too few telling words."""
    if len(telling_words(case.text)) >= _trivial_rule().min_telling_words:
        return None
    return reject("trivial", "The text names neither a cause nor a remedy nor a decision that could help next time.")


def telling_words(text: str) -> set[str]:
    """The distinct words of a text that could tell a reader something, in lower case."""
    empty = _trivial_rule().empty_words
    words = {match.group().lower() for match in _WORD.finditer(text)}
    return {word for word in words if word not in empty and _tells(word)}


def _tells(word: str) -> bool:
    return len(word) > 2 or any(char.isdigit() or _ALONE.match(char) for char in word)


@cache
def _trivial_rule() -> _TrivialRule:
    rules = tomllib.loads(files("mem.writing").joinpath("rules/trivial.toml").read_text(encoding="utf-8"))["trivial"]
    return _TrivialRule(rules["min_telling_words"], frozenset(rules["empty_words"]))
