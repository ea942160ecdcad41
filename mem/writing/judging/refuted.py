"""A claim of success or of a cause that a statement of its own evidence denies."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from mem.domain.accepting import Verdict
from mem.domain.nodes import Node
from mem.writing.judging.case import Case
from mem.writing.judging.support import later_turn, stated_cause, stems, support
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import lines_with, sentences, stem, tokens

_ABOVE = 400
_OUTPUT = 20_000
_BEHIND = 400
_BEFORE = 24
_CHANGED = 160
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)")
_LAST = 50
"""Of many statements about one matter the last so many count."""


def failed_remedy(case: Case) -> Verdict | None:
    """Object to a remedy of which the evidence says, or shows, that the step failed with it still."""
    rule = support().success
    if rule.concedes.search(case.text) is not None:
        return None
    remedies = [remedy for remedy in map(remedy_of, sentences(case.text)) if remedy]
    if not remedies:
        return None
    for each in case.evidence:
        seen = _still_failing(remedies, each, case.evidence) or _command_failing(remedies, each.text)
        if seen is not None:
            return reject(
                "unsupported",
                f"The text says that it helped, the evidence that it failed still: {quoted(seen)}; show the run that "
                "passed, or say that it did not help.",
            )
    return None


def denied(case: Case) -> Verdict | None:
    """Object to a cause, a name or a figure that the evidence denies or corrects."""
    if not case.evidence:
        return None
    for said, statement in (found for each in case.evidence for found in _denials(case.text, each.text)):
        return reject(
            "unsupported",
            f"The text says {quoted(said)}, the evidence {quoted(statement)}; correct it, or show what changed.",
        )
    return None


def remedy_of(sentence: str) -> str | None:
    """What a sentence says to have helped."""
    rule = support().success
    claim = rule.claims.search(sentence)
    if claim is None:
        return None
    by = rule.by.search(sentence[claim.end() :])
    return sentence[claim.end() + by.end() :] if by is not None else sentence[: claim.start()]


def _still_failing(remedies: list[str], each: Node, evidence: tuple[Node, ...]) -> str | None:
    """The statement that something failed still behind an attempt at one of the remedies, with no success behind it."""
    rule = support().success
    if any(rule.succeeded.search(other.text) is not None for other in evidence if later_turn(each, other)):
        return None
    succeeded = max((found.start() for found in rule.succeeded.finditer(each.text)), default=-1)
    for end, line in deque(lines_with(rule.still, each.text, succeeded + 1), _LAST):
        above = each.text[max(0, end - _ABOVE) : end] + line
        around = stems(above) | set(_VERSION.findall(above))
        for remedy in remedies:
            mine = stems(remedy) | set(_VERSION.findall(remedy))
            if mine and len(mine & around) >= min(len(mine), rule.same) and 2 * len(mine & around) >= len(mine):
                return line
    return None


class _Step(NamedTuple):
    words: tuple[str, ...]
    line: str
    failed: bool


def _steps(text: str) -> Iterator[_Step]:
    """The commands of a transcript, each with how its output ends it."""
    rule = support().success
    commands = list(rule.command.finditer(text))
    for number, command in enumerate(commands):
        end = commands[number + 1].start() if number + 1 < len(commands) else len(text)
        output = text[command.end() : min(end, command.end() + _OUTPUT)]
        yield _Step(tuple(tokens(command.group(1))), command.group(1), rule.failed.search(output) is not None)


def _command_failing(remedies: list[str], text: str) -> str | None:
    """A command that a remedy consists of and that failed, after something else had failed, the last time it ran."""
    told = [tokens(remedy) for remedy in remedies]
    failed_before = False
    failing: dict[tuple[str, ...], str] = {}
    for step in _steps(text):
        if len(step.words) >= 3 and any(_holds(words, step.words) for words in told):
            failing.pop(step.words, None)
            if step.failed and failed_before:
                failing[step.words] = step.line
        failed_before = failed_before or step.failed
    return next(iter(failing.values()), None)


def _holds(words: list[str], run: tuple[str, ...]) -> bool:
    return any(tuple(words[at : at + len(run)]) == run for at in range(len(words) - len(run) + 1))


def _denials(text: str, evidence: str) -> Iterator[tuple[str, str]]:
    """What the text says, and the statement of the evidence that denies it."""
    rule = support().denial
    parts = [stated_cause(each) for each in sentences(text) if rule.negation.search(each) is None]
    causes = [(part, stems(part)) for part in parts if part is not None]
    for thing, found in _denied_things(evidence, set[str]().union(*(known for _, known in causes))):
        said = next((part for part, known in causes if thing <= known), None)
        if said is not None and not _taken_back(thing, evidence, found.end()):
            yield said, found.group()
    mine = set(tokens(text))
    corrections = {
        tuple(group for group in found.groups() if group): found for found in rule.corrects.finditer(evidence)
    }
    for (right, thing), found in corrections.items():
        if set(tokens(thing)) <= mine and not set(tokens(right)) <= mine and _asserts(text, thing):
            yield thing, found.group()


def _denied_things(evidence: str, known: set[str]) -> Iterator[tuple[frozenset[str], Any]]:
    """What the evidence denies among the known words, each thing with the last statement about it."""
    last: dict[frozenset[str], Any] = {}
    for found in _denying(evidence) if known else ():
        thing = _named(next((group for group in found.groups() if group), ""))
        if thing and thing <= known:
            last[thing] = found
    yield from last.items()


def _denying(evidence: str) -> list[Any]:
    """The denials of an evidence in their order; what is fine since something was changed denies nothing."""
    rule = support().denial
    fine = (
        found
        for found in rule.fine.finditer(evidence)
        if rule.recovered.search(evidence, max(0, found.start() - _CHANGED), found.start()) is None
    )
    return sorted([*rule.denies.finditer(evidence), *fine], key=lambda found: found.start())


def _named(thing: str) -> frozenset[str]:
    """The telling words of what is denied; none where they say nothing about which thing it is."""
    rule = support().denial
    named = [word for word in tokens(thing) if word not in rule.vague and len(word) > 2]
    return frozenset(stem(word) for word in named[: rule.words])


def _taken_back(thing: frozenset[str], evidence: str, end: int) -> bool:
    for at, line in islice(lines_with(support().denial.after_all, evidence, end), _LAST):
        around = f"{line} {evidence[at : at + _BEHIND]}"
        if thing <= {stem(word) for word in tokens(around)}:
            return True
    return False


def _asserts(text: str, thing: str) -> bool:
    """Whether the text tells a name or figure anywhere without a negation right before it."""
    told = re.finditer(rf"(?<!\w){re.escape(thing)}(?!\w)", text, re.IGNORECASE)
    return any(support().denial.negation.search(text[max(0, at.start() - _BEFORE) : at.start()]) is None for at in told)
