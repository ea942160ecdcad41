"""A hedged cause without a check."""

from __future__ import annotations

from functools import cache

from mem.domain.accepting import Verdict
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import lines_with, sentences


class _Speculation(Lexicon):
    guess: Phrases
    elsewhere: Marks
    either: Marks
    hedge: Phrases
    cause: Phrases
    opening: Marks
    harmless: Marks
    rejected: Phrases
    check: Phrases
    elsewhere_checked: Marks
    shown: Phrases
    unchecked: Phrases
    success: Phrases
    failure: Phrases
    change: Phrases
    repeated: Phrases


def speculation(case: Case) -> Verdict | None:
    """Object to a guess at the cause where neither text nor evidence tells of a check."""
    rule = _rule()
    pieces = sentences(case.text)
    guesses = [piece for piece in pieces if _guesses(piece)]
    if not guesses or _checked(case.text):
        return None
    others = [piece for piece in pieces if piece not in guesses]
    if any(rule.cause.search(piece) is not None and rule.hedge.search(piece) is None for piece in others):
        return None
    if any(_shows_check(each.text) or _cured(each.text) for each in case.evidence):
        return None
    return reject(
        "speculation",
        f"The cause is a guess, {quoted(guesses[0])}, and nothing tells of a check; say how it was verified.",
    )


def _guesses(sentence: str) -> bool:
    rule = _rule()
    if rule.harmless.search(sentence) is not None or rule.rejected.search(sentence) is not None:
        return False
    if any(cues.search(sentence) is not None for cues in (rule.guess, rule.opening, rule.elsewhere, rule.either)):
        return True
    return rule.hedge.search(sentence) is not None and rule.cause.search(sentence) is not None


def _checked(text: str) -> bool:
    """Whether a text tells of a check that was made; one that is told to be missing is taken out first."""
    rule = _rule()
    told = rule.unchecked.sub(" ", text)
    return rule.check.search(told) is not None or rule.elsewhere_checked.search(told) is not None


def _shows_check(evidence: str) -> bool:
    """The same for evidence, where tools print that they verified a checksum."""
    shown = _rule().shown
    return any(shown.search(_rule().unchecked.sub(" ", line)) is not None for _, line in lines_with(shown, evidence))


def _cured(text: str) -> bool:
    """Whether a failure is followed by a change and that by success; to do the same again changes nothing."""
    rule = _rule()
    failed = rule.failure.search(text)
    if failed is None:
        return False
    changes = (end for end, line in lines_with(rule.change, text, failed.end()) if rule.repeated.search(line) is None)
    changed = next(changes, None)
    if changed is None:
        return False
    return any(
        rule.repeated.search(line) is None and rule.failure.search(line) is None
        for _, line in lines_with(rule.success, text, changed)
    )


@cache
def _rule() -> _Speculation:
    return lexicon("speculation.toml", _Speculation)
