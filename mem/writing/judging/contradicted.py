"""A claim that the output in its own evidence disproves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.accepting import Verdict
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
    admits: Phrases
    used: Marks


class _Runs(_Part):
    failed: Marks
    without: Marks


class _Run(NamedTuple):
    words: set[str]
    left_out: set[str]
    end: str


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
            return reject("unsupported", f"The evidence shows otherwise: {quoted(seen)}; correct or show the claim.")
    return None


def _another_cause(case: Case) -> str | None:
    """The proof of another family of causes than the one that is stated, or a check of that one that was fine."""
    mine = _stated_family(case.text)
    if mine is None or any(mine.prints.search(each.text) is not None for each in case.evidence):
        return None
    others = [each for each in _rule().family if each is not mine and each.prints.search(case.text) is None]
    proofs = (other.proof.search(each.text) for other in others for each in case.evidence)
    found = next((proof for proof in proofs if proof is not None), None)
    return _found_fine(mine, case) if found is None else str(found.group())


def _stated_family(text: str) -> _Family | None:
    """The one family of causes that a text blames."""
    if support().denial.negation.search(text) is not None:
        return None
    named = [each for each in _rule().family if each.claims.search(text) is not None]
    parts = (part for part in map(stated_cause, sentences(text)) if part is not None)
    return named[0] if len(named) == 1 and any(named[0].claims.search(part) for part in parts) else None


def _found_fine(family: _Family, case: Case) -> str | None:
    """What a check of the family prints that found it in order, nothing having been mended before."""
    mended = _rule().mended
    if family.fine is None or mended.search(case.text) is not None:
        return None
    for each in case.evidence:
        found = family.fine.search(each.text)
        if found is not None and mended.search(each.text) is None:
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
    whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    lines = (line for each in case.evidence for _, line in islice(lines_with(rule.missing, each.text), _MOST))
    return any(whole.search(line) is not None for line in lines)


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
    if not used or rule.admits.search(case.text) is not None:
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
    runs = [_Run(set(tokens(text)), _left_out(text), end) for text, end in ends]
    for remedy in remedies:
        words = set(tokens(remedy))
        figures = {word for word in words if any(char.isdigit() for char in word)}
        for run in runs:
            telling = {word for word in words & run.words - run.left_out if len(word) > 3}
            if figures <= run.words and any(telling & other.left_out for other in runs):
                return run.end
    return None


def _left_out(text: str) -> set[str]:
    """What a run says that it goes without."""
    return {found.group("word").lower() for found in _rule().runs.without.finditer(text)}


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
