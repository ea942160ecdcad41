"""A claim that the output in its own evidence disproves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from mem.domain.accepting import Verdict
from mem.parsing.rules import compile_pattern
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.refuted import remedy_of
from mem.writing.judging.support import stated_cause, stems, support
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import lines_with, sentences, stem, tokens

_MOST = 200
"""Of many lines or commands so many are looked at."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _Family(_Part):
    name: str
    claims: Phrases
    prints: Marks
    proof: Marks
    fine: Marks | None = None


class _Listed(_Part):
    rows: int = Field(ge=1)
    claims: Phrases
    made: Phrases
    missing: Phrases


class _Version(_Part):
    to: Marks
    any: Marks
    failed: Phrases
    passed: Phrases


class _Option(_Part):
    rejected: Marks
    used: Marks


class _Runs(_Part):
    failed: Marks
    without: Annotated[str, PlainValidator(lambda value: (compile_pattern(value), value)[1])]


class _Contradicted(Lexicon):
    mended: Phrases
    family: tuple[_Family, ...] = Field(min_length=2)
    listed: _Listed
    versions: _Version
    option: _Option
    runs: _Runs


def contradicted(case: Case) -> Verdict | None:
    """Object to a cause or a remedy that the output in the evidence disproves."""
    for check in (_another_cause, _listed, _versions, _options, _runs):
        if (seen := check(case)) is not None:
            return reject("unsupported", f"The evidence shows otherwise: {quoted(seen)}; correct the claim, or show it.")
    return None


def _another_cause(case: Case) -> str | None:
    """The proof of another family of causes than the one that the text states, or a check of that one that was fine."""
    rule = _rule()
    parts = [part for part in map(stated_cause, sentences(case.text)) if part is not None]
    named = [each for each in rule.family if each.claims.search(case.text) is not None]
    if len(named) != 1 or not any(named[0].claims.search(part) is not None for part in parts):
        return None
    mine = named[0]
    if support().denial.negation.search(case.text) is not None:
        return None
    if any(mine.prints.search(each.text) is not None for each in case.evidence):
        return None
    for other in rule.family:
        if other is not mine and other.prints.search(case.text) is None:
            for each in case.evidence:
                if (found := other.proof.search(each.text)) is not None:
                    return str(found.group())
    if mine.fine is None or rule.mended.search(case.text) is not None:
        return None
    for each in case.evidence:
        found = mine.fine.search(each.text)
        if found is not None and rule.mended.search(each.text) is None:
            return str(found.group())
    return None


def _listed(case: Case) -> str | None:
    """The row in which a command of the evidence lists what the text calls missing."""
    rule = _rule().listed
    claims = [each for each in sentences(case.text) if rule.claims.search(each) is not None]
    if not claims:
        return None
    told = set(case.text.lower().replace("`", " ").replace(";", " ").replace(",", " ").split())
    near = set[str]().union(*(stems(each) for each in claims))
    for each in case.evidence:
        for asked, row, above in _rows(each.text):
            name = row.split()[0].lower().rstrip(":")
            known = name in asked and name in told
            linked = {stem(word) for word in asked - {name}} & near or name in " ".join(claims).lower().split()
            if known and linked and rule.made.search(above) is None and not _told_missing(name, case):
                return row
    return None


def _rows(text: str) -> Iterator[tuple[set[str], str, str]]:
    """Of each command its words, each row of its output, and what stands above it."""
    commands = list(islice(support().success.command.finditer(text), _MOST))
    for number, command in enumerate(commands):
        end = commands[number + 1].start() if number + 1 < len(commands) else len(text)
        asked = set(command.group(1).lower().split())
        for row in text[command.end() : end].split("\n")[1 : _rule().listed.rows + 1]:
            if len(row.split()) >= 2 and support().success.failed.search(row) is None:
                yield asked, row, text[max(0, command.start() - 2000) : command.end()]


def _told_missing(name: str, case: Case) -> bool:
    rule = _rule().listed
    return any(
        name in line.lower() for each in case.evidence for _, line in islice(lines_with(rule.missing, each.text), _MOST)
    )


def _versions(case: Case) -> str | None:
    """The line in which the version fails to which the text sends, where the one that it leaves succeeds."""
    rule = _rule().versions
    to = {found.group("version") for found in rule.to.finditer(case.text)}
    left = {found.group("version") for found in rule.any.finditer(case.text)} - to
    if not to or not left:
        return None
    failing: str | None = None
    passing = False
    for each in case.evidence:
        for line in _verdict_lines(each.text):
            failed, passed = rule.failed.search(line) is not None, rule.passed.search(line) is not None
            if failed and not passed and _names(line, to) and not _names(line, left):
                failing = failing or line
            passing = passing or (passed and not failed and _names(line, left) and not _names(line, to))
    return failing if passing else None


def _verdict_lines(text: str) -> Iterator[str]:
    rule = _rule().versions
    for cues in (rule.failed, rule.passed):
        for _, line in islice(lines_with(cues, text), _MOST):
            yield line


def _names(line: str, versions: set[str]) -> bool:
    """Whether one of the versions, or one within it, stands in a line."""
    return any(re.search(rf"(?<![\w.]){re.escape(each)}(?:\.[\w.]+)?(?![\w])", line) is not None for each in versions)


def _options(case: Case) -> str | None:
    """The line in which a tool refuses the option that the text says to have helped."""
    rule = _rule().option
    claims = [each for each in sentences(case.text) if support().success.claims.search(each) is not None]
    used = {_plain(found.group("option")) for each in claims for found in rule.used.finditer(each)}
    if not used:
        return None
    for each in case.evidence:
        for found in islice(rule.rejected.finditer(each.text), _MOST):
            option = next((group for group in found.groups() if group), "")
            if _plain(option) in used and support().success.succeeded.search(each.text, found.end()) is None:
                return str(found.group())
    return None


def _plain(option: str) -> str:
    return option.replace("-", "").lower()


def _runs(case: Case) -> str | None:
    """The last verdict of a run with the remedy, where the run without it failed as well and none succeeded."""
    remedies = [remedy for remedy in map(remedy_of, sentences(case.text)) if remedy]
    ends = [(each.text, end) for each in case.evidence if (end := _failing_end(each.text)) is not None]
    if not remedies or len(ends) < 2 or len(ends) < len(case.evidence):
        return None
    for remedy in remedies:
        words = set(tokens(remedy))
        for text, end in ends:
            told = set(tokens(text))
            if {word for word in words if any(char.isdigit() for char in word)} <= told and any(
                other != text and _left_out(word, other) and not _left_out(word, text)
                for word in sorted(words & told)
                if len(word) > 3
                for other, _ in ends
            ):
                return end
    return None


def _left_out(word: str, text: str) -> bool:
    """Whether a text says that it goes without something."""
    return re.search(rf"\b{_rule().runs.without} (?:the )?{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _failing_end(text: str) -> str | None:
    """The last verdict of a run, where that is a failure and no line tells of success otherwise."""
    rule = _rule().runs
    last = None
    for _, line in lines_with(rule.failed, text):
        last = line
    if last is None:
        return None
    for _, line in lines_with(support().success.succeeded, text):
        if support().success.failed.search(line) is None and rule.failed.search(line) is None:
            return None
    return last


@cache
def _rule() -> _Contradicted:
    return lexicon("contradicted.toml", _Contradicted)
