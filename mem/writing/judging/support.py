"""A claim that its own evidence contradicts."""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.accepting import Verdict
from mem.domain.nodes import Node
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.trivial import telling_words
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import sentences, stem, tokens

_LAST = 50
"""Of many statements that no cause was found the last so many count."""
_CLAUSE_END = re.compile(r"\n|[.;]\s")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _Cause(_Part):
    shown: float = Field(gt=0, le=1)
    unfound: Phrases
    unfound_elsewhere: Marks
    cleared: Phrases
    found: Phrases
    cured: Marks
    links: Phrases
    states: Phrases
    admits: Phrases
    later: Phrases


class Success(_Part):
    """Claims of a remedy, and how evidence tells that it was none."""

    same: int = Field(ge=1)
    claims: Phrases
    by: Marks
    concedes: Phrases
    still: Phrases
    succeeded: Phrases
    command: Marks
    failed: Phrases


class Denial(_Part):
    """How evidence says that something is not so."""

    words: int = Field(ge=1)
    denies: Marks
    fine: Marks
    recovered: Phrases
    corrects: Marks
    negation: Phrases
    after_all: Phrases
    vague: frozenset[str]


class Support(Lexicon):
    """The rule file; its head explains the fields."""

    cause: _Cause
    success: Success
    denial: Denial


def stated_cause(sentence: str) -> str | None:
    """The part of a sentence that states a cause; the whole of it where the words do not say which part."""
    rule = support().cause
    link = rule.links.search(sentence)
    if link is not None and telling_words(sentence[link.end() :]):
        return sentence[link.end() :]
    return sentence if rule.states.search(sentence) is not None else None


def without_a_finding(case: Case) -> Verdict | None:
    """Object to a cause where the evidence ends with the statement that none was found."""
    rule = support().cause
    if rule.admits.search(case.text) is not None or rule.later.search(case.text) is not None:
        return None
    causes = [part for part in map(stated_cause, sentences(case.text)) if part is not None]
    if not causes:
        return None
    unfound = [(each, found) for each in case.evidence if (found := _last_unfound(each.text)) is not None]
    if not unfound or any(_found_behind(each, found, case.evidence) for each, found in unfound):
        return None
    seen = _words_seen(case.evidence)
    for part in causes:
        mine = stems(part)
        if len(mine & seen) < rule.shown * len(mine):
            return reject(
                "unsupported",
                f"The evidence says {quoted(unfound[0][1].group())}, and nothing in it shows the cause that the text "
                f"states, {quoted(part)}; bring what shows it.",
            )
    return None


def stems(text: str) -> set[str]:
    """The telling words of a text without their endings; of a compound also its parts."""
    return {stem(part) for word in telling_words(text) for part in (word, *tokens(word)) if len(part) > 2}


def _last_unfound(text: str) -> Any:
    """The last statement of an evidence that no cause was found, unless it says that nothing fails any more."""
    rule = support().cause
    last = None
    for cues in (rule.unfound, rule.unfound_elsewhere):
        for found in reversed(deque(cues.finditer(text), _LAST)):
            cured = rule.cured.search(text[found.end() : found.end() + 60])
            if cured is None or cured.start() != 0:
                last = found if last is None or found.start() > last.start() else last
                break
    return last


def _found_behind(each: Node, unfound: Any, evidence: tuple[Node, ...]) -> bool:
    """Whether the cause was found after all, further down or at a later turn of the same source."""
    found = support().cause.found
    if found.search(each.text, unfound.end()) is not None:
        return True
    return any(found.search(other.text) is not None for other in evidence if later_turn(each, other))


def later_turn(one: Node, other: Node) -> bool:
    """Whether `other` is what happened next."""
    return other.source == one.source and one.turn is not None and other.turn is not None and other.turn > one.turn


def _words_seen(evidence: tuple[Node, ...]) -> set[str]:
    """The words of all evidence but for statements that no cause was found, and that something is in order."""
    rule = support().cause
    seen: set[str] = set()
    for each in evidence:
        text = rule.unfound_elsewhere.sub(" ", rule.unfound.sub(" ", each.text))
        seen.update(tokens(_without_cleared(text)))
    return {stem(word) for word in seen}


def _without_cleared(text: str) -> str:
    last, pieces = 0, []
    for found in support().cause.cleared.finditer(text):
        if found.start() >= last:
            begin = max(text.rfind(mark, last, found.start()) for mark in ("\n", ". ", "; ")) + 1
            pieces.append(text[last : max(last, begin)])
            end = _CLAUSE_END.search(text, found.end())
            last = len(text) if end is None else end.start()
    return "".join([*pieces, text[last:]])


@cache
def support() -> Support:
    """The rule file."""
    return lexicon("support.toml", Support)
