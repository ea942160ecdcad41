"""Failure statements that a memory quotes: messages in quotation marks or code spans, codes, exceptions, statuses.

Only what a program could have printed is taken; the prose around it is not, for the text vector has it already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mem.parsing.rules import Pattern, parse
from mem.parsing.worth import worth_of

RULES = "statements.toml"
_SPANS = re.compile(
    r"`([^`\n]{3,200})`|\"([^\"\n]{3,200})\"|\u201c([^\u201d\n]{3,200})\u201d|(?<!\w)'([^'\n]{6,200})'(?!\w)"
)


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    pattern: Pattern
    shows: str = "{0}"
    by: dict[str, str] = {}


class StatementRules(BaseModel):
    """What codes look like; the head of the file says how to write one."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    version: int = Field(ge=1)
    setting: tuple[Pattern, ...]
    shape: tuple[_Shape, ...]


def statements_of(text: str) -> list[str]:
    """The failure statements that stand in `text`, in order, each once and none that another one holds."""
    rules = statement_rules()
    lines = dict.fromkeys(line for _, line in sorted([*_messages(text, rules), *_codes(text, rules)]))
    return [line for line in lines if not any(line in other and line != other for other in lines)]


def _messages(text: str, rules: StatementRules) -> Iterator[tuple[int, str]]:
    """Quoted spans that a program could have printed about a failure."""
    for match in _SPANS.finditer(text):
        span = " ".join(next(group for group in match.groups() if group is not None).split())
        if " " not in span or any(setting.search(span) is not None for setting in rules.setting):
            continue
        worth = worth_of(span)
        if worth is not None and (worth.strong or worth.rules):
            yield match.start(), span


def _codes(text: str, rules: StatementRules) -> Iterator[tuple[int, str]]:
    for shape in rules.shape:
        for match in shape.pattern.finditer(text):
            code = _first_group(match)
            shown = shape.by.get(code) if shape.by else shape.shows.replace("{0}", code)
            if shown:
                yield match.start(), shown


def _first_group(match: Any) -> str:
    return next((str(group) for group in match.groups() if group), str(match.group()))


@cache
def statement_rules() -> StatementRules:
    """The packaged rules.

    Raises:
        RuleError: the file is wrong.
    """
    return read_statement_rules(packaged_statements())


@cache
def packaged_statements() -> str:
    """The packaged rules as text."""
    return files("mem.writing").joinpath("rules").joinpath(RULES).read_text("utf-8")


def read_statement_rules(text: str) -> StatementRules:
    """These rules, validated.

    Raises:
        RuleError: they are no TOML or break the form.
    """
    return parse(RULES, text, StatementRules)
