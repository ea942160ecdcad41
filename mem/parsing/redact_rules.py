"""The rules of redaction, read from `rules/redact.toml`, validated and compiled."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import re2
from ahocorasick_rs import BytesAhoCorasick
from pydantic import BaseModel, ConfigDict, Field

from mem.domain.errors import RuleError
from mem.parsing.rules import load

_FILE = "redact.toml"
GROUP = b"secret"


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


class Rule(NamedTuple):
    """A compiled rule: its patterns, each with the number of the group that holds the secret."""

    kind: str
    also: bytes
    patterns: tuple[tuple[Any, int], ...]
    needs: tuple[Any, ...]
    keep: Any
    unless: Any | None


class Block(NamedTuple):
    """A secret of several lines: its first line, its last, and a line of its body."""

    kind: str
    anchor: bytes
    begin: Any
    end: Any
    body: Any
    maximum: int


class Rules(NamedTuple):
    """All rules; `by_anchor` gives the numbers of the rules that an anchor stands for."""

    anchors: BytesAhoCorasick
    by_anchor: tuple[tuple[int, ...], ...]
    rules: tuple[Rule, ...]
    mask: Rule
    mask_lengths: range
    block: Block


@cache
def redaction_rules() -> Rules:
    """The rule file, compiled."""
    file = load(_FILE, _File)
    anchors = sorted({anchor for rule in file.rule for anchor in rule.anchors})
    by_anchor = tuple(tuple(n for n, rule in enumerate(file.rule) if anchor in rule.anchors) for anchor in anchors)
    mask = file.mask
    return Rules(
        # Anchors are searched with their overlaps: one may be a part of another.
        BytesAhoCorasick([anchor.encode() for anchor in anchors]),
        by_anchor,
        tuple(_compiled_rule(rule, file) for rule in file.rule),
        _compiled_rule(_RuleData(kind=mask.kind, anchors=("-",), patterns=mask.patterns, keep=mask.keep), file),
        range(mask.minimum, mask.maximum + 1),
        _compiled_block(file.block, file.macros),
    )


def _compiled_block(block: _BlockData, macros: dict[str, str]) -> Block:
    return Block(
        block.kind,
        block.anchor.encode(),
        begin=_compile(block.kind, block.begin, macros),
        end=_compile(block.kind, block.end, macros),
        body=_compile(block.kind, block.body, macros),
        maximum=block.maximum,
    )


def _compiled_rule(rule: _RuleData, file: _File) -> Rule:
    def compiled(patterns: Iterable[str]) -> tuple[Any, ...]:
        return tuple(_compile(rule.kind, pattern, file.macros) for pattern in patterns)

    patterns = compiled(rule.patterns)
    if any(GROUP not in pattern.groupindex for pattern in patterns):
        raise RuleError(f"{_FILE}, rule {rule.kind}: a pattern lacks group `secret`.", "Name it.")
    keep = "|".join(f"(?:{pattern})" for pattern in (*file.placeholders.keep, *rule.keep))
    unless = "|".join(f"(?:{pattern})" for pattern in rule.unless)
    return Rule(
        rule.kind,
        rule.also.encode(),
        tuple((pattern, pattern.groupindex[GROUP]) for pattern in patterns),
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
        raise RuleError(f"{_FILE}, rule {kind}: bad pattern {pattern!r}: {error}.", "Correct it.") from None
