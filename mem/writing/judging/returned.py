"""What this system itself returned, found inside a text: answers in JSON, the printed report, the block for prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from mem.parsing.rules import compile_pattern
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon

# The look behind keeps a long run of backslashes from being tried at each of them.
_JOINT = re.compile(r"(?<!\\)\\*[\"']|[{}]|\n[^\S\n]*")
_JSON_BEGINS = "\"'{}[],:0123456789tfnTFN\\"
_SAID = re.compile(r"\s*[:\u2014\u2013-]?\s*(?:\"[^\"]{1,8000}\"|\u201c[^\u201d]{1,8000}\u201d|[^\n]{1,8000})")
_DEEPEST = 8
_LEVELS = 4
_TAG = re.compile(r"<[^<>]{1,60}>")
# What a quotation or a comment puts before a line, and colours, whose escape character may be gone already.
_MARGIN = re.compile(r"^(?:[>\u2502\u2503#] ?)+", re.MULTILINE)
_COLOUR = re.compile(r"\x1b?\[[0-9;]{0,10}m")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _Answer(_Part):
    name: str
    keys: frozenset[str] = Field(min_length=2)
    least: int = Field(ge=2)


class _Report(_Part):
    sure: Marks
    lesson: Marks
    within: Annotated[Any, PlainValidator(lambda value: compile_pattern(rf"(?i){value}"))]
    also: Marks
    quote: Marks


class _Prompt(_Part):
    block_open: Marks
    block_close: Marks


class _Leftover(_Part):
    chatter: Marks
    outcome: Phrases
    vocabulary: frozenset[str]


class Feedback(Lexicon):
    """The rule file; its head explains the fields."""

    min_telling_words: int = Field(ge=1)
    min_own_words: int = Field(ge=1)
    contained: float = Field(gt=0, le=1)
    lesson_fields: tuple[str, ...] = Field(min_length=1)
    answer: tuple[_Answer, ...] = Field(min_length=1)
    report: _Report
    prompt: _Prompt
    leftover: _Leftover


class Returned(NamedTuple):
    """A text without what this system returned (`rest`), the lessons that were in it, the name of the first thing."""

    rest: str
    lessons: tuple[str, ...]
    name: str | None


def without_returned(text: str) -> Returned:
    """Take what this system returned out of a text."""
    name: str | None = None
    lessons: list[str] = []
    for take in (_prompt_blocks, _answers, _report, _told_within):
        found = take(text)
        text, lessons, name = found.rest, [*lessons, *found.lessons], name or found.name
    return Returned(text, tuple(lessons), name)


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    last, pieces = 0, []
    for begin, end in spans:
        pieces += [text[last:begin], " "]
        last = end
    return "".join([*pieces, text[last:]])


def _prompt_blocks(text: str) -> Returned:
    prompt = feedback().prompt
    closes = [found.span() for found in prompt.block_close.finditer(text)]
    spans: list[tuple[int, int]] = []
    lessons = []
    for found in prompt.block_open.finditer(text):
        begin, inside = found.span()
        if spans and begin < spans[-1][1]:
            continue
        while closes and closes[0][0] < inside:
            closes.pop(0)
        stop, end = closes[0] if closes else (len(text), len(text))
        spans.append((begin, end))
        lessons.append(_TAG.sub(" ", text[inside:stop].replace("&lt;", "<").replace("&gt;", ">").replace("\\n", " ")))
    return Returned(_cut(text, spans), tuple(lessons), "a context block" if spans else None)


def _answers(text: str) -> Returned:
    spans: list[tuple[int, int]] = []
    lessons: list[str] = []
    name = None
    budget = 2 * len(text)  # an object that is none of ours may enclose another that is
    for found in _starts().finditer(text):
        begin = found.start()
        if spans and begin < spans[-1][1]:
            continue
        one = _object(text, begin, len(found.group(1)), begin + budget)
        budget -= one.end - begin
        seen = next((each.name for each in feedback().answer if len(one.keys & each.keys) >= each.least), None)
        if seen is not None:
            spans.append((begin, one.end))
            name = name or seen
            lessons += _lessons_in(text[begin : one.end])
        if budget <= 0:
            break
    return Returned(_cut(text, spans), tuple(lessons), name)


class _Object(NamedTuple):
    end: int
    keys: set[str]


def _object(text: str, begin: int, level: int, stop: int) -> _Object:
    """Where the object that begins there ends, and its own keys; of one that was cut off all keys that are there.

    `level` is the number of backslashes before its quotes: 0, or 1, 3, 7 inside strings of strings.
    """
    depth, opened, quote = 0, 0, ""
    keys: set[str] = set()
    deep: set[str] = set()
    for found in _JOINT.finditer(text, begin, min(len(text), stop)):
        mark = found.group()
        if mark[0] == "\n":
            # No string of an answer holds a raw line feed, and its lines begin with what JSON consists of.
            if quote or (following := text[found.end() : found.end() + 1]) not in _JSON_BEGINS or not following:
                return _Object(found.start(), keys | deep)
        elif mark in "{}":
            if not quote:
                depth += 1 if mark == "{" else -1
                if depth == 0 or depth > _DEEPEST:
                    return _Object(found.end(), keys)
        elif (len(mark) - 1 - level) % (2 * (level + 1)) == 0 and quote in ("", mark[-1]):
            if quote and text[found.end() : found.end() + 2].lstrip()[:1] == ":":
                (keys if depth == 1 else deep).add(text[opened : found.start()])
            opened, quote = found.end(), "" if quote else mark[-1]
    return _Object(min(len(text), stop), keys | deep)


def _lessons_in(block: str) -> Iterator[str]:
    for _ in range(_LEVELS):
        if '\\"' not in block or _plain_field().search(block) is not None:
            break
        block = _unescaped(block)
    for found in _plain_field().finditer(block):
        yield _unescaped(found.group(1) or found.group(2) or "")


def _unescaped(text: str) -> str:
    try:
        return str(json.JSONDecoder(strict=False).decode(f'"{text}"'))
    except ValueError:
        return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def _report(text: str) -> Returned:
    report = feedback().report
    lines = _MARGIN.sub("", _COLOUR.sub("", text)).split("\n")
    bare = [line.strip() for line in lines]
    distinct = set(bare)  # logs repeat themselves
    opening = {line for line in distinct if report.lesson.search(line) is not None}
    ours = opening | {line for line in distinct if report.sure.search(line) is not None}
    heads, sure = [line in opening for line in bare], [line in ours for line in bare]
    if not ours:
        return Returned(text, (), None)
    rest: list[str] = []
    lessons: list[str] = []
    at = 0
    while at < len(lines):
        if heads[at]:
            end = _end_of_lesson(lines, bare, sure, at)
            lessons.append(" ".join(bare[at + 1 : end]))
            at = end
        elif sure[at]:
            at = _end_of_quotes(bare, at + 1)
        elif report.also.search(bare[at]) is not None:
            at += 1
        else:
            rest.append(lines[at])
            at += 1
    return Returned("\n".join(rest), tuple(lessons), "a printed report")


def _told_within(text: str) -> Returned:
    """Lessons of a report told inside a sentence: its head and the words behind it."""
    spans: list[tuple[int, int]] = []
    lessons: list[str] = []
    for found in feedback().report.within.finditer(text):
        if spans and found.start() < spans[-1][1]:
            continue
        said = _SAID.match(text, found.end())
        end = found.end() if said is None else said.end()
        spans.append((found.start(), end))
        lessons.append(text[found.end() : end])
    return Returned(_cut(text, spans), tuple(lessons), "a lesson of a printed report" if spans else None)


def _end_of_lesson(lines: list[str], bare: list[str], sure: list[bool], head: int) -> int:
    """The line after the text of the lesson whose first line is `head`."""
    depth = _indent(lines[head])
    at = head + 1
    while at < len(lines) and bare[at] and not sure[at] and feedback().report.also.search(bare[at]) is None:
        if depth and _indent(lines[at]) <= depth:
            break
        at += 1
    return at


def _end_of_quotes(bare: list[str], at: int) -> int:
    while at < len(bare) and feedback().report.quote.search(bare[at]) is not None:
        at += 1
    return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@cache
def feedback() -> Feedback:
    """The rule file."""
    return lexicon("feedback.toml", Feedback)


@cache
def _starts() -> Any:
    keys = "|".join(sorted({re.escape(key) for answer in feedback().answer for key in answer.keys}))
    return compile_pattern(rf"\{{(?:\s|\\+[nrt])*(\\*)[\"'](?:{keys})\\*[\"']\s*:")


@cache
def _plain_field() -> Any:
    names = "|".join(re.escape(name) for name in feedback().lesson_fields)
    return compile_pattern(rf"[\"'](?:{names})[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)|'((?:[^'\\]|\\.)*))")
