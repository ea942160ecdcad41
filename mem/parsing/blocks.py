"""Candidates for the failing block: where a failure may begin, and how far it reaches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mem.parsing.fallback import by_words, placed, tails
from mem.parsing.page import Candidate, Page, indent_of, sampled
from mem.parsing.patterns import stands_in
from mem.parsing.rules import Rule, tool_rules

_BACK_LINES = 12
_CHAIN_LINES = 12
_ZEROS = str.maketrans("123456789", "000000000")
_PADDING = " \t─"
_SHORT = 7


def candidates(page: Page) -> list[Candidate]:
    """All candidates, in the order of the lines."""
    found, claimed = _by_rules(page)
    found += by_words(page, claimed)
    found += placed(page, claimed)
    found += tails(page, claimed)
    unique = {(one.start, one.end, one.rule.id if one.rule else ""): one for one in reversed(found)}
    return [unique[key] for key in sorted(unique)]


def _by_rules(page: Page) -> tuple[list[Candidate], set[int]]:
    rules = tool_rules()
    found: list[Candidate] = []
    claimed: set[int] = set()
    led: set[tuple[int, str]] = set()
    for line in sampled(page, sorted(page.rules)):
        # What a block holds belongs to it: an exception inside a traceback is no second failure.
        for number in page.rules[line] if line not in claimed else ():
            block = rule_block(page, line, rules[number])
            if block is not None:
                claimed.update(range(block.start, block.end + 1))
                found.append(_led(page, block, rules[number], led))
                break
    return _uncleared(page, found), claimed


def _uncleared(page: Page, found: list[Candidate]) -> list[Candidate]:
    """Those that no later list names as passed after all, such as a test that passed when it was run again."""
    passed: dict[str, list[str]] = {}
    for one in found:
        if one.rule is not None and one.rule.clears:
            listed = (page.lines[line].strip(_PADDING) for line in range(one.anchor + 1, one.end + 1))
            passed.setdefault(one.rule.clears, []).extend(name for name in listed if len(name) > _SHORT)
    return [
        one
        for one in found
        if one.rule is None or not any(name in page.lines[one.anchor] for name in passed.get(one.rule.id, ()))
    ]


def unprefixed(text: str, prefix: str) -> str:
    """`text` without what its logger wrote before it: each line has its own time or number there."""
    if not prefix:
        return text
    if text.rstrip() == prefix.rstrip():
        return ""
    head = text[: len(prefix)]
    if head == prefix or head.translate(_ZEROS).rstrip() == prefix.translate(_ZEROS).rstrip():
        return text[len(prefix) :]
    return text


def rule_block(page: Page, line: int, rule: Rule) -> Candidate | None:
    """The block of `rule` anchored at `line`; None where the line is none of its after all."""
    text = page.lines[line]
    found = rule.anchor.search(text)
    if found is None or (rule.unless is not None and stands_in(rule.unless, text)):
        return None
    prefix = _prefix(text, found)
    start = _back(page, line, rule)
    end = _reach(page, line, rule, prefix)
    texts = [unprefixed(text, prefix) for text in page.lines[start : end + 1]]
    if rule.require and not _holds(texts, rule.headline):
        return None
    if rule.need is not None and not _holds(texts, rule.need):
        return None
    title = _title(page, start, rule, prefix)
    return Candidate(start, end, line, "rule", rule, prefix, title, _telling(texts, start, rule))


def _prefix(text: str, found: Any) -> str:
    """What stood before the anchor: of the package whose script wrote the line, say."""
    lead = found.re.groupindex.get("lead")
    return text[: found.start() if lead is None else found.end(lead)]


def _telling(texts: list[str], start: int, rule: Rule) -> int | None:
    found = headline(texts, rule)
    return None if found is None else start + found[0]


def headline(texts: list[str], rule: Rule) -> tuple[int, Any] | None:
    """The index of the line that says what failed, with its match."""
    if rule.headline is None:
        return None
    order = range(len(texts)) if rule.pick == "first" else range(len(texts) - 1, -1, -1)
    for index in order:
        if stands_in(rule.headline, texts[index]):
            return index, rule.headline.search(texts[index])
    return None


def _holds(texts: list[str], pattern: Any) -> bool:
    return pattern is not None and any(stands_in(pattern, text) for text in texts)


def _title(page: Page, start: int, rule: Rule, prefix: str) -> int | None:
    """The nearest line above that names what the block belongs to, such as the test."""
    if rule.title is None:
        return None
    for line in range(start - 1, max(start - 1 - rule.title_lines, -1), -1):
        if stands_in(rule.title, unprefixed(page.lines[line], prefix)):
            return line
    return None


def _back(page: Page, line: int, rule: Rule) -> int:
    if rule.back is None:
        return line
    start = line
    while (
        start > 0
        and line - start < _BACK_LINES
        and start - 1 not in page.cleaned.marks
        and stands_in(rule.back, page.lines[start - 1])
    ):
        start -= 1
    return start


def _reach(page: Page, line: int, rule: Rule, prefix: str) -> int:
    """The last line of the block: as far as the rule's lines go on."""
    end, deep = line, indent_of(unprefixed(page.lines[line], prefix))
    chained: int | None = None
    free = rule.text
    for number in range(line + 1, min(line + rule.max, len(page.lines))):
        if number in page.cleaned.marks:
            break
        if chained is not None and number <= chained:
            end = number
            continue
        text = unprefixed(page.lines[number], prefix)
        if rule.stop is not None and stands_in(rule.stop, text):
            return number if rule.include_stop else end
        if not text.strip() and (rule.blanks or free):
            continue
        if rule.last is not None and stands_in(rule.last, text):
            end = number
            chained = _chained(page, number, rule, prefix)
            if chained is None:
                break
        elif _goes_on(rule, text, deep):
            end = number
            free = rule.text if rule.text and _speaks(rule, text) else 0
        elif free and not _another(page, number, rule, text):
            free -= 1
        else:
            break
    return end


def _speaks(rule: Rule, text: str) -> bool:
    """Whether free text may follow: below a head or what it says, never below a frame."""
    return stands_in(rule.anchor, text) or (rule.headline is not None and stands_in(rule.headline, text))


def _another(page: Page, line: int, rule: Rule, text: str) -> bool:
    """Whether a line among free text begins another failure; one that a colon leads to belongs to the text."""
    return stands_in(rule.anchor, text) and not page.lines[line - 1].rstrip().endswith(":")


def _chained(page: Page, line: int, rule: Rule, prefix: str) -> int | None:
    """The line that leads from this part to another; what is said last may take a few lines before it."""
    if rule.chain is None:
        return None
    for number in range(line + 1, min(line + _CHAIN_LINES, len(page.lines))):
        text = unprefixed(page.lines[number], prefix)
        if stands_in(rule.chain, text):
            return number
        if number in page.cleaned.marks or stands_in(rule.anchor, text):
            return None
    return None


def _goes_on(rule: Rule, text: str, deep: int) -> bool:
    if not text.strip():
        return False
    if rule.indent and indent_of(text) > deep:
        return True
    if rule.more is not None:
        return stands_in(rule.more, text)
    return not rule.indent


def _led(page: Page, block: Candidate, rule: Rule, led: set[tuple[int, str]]) -> Candidate:
    """`block`, known as a later one where its tool has said something before in the same command.

    A compiler goes on after its first error, and what it says then is mostly the first error's doing.
    """
    if rule.first:
        place = page.cleaned.command_at(block.anchor), rule.tool
        if place in led:
            return replace(block, kind="later")
        led.add(place)
    return block
