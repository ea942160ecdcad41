"""A copy of the log instead of an insight."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from mem.domain.accepting import Verdict
from mem.domain.nodes import Node
from mem.parsing.clean import cap
from mem.parsing.evidence import is_prose
from mem.parsing.rules import compile_pattern
from mem.parsing.worth import worth_of
from mem.writing.judging.case import Case
from mem.writing.judging.insight import insight
from mem.writing.judging.lexicon import Lexicon, lexicon
from mem.writing.judging.trivial import telling_words
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import tokens

_TOKEN = re.compile(r"[^\W_]+")
# A word as it stands in a letter: no figures, no signs, no capitals but the first.
_PLAIN = compile_pattern(
    r"[\"'(\[]?\p{L}[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:['\x{2019}-]\p{L}[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)*[\"')\].,;:!?]*"
)
_PIECE = re.compile(r"(?<=[.!?])\s+")
_JSON_LINE = re.compile(r"(?<!\\)\\+n|\"")
_LONG = 300
_INDENT = re.compile(r"(?:\s|\\t)*")
_ITEM = re.compile(r"\s*(?:[-*+>#\u2022]|\d+[.)])\s")
_SPEAKER = re.compile(r"^\s*(?:[A-Z]?[a-z][\w.-]{0,20}):\s+")


class _Restating(Lexicon):
    run: int = Field(ge=2)
    copied: float = Field(gt=0, le=1)
    found: float = Field(gt=0, le=1)
    min_own_words: int = Field(ge=1)
    printed: float = Field(gt=0, le=1)
    frame: frozenset[str]
    labels: Annotated[Any, PlainValidator(compile_pattern)]
    linking: Annotated[Any, PlainValidator(lambda value: compile_pattern(rf"(?i)\b(?:{value})\b"))]


def restates(case: Case) -> Verdict | None:
    """Object to a text that is taken from the log, or tells over what the log tells, and adds nothing in words."""
    spans = [found.span() for found in _TOKEN.finditer(case.text)]
    copied = _copied([case.text[begin:end].lower() for begin, end in spans], case.evidence)
    if spans and sum(copied) >= _rule().copied * len(spans):
        own = _own(case.text, spans, copied)
        if not _adds(own) and insight().told.search(case.text) is None:
            return _objection(case.text)
    elif not _adds(case.text, told_over=True) and insight().told.search(case.text) is None and _told_over(case):
        return _objection(case.text)
    return None


def _objection(text: str) -> Verdict:
    return reject(
        "restates-evidence",
        f"The text only repeats its evidence, {quoted(text)}; say what caused it, what helped or what was decided.",
    )


def _copied(mine: Sequence[str], evidence: Iterable[Node]) -> list[bool]:
    """For each word of the text whether it stands in a run that a program printed in the evidence, too."""
    size = min(_rule().run, len(mine))
    runs = list(zip(*(mine[at:] for at in range(size)), strict=False)) if size else []
    wanted, known = set(runs), set[tuple[str, ...]]()
    # From the end on, where a log tells what failed.
    for line, head in reversed(_lines(evidence).items()):
        if wanted.intersection(_runs(line, size)) - known:
            for piece in _printed_pieces(line, head):
                known |= wanted.intersection(_runs(piece, size))
    copied = [False] * len(mine)
    for at, run in enumerate(runs):
        if run in known:
            copied[at : at + size] = [True] * size
    return copied


def _runs(text: str, size: int) -> Iterator[tuple[str, ...]]:
    words = tokens(text)
    return zip(*(words[at:] for at in range(size)), strict=False)


def _own(text: str, spans: Sequence[tuple[int, int]], copied: Sequence[bool]) -> str:
    """The text with a bar in the place of each copied word, so that no cue reaches over what was copied."""
    last, pieces = 0, []
    for (begin, end), taken in zip(spans, copied, strict=True):
        pieces += [text[last:begin], "|" if taken else text[begin:end]]
        last = end
    return "".join([*pieces, text[last:]])


def _adds(own: str, *, told_over: bool = False) -> bool:
    """Whether an author's own words hold an insight, or so many telling words that they may well do."""
    rule = _rule()
    plain = rule.linking.sub("|", own)
    if insight().cues.search(plain) is not None:
        return True
    return not told_over and len(telling_words(own) - rule.frame) >= rule.min_own_words


def _lines(evidence: Iterable[Node]) -> dict[str, str]:
    """The lines of all evidence, each once, with the line that it goes on from, if any.

    A transcript in JSON has them inside its strings.
    """
    lines: dict[str, str] = {}
    for each in evidence:
        head = ""
        for whole in each.text.split("\n"):
            for line in _JSON_LINE.split(whole) if len(whole) > _LONG else (whole,):
                goes_on = bool(head) and _goes_on(line, head)
                lines[line] = lines.get(line) or (head if goes_on else "")
                head = head if goes_on else line
    return lines


def _goes_on(line: str, head: str) -> bool:
    """Whether a program that printed `head` may have printed `line` below it: further in, or as a question."""
    if len(line) > _LONG or _SPEAKER.match(line) is not None or _ITEM.match(line) is not None:
        return False
    return _indent(line) > _indent(head) or line.rstrip().endswith("?")


def _indent(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found is not None else 0


def _printed_pieces(line: str, head: str) -> Iterator[str]:
    """The sentences of a line that came out of a program; behind a label also those that are no prose."""
    if head and _is_printed(head):
        yield line
        return
    labelled = _rule().labels.search(line) is not None
    for piece in _PIECE.split(line):
        if _is_printed(piece) or (labelled and not is_prose(piece)):
            yield piece


def _is_printed(line: str) -> bool:
    """Whether a line came out of a program, and not from a person or an agent."""
    if is_prose(_SPEAKER.sub("", line, count=1)):
        return False
    if _rule().labels.search(line) is not None:
        return True
    parts = line.split()
    signs = sum(1 for part in parts if _PLAIN.fullmatch(part) is None)
    return signs >= _rule().printed * len(parts) or worth_of(cap(line)) is not None


def _told_over(case: Case) -> bool:
    """Whether nearly all telling words of the text stand in lines that a program printed."""
    telling = {token for word in telling_words(case.text) - _rule().frame for token in tokens(word)}
    missing = {token for token in telling - _rule().frame if len(token) > 1 or not "a" <= token <= "z"}
    allowed = len(missing) - _rule().found * len(missing)
    lines = _lines(case.evidence) if missing else {}
    for line, head in lines.items():
        if not missing.isdisjoint(tokens(line)):
            for piece in _printed_pieces(line, head):
                missing.difference_update(tokens(piece))
        if len(missing) <= allowed:
            return True
    return False


@cache
def _rule() -> _Restating:
    return lexicon("restating.toml", _Restating)
