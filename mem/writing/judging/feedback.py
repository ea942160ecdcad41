"""A candidate that only says again what this system said before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mem.domain.accepting import Verdict
from mem.parsing.evidence import is_prose
from mem.writing.judging.case import Case
from mem.writing.judging.returned import Returned, feedback, without_returned
from mem.writing.judging.trivial import telling_words
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import stem

_LONGEST_CHATTER = 240
_STRING_EDGE = re.compile(r"(?<!\\)\\*\"")


def self_feedback(case: Case) -> Verdict | None:
    """Object to our own output as a lesson, to evidence that is nothing else, and to a returned lesson said again.

    What was learned after a lookup, with a log of its own beside the answer, is independent.
    """
    mine = without_returned(case.text)
    if mine.name is not None and len(_own_words(mine.rest)) < feedback().min_own_words:
        return reject("self-feedback", f"The text is {mine.name} of this memory itself; say what was learned since.")
    if case.level == "L2":
        return None  # it stands on its lessons, whatever else it brings
    seen = [without_returned(each.text) for each in case.evidence]
    name = next((each.name for each in seen if each.name is not None), None)
    if name is None:
        return None
    rest = "\n".join(each.rest for each in seen)
    if len(_own_words(rest)) < feedback().min_telling_words:
        return reject(
            "self-feedback", f"The evidence is nothing but {name} of this memory itself; bring the log or transcript."
        )
    if (lesson := _said_again(case.text, seen)) is not None and not _shows_something(rest):
        return reject(
            "self-feedback",
            f"The text says again what this memory returned, {quoted(lesson)}, and nothing else shows it.",
        )
    return None


def _own_words(rest: str) -> set[str]:
    """The telling words of what is left, chatter about asking us and the wrapping of transcripts not counted."""
    kept = [line for line in _lines(rest) if not _is_chatter(line)]
    return telling_words("\n".join(kept)) - feedback().leftover.vocabulary


def _lines(rest: str) -> Iterator[str]:
    """The lines of what is left; of a line of JSON its strings."""
    for line in rest.split("\n"):
        yield from _STRING_EDGE.split(line) if "{" in line else (line,)


def _is_chatter(line: str) -> bool:
    leftover = feedback().leftover
    if len(line) > _LONGEST_CHATTER or leftover.chatter.search(line) is None:
        return False
    return leftover.outcome.search(line) is None


def _said_again(text: str, seen: list[Returned]) -> str | None:
    """The returned lesson that holds nearly all words of the text."""
    mine = {stem(word) for word in telling_words(text)}
    for lesson in (lesson for each in seen for lesson in each.lessons):
        theirs = {stem(word) for word in telling_words(lesson)}
        if len(mine & theirs) >= feedback().contained * len(mine):
            return lesson
    return None


def _shows_something(rest: str) -> bool:
    """Whether what is left is more than talk: an outcome, or output of a program."""
    for line in _lines(rest):
        if line.strip() and not _is_chatter(line):
            if feedback().leftover.outcome.search(line) is not None:
                return True
            if not is_prose(line) and len(_own_words(line)) >= feedback().min_telling_words:
                return True
    return False
