"""Secrets out of a text, everything that identifies a failure left in.

What a secret looks like is data (`rules/redact.toml`). One Aho-Corasick pass finds the lines that
hold an anchor of some rule; only those meet patterns, and the patterns are RE2. So the time grows
with the text and not with what an attacker puts into it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import re2
from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind
from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import RuleError
from mem.parsing.rules import load

_FILE = "redact.toml"
_PASSES = 8
_GROUP = b"secret"
_PLACEHOLDER = rb"\[redacted:[a-z0-9-]+\]"


class Redacted(NamedTuple):
    """A text without secrets; `kinds` names what was replaced, sorted, each once."""

    text: str
    kinds: tuple[str, ...]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _RuleData(_Data):
    kind: str = Field(pattern=r"^[a-z0-9-]+$")
    anchors: tuple[str, ...] = Field(min_length=1)
    also: str = ""
    patterns: tuple[str, ...] = Field(min_length=1)
    needs: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


class _MaskData(_Data):
    kind: str = Field(pattern=r"^[a-z0-9-]+$")
    minimum: int = Field(ge=1)
    maximum: int = Field(ge=1)
    patterns: tuple[str, ...]
    keep: tuple[str, ...]


class _BlockData(_Data):
    kind: str = Field(pattern=r"^[a-z0-9-]+$")
    anchor: str = Field(min_length=1)
    begin: str
    end: str
    body: str
    maximum: int = Field(ge=1)


class _Placeholders(_Data):
    keep: tuple[str, ...]


class _File(_Data):
    version: int = Field(ge=1)
    macros: dict[str, str]
    placeholders: _Placeholders
    mask: _MaskData
    block: _BlockData
    rule: tuple[_RuleData, ...]


class _Rule(NamedTuple):
    """A compiled rule: its patterns, each with the number of the group that holds the secret."""

    kind: str
    also: bytes
    patterns: tuple[tuple[Any, int], ...]
    needs: tuple[Any, ...]
    keep: Any
    unless: Any | None


class _Block(NamedTuple):
    kind: str
    anchor: bytes
    begin: Any
    end: Any
    body: Any
    maximum: int


class _Rules(NamedTuple):
    anchors: BytesAhoCorasick
    by_anchor: tuple[tuple[int, ...], ...]
    rules: tuple[_Rule, ...]
    mask: _Rule
    mask_lengths: range
    block: _Block


def redact(text: str) -> Redacted:
    """`text` with each secret replaced by `[redacted:kind]`.

    Never raises, keeps the number of lines, and redacting again changes nothing.
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds: set[str] = set()
    # A replacement can uncover a longer secret around it; a text without any is read once.
    for _ in range(_PASSES):
        changed = _pass(data, kinds)
        if changed == data:
            break
        data = changed
    if not kinds:
        return Redacted(text, ())
    try:
        clean = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        clean = data.decode("utf-8", "replace")
    return Redacted(clean, tuple(sorted(kinds)))


def _pass(data: bytes, kinds: set[str]) -> bytes:
    """One look at the whole text."""
    rules = _rules()
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
    data: bytes, hits: Iterable[tuple[int, int, int]], rules: _Rules
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


def _cleaned(line: bytes, todo: list[int], rules: _Rules, kinds: set[str]) -> bytes:
    """`line` after the rules numbered in `todo`, in their order."""
    for index in todo:
        rule = rules.rules[index]
        if rule.also in line:
            line = _apply(rule, line, kinds)
    return line


def _apply(rule: _Rule, line: bytes, kinds: set[str]) -> bytes:
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


def _is_secret(rule: _Rule, secret: bytes, match: Any) -> bool:
    if rule.keep.fullmatch(secret) is not None:
        return False
    if rule.unless is not None and rule.unless.search(match.group(0)) is not None:
        return False
    return all(need.search(secret) is not None for need in rule.needs)


def _placeholder(kind: str) -> bytes:
    return f"[redacted:{kind}]".encode()


def _without_blocks(data: bytes, block: _Block, kinds: set[str]) -> bytes:
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


def _end_of_block(lines: list[bytes], first: int, ends: list[int], block: _Block) -> int:
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


def _without_masked_values(data: bytes, rules: _Rules, kinds: set[str]) -> bytes:
    """Values that the log itself announces as secret, wherever they stand."""
    if b"add-mask" not in data:
        return data
    values = set()
    for line in data.split(b"\n"):
        if b"add-mask" in line:
            values.update(_announced(line, rules))
    values = {value for value in values if len(value) in rules.mask_lengths}
    kind = rules.mask.kind
    changed = _replace_all(data, values, _placeholder(kind)) if values else data
    # The announcement itself, also of a value too short to be looked for elsewhere.
    lines = [
        _apply(rules.mask, line, kinds) if b"add-mask" in line else line
        for line in changed.split(b"\n")
    ]
    changed = b"\n".join(lines)
    if changed != data:
        kinds.add(kind)
    return changed


def _announced(line: bytes, rules: _Rules) -> Iterator[bytes]:
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


@cache
def _rules() -> _Rules:
    """The rule file, compiled."""
    file = load(_FILE, _File)
    anchors = sorted({anchor for rule in file.rule for anchor in rule.anchors})
    by_anchor = tuple(
        tuple(n for n, rule in enumerate(file.rule) if anchor in rule.anchors) for anchor in anchors
    )
    mask = file.mask
    return _Rules(
        # Anchors are searched with their overlaps: one may be a part of another.
        BytesAhoCorasick([anchor.encode() for anchor in anchors]),
        by_anchor,
        tuple(_compiled_rule(rule, file) for rule in file.rule),
        _compiled_rule(
            _RuleData(kind=mask.kind, anchors=("-",), patterns=mask.patterns, keep=mask.keep), file
        ),
        range(mask.minimum, mask.maximum + 1),
        _Block(
            file.block.kind,
            file.block.anchor.encode(),
            *(_compile(file.block.kind, p, file.macros) for p in _block_patterns(file.block)),
            file.block.maximum,
        ),
    )


def _block_patterns(block: _BlockData) -> tuple[str, str, str]:
    return block.begin, block.end, block.body


def _compiled_rule(rule: _RuleData, file: _File) -> _Rule:
    def compiled(patterns: Iterable[str]) -> tuple[Any, ...]:
        return tuple(_compile(rule.kind, pattern, file.macros) for pattern in patterns)

    patterns = compiled(rule.patterns)
    if any(_GROUP not in pattern.groupindex for pattern in patterns):
        raise RuleError(f"{_FILE}, rule {rule.kind}: a pattern lacks group `secret`.", "Name it.")
    keep = "|".join(f"(?:{pattern})" for pattern in (*file.placeholders.keep, *rule.keep))
    unless = "|".join(f"(?:{pattern})" for pattern in rule.unless)
    return _Rule(
        rule.kind,
        rule.also.encode(),
        tuple((pattern, pattern.groupindex[_GROUP]) for pattern in patterns),
        compiled(rule.needs),
        compiled([keep])[0],
        compiled([unless])[0] if unless else None,
    )


def _compile(kind: str, pattern: str, macros: dict[str, str]) -> Any:
    """`pattern` with its macros, for bytes: Latin-1 makes each byte one character."""
    for name, text in macros.items():
        pattern = pattern.replace("{{" + name + "}}", text)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 32 << 20
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise RuleError(
            f"{_FILE}, rule {kind}: bad pattern {pattern!r}: {error}.", "Correct it."
        ) from None
