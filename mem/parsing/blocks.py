"""Candidates for the failing block: where a failure may begin, and how far it reaches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from mem.parsing.clean import Cleaned, Command, clean
from mem.parsing.lines import Bits, anchors, classifier
from mem.parsing.rules import Rule, tool_rules

GENERIC_LINES = 4
_STRUCTURE_LINES = 30
_BACK_LINES = 12
_PER_TEMPLATE = 3
_ANCHORS = 1200


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines `start` to `end`, inclusive, counted from 0; `rule` is None for the fallback."""

    start: int
    end: int
    anchor: int
    kind: str
    rule: Rule | None = None
    prefix: str = ""
    title: int | None = None


@dataclass(slots=True)
class Page:
    """A cleaned log with the classes of its lines."""

    cleaned: Cleaned
    bits: Bits
    hinted: list[int]
    rules: dict[int, tuple[int, ...]]
    names: dict[str, int]
    lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.cleaned.lines

    def bit(self, *names: str) -> int:
        """The mask of several classes."""
        return sum(self.names[name] for name in names)


def read(text: str) -> Page:
    """`text` cleaned and classified."""
    cleaned = clean(text)
    hinted = classifier().hinted(cleaned.lines)
    rules = anchors(cleaned.lines, hinted)
    return Page(cleaned, Bits(cleaned.lines), hinted, rules, classifier().names)


def candidates(page: Page) -> list[Candidate]:
    """All candidates, in the order of the lines."""
    found, claimed = _by_rules(page)
    found += _generic(page, claimed)
    found += _tails(page)
    unique = {(one.start, one.end, one.rule.id if one.rule else ""): one for one in reversed(found)}
    return [unique[key] for key in sorted(unique)]


def indent_of(line: str) -> int:
    """The number of leading blanks."""
    return len(line) - len(line.lstrip())


def template_of(line: str) -> str:
    """What stays of a line when its numbers go: like lines have one template."""
    return "".join(char for char in line.strip()[:160] if not char.isdigit())[:80]


def _by_rules(page: Page) -> tuple[list[Candidate], set[int]]:
    rules = tool_rules()
    found: list[Candidate] = []
    claimed: set[int] = set()
    reach: dict[str, int] = {}
    for line in _sampled(page, sorted(page.rules)):
        for number in page.rules[line]:
            rule = rules[number]
            if reach.get(rule.id, -1) >= line:
                break
            block = rule_block(page, line, rule)
            if block is not None:
                reach[rule.id] = block.end
                claimed.update(range(block.start, block.end + 1))
                found.append(block)
                break
    return found, claimed


def _sampled(page: Page, anchors: list[int]) -> list[int]:
    """Of like lines only the first and the last few, and no more than a log can need."""
    groups: dict[str, list[int]] = defaultdict(list)
    for line in anchors:
        groups[template_of(page.lines[line])].append(line)
    kept: set[int] = set()
    for group in groups.values():
        kept.update(group[:_PER_TEMPLATE])
        kept.update(group[-_PER_TEMPLATE:])
    ordered = sorted(kept)
    if len(ordered) > _ANCHORS:
        ordered = ordered[: _ANCHORS // 2] + ordered[-_ANCHORS // 2 :]
    return ordered


def rule_block(page: Page, line: int, rule: Rule) -> Candidate | None:
    """The block of `rule` anchored at `line`; None where the line is none of its after all."""
    text = page.lines[line]
    found = rule.anchor.search(text)
    if found is None or (rule.unless is not None and rule.unless.search(text)):
        return None
    prefix = text[: found.start()]
    start = _back(page, line, rule)
    end = _reach(page, line, rule, prefix)
    texts = [text.removeprefix(prefix) for text in page.lines[start : end + 1]]
    if rule.require and not _holds(texts, rule.headline):
        return None
    if rule.need is not None and not _holds(texts, rule.need):
        return None
    return Candidate(start, end, line, "rule", rule, prefix, _title(page, start, rule, prefix))


def _holds(texts: list[str], pattern: Any) -> bool:
    return pattern is not None and any(pattern.search(text) for text in texts)


def _title(page: Page, start: int, rule: Rule, prefix: str) -> int | None:
    """The nearest line above that names what the block belongs to, such as the test."""
    if rule.title is None:
        return None
    for line in range(start - 1, max(start - 1 - rule.title_lines, -1), -1):
        if rule.title.search(page.lines[line].removeprefix(prefix)):
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
        and rule.back.search(page.lines[start - 1])
    ):
        start -= 1
    return start


def _reach(page: Page, line: int, rule: Rule, prefix: str) -> int:
    """The last line of the block: as far as the rule's lines go on."""
    end, deep = line, indent_of(page.lines[line].removeprefix(prefix))
    for number in range(line + 1, min(line + rule.max, len(page.lines))):
        if number in page.cleaned.marks:
            break
        text = page.lines[number].removeprefix(prefix)
        if rule.stop is not None and rule.stop.search(text):
            return number if rule.include_stop else end
        if not text.strip():
            if rule.blanks:
                continue
            break
        if rule.last is not None and rule.last.search(text):
            end = number
            if not _chained(page, number, rule, prefix):
                break
        elif _goes_on(rule, text, deep):
            end = number
        else:
            break
    return end


def _chained(page: Page, line: int, rule: Rule, prefix: str) -> bool:
    """Whether another part follows the last line of this one."""
    if rule.chain is None:
        return False
    for number in range(line + 1, min(line + 4, len(page.lines))):
        text = page.lines[number].removeprefix(prefix)
        if text.strip():
            return rule.chain.search(text) is not None
    return False


def _goes_on(rule: Rule, text: str, deep: int) -> bool:
    if rule.indent and indent_of(text) > deep:
        return True
    if rule.more is not None:
        return rule.more.search(text) is not None
    return not rule.indent


def _generic(page: Page, claimed: set[int]) -> list[Candidate]:
    """Lines with an error word and what hangs on them, up to four lines unless indented below."""
    worth = page.bit(
        "strong", "weak", "lead", "exception", "panic", "e_line", "linker", "testcase",
        "shell_error", "heading", "werror",
    )  # fmt: skip
    junk = page.bit("summary", "wrapper", "zero", "passed", "ruler", "install")
    strong = page.bit("strong", "lead", "exception", "panic", "testcase")
    begins = []
    for line in page.hinted:
        if line not in claimed:
            bits = page.bits[line]
            if bits & worth and (not bits & junk or bits & strong):
                begins.append(line)
    found = []
    for line in _sampled(page, begins):
        if page.bits[line] & page.names["heading"]:
            end = _under_heading(page, line)
            if end > line:
                found.append(Candidate(line + 1, end, line + 1, "heading"))
            continue
        deep = _structure(page, line)
        if deep > line:
            found.append(Candidate(line, deep, line, "structure"))
        else:
            end = _paragraph(page, line)
            found.append(Candidate(line, line, line, "line"))
            if end > line:
                found.append(Candidate(line, end, line, "paragraph"))
    return found


def _ends(page: Page, number: int) -> bool:
    stop = page.bit("summary", "wrapper", "ruler")
    return (
        number >= len(page.lines)
        or number in page.cleaned.marks
        or not page.lines[number].strip()
        or bool(page.bits[number] & stop)
    )


def _structure(page: Page, line: int) -> int:
    deep, end = indent_of(page.lines[line]), line
    frame = page.names["frame"]
    for number in range(line + 1, min(line + _STRUCTURE_LINES, len(page.lines))):
        if _ends(page, number):
            break
        if indent_of(page.lines[number]) > deep or page.bits[number] & frame:
            end = number
        else:
            break
    return end


def _paragraph(page: Page, line: int) -> int:
    deep, end = indent_of(page.lines[line]), line
    passed = page.names["passed"]
    while (
        end - line < GENERIC_LINES - 1
        and not _ends(page, end + 1)
        and not page.bits[end + 1] & passed
        and indent_of(page.lines[end + 1]) >= deep
    ):
        end += 1
    return end


def _under_heading(page: Page, line: int) -> int:
    """The last line under a heading: up to a summary, a ruler or a marker."""
    end = line
    stop = page.bit("summary", "wrapper", "ruler", "heading")
    for number in range(line + 1, min(line + _STRUCTURE_LINES, len(page.lines))):
        if number in page.cleaned.marks or page.bits[number] & stop:
            if end > line or page.lines[number].strip():
                break
            continue
        if page.lines[number].strip():
            end = number
        elif end > line and number - end > 1:
            break
    return end


def suspects(page: Page) -> list[Command]:
    """The commands that failed; the last one where none is known to."""
    commands = page.cleaned.commands
    failed = [command for command in commands if command.status]
    if failed or not commands:
        return failed
    if page.cleaned.verdict == 0:
        return []
    open_ended = [one for one in commands if one.status is None and one.end - one.start > 2]
    return open_ended[-1:]


def _tails(page: Page) -> list[Candidate]:
    """The last lines of a failing command that are no junk: often all there is to see."""
    junk = page.bit("summary", "wrapper", "ruler", "zero", "vague", "heading")
    found = []
    for command in suspects(page):
        line = command.end - 1
        for _ in range(2):
            while line > command.start and (
                not page.lines[line].strip()
                or page.bits[line] & junk
                or line in page.cleaned.marks
            ):
                line -= 1
            if line <= command.start:
                break
            start = line
            while line - start < GENERIC_LINES - 1 and start - 1 > command.start:
                above = start - 1
                if not page.lines[above].strip() or page.bits[above] & junk:
                    break
                start = above
            found.append(Candidate(start, line, start, "tail"))
            line = start - 1
    return found

