"""What one line says for itself: whether it may tell a failure, and how clearly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mem.parsing.fallback import may_begin
from mem.parsing.lines import classifier
from mem.parsing.page import mask_of, template_of
from mem.parsing.patterns import stands_in
from mem.parsing.rank import BLEMISHES, NO_EVENT, WORDS, ranking
from mem.parsing.rules import Rule, tool_rules

_COUNTED = (*WORDS, "fileline")
_AGAINST = (
    ("zero", "zero"), ("wrapper_first", "wrapper"), ("summary_first", "summary"), ("passed_first", "passed"),
    ("vague", "vague"), ("negation", "negation"), ("usage", "usage"), ("warning", "warning"),
    ("low_level", "low_level"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Worth:
    """The score that the words of a line give it, in the units of the ranking."""

    score: float
    shape: str
    rules: tuple[Rule, ...]
    """Those whose anchor stands in the line, in their order; whether a block holds is seen around it."""
    strong: bool


def worth_of(line: str) -> Worth | None:
    """What a cleaned `line` is worth; None where no failure begins with it."""
    kinds = classifier()
    numbers, worded = kinds.anchored(line)
    rules = tuple(tool_rules()[number] for number in numbers if _holds(tool_rules()[number], line))
    if not rules and not worded:
        return None
    bits = kinds.classes_of(line)
    if not rules and not may_begin(bits):
        return None
    return Worth(_score(bits, rules), template_of(line), rules, bool(bits & mask_of(("strong",))))


def _holds(rule: Rule, line: str) -> bool:
    return rule.unless is None or not stands_in(rule.unless, line)


def _score(bits: int, rules: tuple[Rule, ...]) -> float:
    words, blemishes, alone = _weighted()
    if rules and rules[0].first:
        return ranking().weights["diagnostic"] + ranking().weights["rule"] + rules[0].weight
    total = sum(weight for mask, weight in words if bits & mask)
    if bits & mask_of(("strong",)) and not bits & blemishes:
        total += ranking().weights["unblemished"]
    if rules:
        return total + ranking().weights["rule"] + rules[0].weight
    total += sum(weight for mask, weight in alone if bits & mask)
    if bits & mask_of(("identifier",)) and not bits & mask_of(("lead", "exception")):
        total += ranking().weights["identifier_only"]
    return total


@cache
def _weighted() -> tuple[list[tuple[int, float]], int, list[tuple[int, float]]]:
    """What counts for a line, what blemishes a strong word, and what counts against words without a rule."""
    weights = ranking().weights
    words = [(mask_of((name,)), weights.get(name, 0.0)) for name in (*_COUNTED, *NO_EVENT)]
    against = [(mask_of((name,)), weights.get(feature, 0.0)) for feature, name in _AGAINST]
    return words, mask_of(BLEMISHES), against
