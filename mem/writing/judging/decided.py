"""A decision that the evidence records the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from pydantic import Field

from mem.domain.accepting import Verdict
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.support import support
from mem.writing.judging.trivial import telling_words
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import sentences, stem, words

_LAST = 200


class _Decided(Lexicon):
    words: int = Field(ge=1)
    records: Phrases
    takes: Marks
    drops: Marks
    doubtful: Phrases


class _Stand(NamedTuple):
    thing: tuple[str, ...]
    taken: bool
    sentence: str


def decided_otherwise(case: Case) -> Verdict | None:
    """Object to a decision whose opposite is the last word of the evidence about the matter."""
    mine = list(_stands(case.text))
    if not mine:
        return None
    recorded = [each for each in case.evidence if _rule().records.search(each.text) is not None]
    ordered = sorted(recorded, key=lambda each: (each.turn is None, each.turn or 0, each.sha))
    about = {each.thing[0] for each in mine}
    last = {each.thing[0]: each for one in ordered for each in _stands(one.text, about)}
    for stand in mine:
        other = last.get(stand.thing[0])
        if other is not None and other.taken != stand.taken and _same(stand, other):
            return reject(
                "unsupported",
                f"The text says {quoted(stand.sentence)}, the evidence {quoted(other.sentence)}; tell what holds.",
            )
    return None


def _same(one: _Stand, other: _Stand) -> bool:
    """Whether two things are one: the shorter name begins the longer, or one is a word alone."""
    shorter = min(len(one.thing), len(other.thing))
    return one.thing[:shorter] == other.thing[:shorter] or shorter == 1


def _stands(text: str, about: AbstractSet[str] = frozenset()) -> Iterator[_Stand]:
    """What the last sentences of a text, or of those that hold one of the words, take or turn down, in order."""
    rule = _rule()
    said = sentences(text)
    if about:
        said = [each for each in said if any(word in each.lower() for word in about)]
    for sentence in said[-_LAST:]:
        dropped = list(rule.drops.finditer(sentence))
        for found in dropped:
            yield from _stand(found.groups(), sentence, taken=False)
        if not dropped and not any(cues.search(sentence) for cues in (rule.doubtful, support().denial.negation)):
            for found in rule.takes.finditer(sentence):
                yield from _stand(found.groups(), sentence, taken=True)


def _stand(groups: tuple[str | None, ...], sentence: str, *, taken: bool) -> Iterator[_Stand]:
    thing = next((group for group in groups if group), "")
    telling = telling_words(thing)
    named = tuple(stem(word) for word in words(thing) if word in telling)[: _rule().words]
    if named:
        yield _Stand(named, taken, sentence)


@cache
def _rule() -> _Decided:
    return lexicon("decided.toml", _Decided)
