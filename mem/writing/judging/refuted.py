"""A claim of success or of a cause that a statement of its own evidence denies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mem.domain.accepting import Verdict
from mem.domain.nodes import Node
from mem.writing.judging.case import Case
from mem.writing.judging.support import later_turn, stated_cause, stems, support
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import lines_with, sentences, stem, tokens

_ABOVE = 400
_OUTPUT = 20_000
_BEHIND = 400


def failed_remedy(case: Case) -> Verdict | None:
    """Object to a remedy of which the evidence says, or shows, that the step failed with it still."""
    rule = support().success
    if rule.concedes.search(case.text) is not None:
        return None
    remedies = [remedy for remedy in map(_remedy, sentences(case.text)) if remedy]
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


def _remedy(sentence: str) -> str | None:
    """What a sentence says to have helped."""
    rule = support().success
    claim = rule.claims.search(sentence)
    if claim is None:
        return None
    by = rule.by.search(sentence[claim.end() :])
    return sentence[claim.end() + by.end() :] if by is not None else sentence[: claim.start()]


def _still_failing(remedies: list[str], each: Node, evidence: tuple[Node, ...]) -> str | None:
    rule = support().success
    for end, line in lines_with(rule.still, each.text):
        if rule.succeeded.search(each.text, end) is not None:
            continue
        if any(rule.succeeded.search(other.text) is not None for other in evidence if later_turn(each, other)):
            continue
        around = stems(each.text[max(0, end - _ABOVE) : end] + line)
        for remedy in remedies:
            mine = stems(remedy)
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
    plain = [each for each in sentences(text) if rule.negation.search(each) is None]
    causes = [part for part in map(stated_cause, plain) if part is not None]
    if causes:
        known = set[str]().union(*map(stems, causes))
        for found in rule.denies.finditer(evidence):
            thing = _named(next((group for group in found.groups() if group), ""))
            if thing and thing <= known and not _taken_back(thing, evidence, found.end()):
                yield from ((part, found.group()) for part in causes if thing <= stems(part))
    mine = set(tokens(text))
    for found in rule.corrects.finditer(evidence):
        right, thing = (group for group in found.groups() if group)
        if (
            set(tokens(thing)) <= mine
            and not set(tokens(right)) <= mine
            and any(_asserts(each, thing) for each in plain)
        ):
            yield thing, found.group()


def _named(thing: str) -> set[str]:
    """The telling words of what is denied; none where they say nothing about which thing it is."""
    rule = support().denial
    named = [word for word in tokens(thing) if word not in rule.vague and len(word) > 2]
    return {stem(word) for word in named[: rule.words]}


def _taken_back(thing: set[str], evidence: str, end: int) -> bool:
    rule = support().denial
    for at, line in lines_with(rule.after_all, evidence, end):
        if thing <= {stem(word) for word in tokens(line)} or thing <= {
            stem(word) for word in tokens(evidence[at : at + _BEHIND])
        }:
            return True
    return False


def _asserts(sentence: str, thing: str) -> bool:
    return set(tokens(thing)) <= set(tokens(sentence))
