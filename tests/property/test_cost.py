"""Ten times the input costs at most twelve times the time, whatever the input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import cycle, islice

import pytest

from mem.parsing import distill, extract, failure_lines, mask
from mem.parsing.redact import redact
from mem.parsing.rules import Rule, tool_rules
from tests.property.samples import sample

pytestmark = pytest.mark.slow
SMALL = 120_000
TIMES = 10
MOST = 12.0
RULES = tool_rules()
UNSAMPLED = {"node.trace"}
"""Rules that no line made from the pattern meets; their hints are looked at all the same."""


def seconds(work: Callable[[str], object], text: str, runs: int) -> float:
    best = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        work(text)
        best = min(best, time.process_time() - begun)
    return best


def growth(work: Callable[[str], object], make: Callable[[int], str]) -> float:
    """How many times longer ten times the input takes, where neither run was disturbed."""
    small, large = make(SMALL), make(SMALL * TIMES)
    ratio = float("inf")
    # The collector would walk through all that the test run holds, the more often the longer the work takes.
    gc.collect()
    gc.freeze()
    for _ in range(6):
        ratio = min(ratio, seconds(work, large, 1) / seconds(work, small, 3))
        if ratio <= MOST:
            break
    gc.unfreeze()
    return ratio


def filled(lines: list[str], size: int) -> str:
    """The lines, each made different by a number, over and over up to `size` characters."""
    width = sum(map(len, lines)) / len(lines) + 8
    return "\n".join(f"{line} {number}" for number, line in enumerate(islice(cycle(lines), int(size / width))))


def hostile(rule: Rule) -> list[str]:
    """Lines that begin the rule's block, go on with it and lead to it, more often than any log would."""
    anchor = sample(rule.anchor.pattern)
    lines = [anchor, *(sample(rule.anchor.pattern, repeat=often) for often in (0, 30)), *rule.hints]
    for pattern, often in ((rule.more, 12), (rule.back, 6), (rule.title, 2), (rule.chain, 2), (rule.headline, 2)):
        if pattern is not None:
            lines += [sample(pattern.pattern)] * often
    if rule.indent:
        lines += [f"    {anchor}", "        deeper"] * 6
    return lines


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_under_its_own_hostile_input(rule: Rule) -> None:
    """For each rule: its anchors, bodies and titles by the thousand."""
    lines = hostile(rule)
    assert rule.id in UNSAMPLED or any(rule.anchor.search(line) for line in lines), "no sample meets the rule"
    assert growth(extract, lambda size: filled(lines, size)) <= MOST


FLOODS = {
    "groups": ["##[group]Run make", "##[endgroup]", "##[error]Process completed with exit code 1."],
    "travis": ["travis_time:start:1", 'The command "make" exited with 1.', "travis_time:end:1"],
    "quotes": ['The command "make', '"a" b'],
    "commands": ["$ make", "error: no"],
    "sections": ["section_start:1:a\r\x1b[0K", "section_end:1:a\r\x1b[0K"],
    "errors": ["error: it broke", "fatal: no", "Traceback (most recent call last):", "ValueError: x"],
    "headings": ["Failures:", "ERRORS", "  1) a", "3 failed, 2 passed"],
    "colours": ["\x1b[31m" * 40 + "error", "\x1b]0;" * 20, "\x1b["],
    "returns": ["a\rb\r" * 60, "error\r\r"],
    "blank": ["", " ", "error"],
    "keys": ["-----BEGIN RSA PRIVATE " + "KEY-----", "QUJDREVGR0hJSktMTU5PUFFSU1Q="],
    "announcements": ["::add-mask::hunter2hunter2", "##[add-mask]correct horse"],
    "addresses": ["a@b." * 200, "http://" * 100, "/a" * 400, "1.2.3." * 100],
    "wide": ["a" * 20_000, "error: " + "9" * 20_000],
    "indented": [" " * 300 + "error", "\t" * 200 + "at x"],
    "elided": ["[mem: 3 lines left out, 2 with text]"],
}
WORKS: dict[str, Callable[[str], object]] = {
    "extract": extract,
    "distill": distill,
    "redact": redact,
    "failure_lines": lambda text: failure_lines(text, limit=40),
}


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood(flood: str, work: str) -> None:
    """For each kind of line that means something: a log of nothing else."""
    assert growth(WORKS[work], lambda size: filled(FLOODS[flood], size)) <= MOST


@pytest.mark.parametrize("unit", ["a@b.", "1.", "/a", "0x", "12:34:", "<n>", "a-b_", "\\\\", "::", "%2F", "9,"])
def test_one_line_without_end(unit: str) -> None:
    """A line that grows instead of a log: before a pattern sees it, it is cut."""
    assert growth(extract, lambda size: f"error: {unit * (size // len(unit))}") <= MOST
    assert growth(mask, lambda size: unit * (size // len(unit) // 40)) <= MOST
