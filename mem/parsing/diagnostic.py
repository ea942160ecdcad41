"""What compilers, linters and interpreters print about a fault, taken apart: message, what is said besides, code."""

from __future__ import annotations

import re
from typing import NamedTuple

from mem.ports import Fault

_ERROR = r"(?:(?:internal\s+compiler|fatal|syntax|type|parse)\s+)?error"
_SEVERITY = rf"(?:[A-Z][\w-]*\s+)?(?P<severity>{_ERROR}|warning|fatal|note|notice|help|hint|info|panic|failure)"
_CODE = r"(?:\s*[\[(]\s*(?P<quoted>[\w:/.\-]+)\s*[\])]|\s+(?P<code>[A-Z]{1,6}-?\d{2,6}))?"
_PLACE = (
    r"(?:(?:[A-Za-z]:)?[^\s:()]+"
    r"(?::\d+(?::\d+)?(?:-\d+(?::\d+)?)?|\(\d+(?:,\s*\d+)*\))(?::|\s|$))"
)
_TABLE = r"(?:\d+:\d+\s+)"
_TOOL = r"(?:[\w./+-]+:\s+)"
_MESSAGE = re.compile(
    rf"^(?:=\s*)?(?:{_PLACE}|{_TABLE}|{_TOOL})?\s*{_SEVERITY}{_CODE}(?:\s*:\s*|\s{{2,}}|\s*$)(?:\[(?P<behind>[\w-]+)\]\s*)?(?P<said>.*)$",
    re.IGNORECASE,
)
_MARKED = re.compile("^(?P<severity>[\u00d7\u2716\u2717\u2718\u26a0!\u2139i\u2022])\\s+(?P<said>\\S.*)$")
_PLACED = re.compile(rf"^{_PLACE}\s*(?:(?P<code>[A-Z]{{1,6}}\d{{2,6}})\s+)?(?P<said>.*)$")
_RAISED = re.compile(r"^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration)\b")
_GUTTER = re.compile(r"^\s*(?:[>*→]\s*)?(?P<line>\d+(?:\s+\d+)?|LL)?\s*(?P<bar>[|│┃¦])(?P<rest>\s.*|)$")
_CHANGED = re.compile(r"^\s*(?:\d+|LL)\s*[-+~]\s(?P<rest>.*)$")
_ARROW = re.compile(r"^\s*(?:-->|:::|╭|┌|├|╰|└|at\s+\S+:\d+|File \"[^\"]+\", line \d+)")
_CARETS = re.compile(r"^\s*[\^~]+[\^~\-\s]*$")
_MARKS = re.compile(r"^[\s|│┃¦^~_\-+·─┬╰┴>]*")
_CLOSING = re.compile(
    r"aborting due to|could not compile|for more information|some errors have detailed"
    r"|generated \d+ (?:warning|error)|^\d+ (?:errors?|warnings?)\b|compilation (?:failed|terminated)|build failed"
    r"|^found \d+ (?:error|warning|problem)",
    re.IGNORECASE,
)
_TRACE = re.compile(r"^\s*Traceback \(most recent call last\)", re.IGNORECASE)
_GRAVE = ("err", "fat", "pan", "fai", "int", "syn", "typ", "\u00d7", "\u2716", "\u2717", "\u2718")
_LEAST = 2
_LINE = 1000
"""A longer line says no more about it."""


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
    lines = [line[:_LINE] for line in text.split("\n") if line.strip() and not _CLOSING.search(line[:_LINE].strip())]
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
    message = _MESSAGE.match(line) or _MARKED.match(line)
    if message:
        parts = message.groupdict()
        code = parts.get("code") or parts.get("quoted") or parts.get("behind") or ""
        said = _Said(parts["said"].strip(), parts["severity"].lower().startswith(_GRAVE), code)
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
