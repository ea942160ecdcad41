"""What compilers, linters and interpreters print about a fault, taken apart: message, what is said besides, code."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.ports import Fault

_CODE = r"(?:\s*[\[(]\s*(?P<quoted>[\w:/.\-]+)\s*[\])]|\s+(?P<code>[A-Z]{1,6}-?\d{2,6}))?"
_PLACE = (
    r"(?:(?:[A-Za-z]:)?[^\s:()]+"
    r"(?::\d+(?::\d+)?(?:-\d+(?::\d+)?)?|\(\d+(?:,\s*\d+)*\))(?::|\s|$))"
)
_TABLE = r"(?:\d+:\d+\s+)"
_TOOL = r"(?:[\w./+-]+:\s+)"
_PLACED = re.compile(rf"^{_PLACE}\s*(?:(?P<code>[A-Z]{{1,6}}\d{{2,6}})\s+)?(?P<said>.*)$")
_RAISED = re.compile(r"^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration)\b")
_GUTTER = re.compile(r"^\s*(?:[>*→]\s*)?(?P<line>\d+(?:\s+\d+)?|LL)?\s*(?P<bar>[|│┃¦])(?P<rest>\s.*|)$")
_CHANGED = re.compile(r"^\s*(?:\d+|LL)\s*[-+~]\s(?P<rest>.*)$")
_ARROW = re.compile(r"^\s*(?:-->|:::|╭|┌|├|╰|└|at\s+\S+:\d+|File \"[^\"]+\", line \d+)")
_CARETS = re.compile(r"^\s*[\^~]+[\^~\-\s]*$")
_MARKS = re.compile(r"^[\s|│┃¦^~_\-+·─┬╰┴>]*")
_TRACE = re.compile(r"^\s*Traceback \(most recent call last\)", re.IGNORECASE)
_LEAST = 2
_LINE = 1000
"""A longer line says no more about it."""


class _Rules(NamedTuple):
    """What messages begin with, which of it is grave, and what is no message."""

    message: re.Pattern[str]
    marked: re.Pattern[str]
    grave: re.Pattern[str]
    closing: re.Pattern[str]


class _Said(NamedTuple):
    """A message, whether it is grave, and the code by which its tool knows it."""

    words: str
    is_grave: bool
    code: str = ""


class _Lines(NamedTuple):
    """Lines by what they are: messages, what is said besides, code, and what is neither."""

    messages: list[_Said]
    notes: list[str]
    code: list[str]
    others: list[str]


def read_fault(text: str) -> Fault | None:
    """Take apart what a tool printed about a fault; None where the text does not read like that.

    The headline is the first grave message, else the first one, without what such messages begin with. The code by
    which its tool knows it, labels beside the marks under code, notes, helps and further messages are what is said
    besides.
    """
    lines = _sorted(text)
    if not lines.messages and not lines.code:
        return None
    grave = (message for message in lines.messages if message.is_grave)
    others = (_Said(line, is_grave=False) for line in lines.others)
    main = next(grave, None) or next(iter(lines.messages), None) or next(others, None)
    if main is None:
        return None
    said = [main.code, *(message.words for message in lines.messages), *lines.notes, *lines.others]
    notes = dict.fromkeys(each for each in said if each and each != main.words)
    return Fault(main.words, "\n".join(notes), "\n".join(lines.code))


def _sorted(text: str) -> _Lines:
    found = _Lines([], [], [], [])
    closing = _rules().closing
    lines = [line[:_LINE] for line in text.split("\n") if line.strip() and not closing.search(line[:_LINE].strip())]
    traced = False
    waiting: _Said | None = None
    for line, below in zip(lines, [*lines, ""][1:], strict=True):
        traced = traced or bool(_TRACE.match(line))
        if _code_of(line, below, found) or _ARROW.match(line) or _TRACE.match(line):
            continue
        if traced and line.startswith("    "):
            found.code.append(line)
        elif waiting is not None:
            # The message stands below its place and severity.
            found.messages.append(waiting._replace(words=line.strip()))
            waiting = None
        else:
            waiting = _message(line.strip(), found)
    return found


def _message(line: str, found: _Lines) -> _Said | None:
    """Take a line for a message, or for what is said besides; a message whose words are still to come is returned."""
    rules = _rules()
    message = rules.message.match(line) or rules.marked.match(line)
    if message:
        parts = message.groupdict()
        code = parts.get("code") or parts.get("quoted") or parts.get("behind") or ""
        said = _Said(parts["said"].strip(), rules.grave.fullmatch(parts["severity"]) is not None, code)
        if not said.words:
            return said
        found.messages.append(said)
        return None
    placed = _PLACED.match(line)
    if _RAISED.match(line):
        found.messages.append(_Said(line.strip(), is_grave=True))
    elif placed is None:
        found.others.append(line.strip())
    elif len(placed["said"].split()) >= _LEAST:
        found.messages.append(_Said(placed["said"].strip(), is_grave=True, code=placed["code"] or ""))
    return None


def _code_of(line: str, below: str, found: _Lines) -> bool:
    """Whether the line is code, or marks under it; labels beside the marks are noted."""
    gutter = _GUTTER.match(line)
    if gutter and gutter["line"]:
        found.code.append(gutter["rest"][1:])
        return True
    if gutter:
        label = _MARKS.sub("", gutter["rest"]).strip()
        if len(label.split()) >= _LEAST:
            found.notes.append(label)
        return True
    changed = _CHANGED.match(line)
    if changed:
        found.code.append(changed["rest"])
        return True
    if _CARETS.match(line):
        return True
    if _CARETS.match(below):
        found.code.append(line)
        return True
    return False


@cache
def _rules() -> _Rules:
    data = tomllib.loads(files(__package__).joinpath("diagnostic.toml").read_text(encoding="utf-8"))
    severity = rf"(?:[A-Z][\w-]*\s+)?(?P<severity>{'|'.join([*data['grave'], *data['mild']])})"
    said = r"(?:\s*:\s*|\s{2,}|\s*$)(?:\[(?P<behind>[\w-]+)\]\s*)?(?P<said>.*)$"
    marks = re.escape(data["grave_marks"] + data["mild_marks"])
    return _Rules(
        re.compile(rf"^(?:=\s*)?(?:{_PLACE}|{_TABLE}|{_TOOL})?\s*{severity}{_CODE}{said}", re.IGNORECASE),
        re.compile(rf"^(?P<severity>[{marks}])\s+(?P<said>\S.*)$"),
        re.compile("|".join([*data["grave"], f"[{re.escape(data['grave_marks'])}]"]), re.IGNORECASE),
        re.compile("|".join(data["closing"]), re.IGNORECASE),
    )
