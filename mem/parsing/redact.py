"""Secrets out of a text, everything that identifies a failure left in.

What a secret looks like is data (`rules/redact.toml`). One Aho-Corasick pass finds the lines that
hold an anchor of some rule; only those meet patterns, and the patterns are RE2. So the time grows
with the text and not with what an attacker puts into it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import re2
from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from mem.parsing.redact_rules import Block, Rule, Rules, redaction_rules

MAX_READ = 5_000
"""Characters that are searched for secrets of a text of which only the beginning is told."""

_PASSES = 8
_PORTION = 1000
_ANNOUNCEMENT = b"add-mask"
_PLACEHOLDER = rb"\[redacted:[a-z0-9-]+\]"


class Redacted(NamedTuple):
    """A text without secrets; `kinds` names what was replaced, sorted, each once."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redacted:
    """`text` with each secret replaced by `[redacted:kind]`.

    Never raises, keeps the number of lines, and redacting again changes nothing.
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds: set[str] = set()
    # Each line is settled on its own; only what spans lines can uncover something on another one.
    for _ in range(_PASSES):
        changed = _pass(data, kinds)
        settled = changed == data or not _spans_lines(changed)
        data = changed
        if settled:
            break
    if not kinds:
        return Redacted(text, ())
    try:
        clean = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        clean = data.decode("utf-8", "replace")
    return Redacted(clean, tuple(sorted(kinds)))


def redact_beginning(text: str) -> str:
    """The beginning of a text, without secrets; to be cut only then, since one that is cut through is known no more."""
    return redact(text[:MAX_READ]).text


def hide_announced(text: str, log: bytes | None = None) -> str:
    """`text` without the values that `log`, of which it is a part (or else the text itself), announces as secret."""
    if log is None:
        log = text.encode("utf-8", "surrogatepass") if _ANNOUNCEMENT.decode() in text else b""
    announcing = _announcing(log)
    # In portions, since a log can announce any number of values and an automaton of all would not fit in memory.
    while portion := list(islice(announcing, _PORTION)):
        data = b"\n".join([*portion, text.encode("utf-8", "surrogatepass")])
        hidden = _without_masked_values(data, redaction_rules(), set())
        text = hidden.split(b"\n", len(portion))[-1].decode("utf-8", "surrogatepass")
    return text


def _announcing(log: bytes) -> Iterator[bytes]:
    """The lines of `log` that announce a secret value."""
    at = log.find(_ANNOUNCEMENT)
    while at >= 0:
        begin, end = log.rfind(b"\n", 0, at) + 1, log.find(b"\n", at)
        yield log[begin : end if end >= 0 else len(log)]
        at = log.find(_ANNOUNCEMENT, end) if end >= 0 else -1


def private_key_lines(log: bytes) -> list[range]:
    """The lines of `log`, from 0, that hold the body of a private key."""
    block = redaction_rules().block
    found: list[range] = []
    at, counted, line = log.find(block.anchor), 0, 0
    while at >= 0:
        begin = log.rfind(b"\n", 0, at) + 1
        following = log.find(b"\n", at)
        if following < 0:
            break
        if block.begin.search(log[begin:following]) is not None:
            line += log.count(b"\n", counted, following + 1)
            counted = following + 1
            size = _body_lines(log, counted, block)
            found.append(range(line, line + size))
        at = log.find(block.anchor, following)
    return found


def _body_lines(log: bytes, at: int, block: Block) -> int:
    """How many lines from byte `at` on are the body of a key, whether or not its end is there."""
    body = 0
    whole = True
    for number in range(block.maximum):
        end = log.find(b"\n", at)
        line = log[at : end if end >= 0 else len(log)]
        if block.anchor in line:
            return number if block.end.search(line) is not None else body
        whole = whole and block.body.search(line) is not None
        body += whole
        if end < 0:
            break
        at = end + 1
    return body


def private_key_placeholder() -> str:
    """What stands for a line of a private key."""
    return _placeholder(redaction_rules().block.kind).decode()


def _spans_lines(data: bytes) -> bool:
    return _ANNOUNCEMENT in data or redaction_rules().block.anchor in data


def _pass(data: bytes, kinds: set[str]) -> bytes:
    """One look at the whole text."""
    rules = redaction_rules()
    data = _without_masked_values(data, rules, kinds)
    hits = rules.anchors.find_matches_as_indexes(data.lower(), overlapping=True)
    pieces = []
    last = 0
    for begin, end, todo in _lines_with_anchor(data, hits, rules):
        pieces += [data[last:begin], _cleaned(data[begin:end], sorted(todo), rules, kinds)]
        last = end
    data = b"".join([*pieces, data[last:]])
    return _without_blocks(data, rules.block, kinds)


def _lines_with_anchor(
    data: bytes, hits: Iterable[tuple[int, int, int]], rules: Rules
) -> Iterator[tuple[int, int, set[int]]]:
    """Begin and end of each line with an anchor, and the rules that its anchors stand for."""
    begin, end = 0, -1
    todo: set[int] = set()
    for anchor, position, _ in hits:
        # Hits come in order and no anchor holds a line feed, so each byte is looked at once.
        if position > end:
            if todo:
                yield begin, end, todo
            todo = set()
            begin = data.rfind(b"\n", max(end, 0), position) + 1
            end = data.find(b"\n", position)
            end = len(data) if end < 0 else end
        todo.update(rules.by_anchor[anchor])
    if todo:
        yield begin, end, todo


def _cleaned(line: bytes, todo: list[int], rules: Rules, kinds: set[str]) -> bytes:
    """`line` after the rules numbered in `todo`, in their order, until no rule finds anything more."""
    for _ in range(_PASSES):
        before = line
        for index in todo:
            rule = rules.rules[index]
            if rule.also in line:
                line = _apply(rule, line, kinds)
        if line == before:
            break
        # A replacement can uncover a longer secret around it.
        hits = rules.anchors.find_matches_as_indexes(line.lower(), overlapping=True)
        todo = sorted({index for anchor, _, _ in hits for index in rules.by_anchor[anchor]})
    return line


def _apply(rule: Rule, line: bytes, kinds: set[str]) -> bytes:
    for pattern, group in rule.patterns:
        pieces = []
        last = 0
        for match in pattern.finditer(line):
            begin, end = match.span(group)
            if _is_secret(rule, line[begin:end], match):
                pieces += [line[last:begin], _placeholder(rule.kind)]
                last = end
        if pieces:
            kinds.add(rule.kind)
            line = b"".join([*pieces, line[last:]])
    return line


def _is_secret(rule: Rule, secret: bytes, match: Any) -> bool:
    if rule.keep.fullmatch(secret) is not None:
        return False
    if rule.unless is not None and rule.unless.search(match.group(0)) is not None:
        return False
    return all(need.search(secret) is not None for need in rule.needs)


def _placeholder(kind: str) -> bytes:
    return f"[redacted:{kind}]".encode()


def _without_blocks(data: bytes, block: Block, kinds: set[str]) -> bytes:
    """Blocks of several lines, replaced line by line, so that the count stays."""
    if block.anchor not in data:
        return data
    lines = data.split(b"\n")
    marked = [number for number, line in enumerate(lines) if block.anchor in line]
    ends = [number for number in marked if block.end.search(lines[number]) is not None]
    placeholder = _placeholder(block.kind)
    done = 0
    for number in marked:
        if number < done or block.begin.search(lines[number]) is None:
            continue
        done = _end_of_block(lines, number + 1, ends, block)
        for inside in range(number + 1, done):
            if lines[inside].strip() not in (b"", placeholder):
                lines[inside] = placeholder
                kinds.add(block.kind)
    return b"\n".join(lines)


def _end_of_block(lines: list[bytes], first: int, ends: list[int], block: Block) -> int:
    """The line after the body that begins at `first`."""
    following = bisect_left(ends, first)
    if following < len(ends) and ends[following] - first <= block.maximum:
        return ends[following]
    # Without an end only what looks like a body is one.
    stop = min(len(lines), first + block.maximum)
    number = first
    while number < stop and block.body.search(lines[number]) is not None:
        number += 1
    return number


def _without_masked_values(data: bytes, rules: Rules, kinds: set[str]) -> bytes:
    """Values that the log itself announces as secret, wherever they stand."""
    if _ANNOUNCEMENT not in data:
        return data
    values: set[bytes] = set()
    for line in data.split(b"\n"):
        if _ANNOUNCEMENT in line:
            values.update(_announced(line, rules))
    values = {value for value in values if len(value) in rules.mask_lengths}
    kind = rules.mask.kind
    changed = _replace_all(data, values, _placeholder(kind)) if values else data
    # The announcement itself, also of a value too short to be looked for elsewhere.
    lines = [_apply(rules.mask, line, kinds) if _ANNOUNCEMENT in line else line for line in changed.split(b"\n")]
    changed = b"\n".join(lines)
    if changed != data:
        kinds.add(kind)
    return changed


def _announced(line: bytes, rules: Rules) -> Iterator[bytes]:
    """The values of one announcement; an encoded line feed separates several."""
    for pattern, group in rules.mask.patterns:
        for match in pattern.finditer(line):
            secret = match.group(group).strip()
            if not _is_secret(rules.mask, secret, match):
                continue
            for part in secret.replace(b"%0D", b"").replace(b"%0A", b"\n").split(b"\n"):
                yield part.replace(b"%25", b"%").strip(b" \t\r\"'")


def _replace_all(data: bytes, values: set[bytes], placeholder: bytes) -> bytes:
    """`data` with all `values` replaced, the longest first, but never inside a placeholder."""
    # The automaton that is smallest in memory: the values are the log's own, any number of them.
    finder = BytesAhoCorasick(
        sorted(values), matchkind=MatchKind.LeftmostLongest, implementation=Implementation.ContiguousNFA
    )
    pieces: list[bytes] = []
    last = 0
    for begin, end in [*_spans(re2.compile(_PLACEHOLDER), data), (len(data), len(data))]:
        part = data[last:begin]
        done = 0
        for _, start, stop in finder.find_matches_as_indexes(part):
            pieces += [part[done:start], placeholder]
            done = stop
        pieces += [part[done:], data[begin:end]]
        last = end
    return b"".join(pieces)


def _spans(pattern: Any, data: bytes) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(data):
        yield match.span()
