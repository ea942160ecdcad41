"""A raw log without what its CI system added, and the commands that it ran.

Line i of the result is line i of the input: lines are emptied, never removed, so that a
line number found here holds in the text as given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, assert_never

from mem.parsing.decode import without_surrogates
from mem.parsing.patterns import PatternSet
from mem.parsing.rules import Envelopes, Marker, load

LINE_LIMIT = 8192
_HEAD, _TAIL = 4096, 4000
_QUOTE_LINES = 200
# Each alternative ends at the next ESC at the latest, so the scan is linear.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|[\x00\x08\x1b]")
_RED = re.compile(r"\x1b\[(?:\d{1,2};){0,2}(?:31|91|41)(?:;\d{1,2}){0,2}m")
ELIDED = "[mem: {lines} lines left out, {full} with text]"
_ELIDED = re.compile(r"\[mem: (\d{1,12}) lines left out, (\d{1,12}) with text\]\Z")


@dataclass(frozen=True, slots=True)
class Command:
    """One command or step: lines `start` to `end`, exclusive, counted from 0."""

    start: int
    end: int
    name: str = ""
    status: int | None = None
    body: int | None = None
    """The line above its output; `start` where the envelope does not echo the command in lines of its own."""

    @property
    def output(self) -> int:
        """The line above the first that the command can have written."""
        return self.start if self.body is None else self.body


@dataclass(slots=True)
class Cleaned:
    """The cleaned lines with what the envelope said about them."""

    lines: list[str]
    envelope: str | None = None
    red: set[int] = field(default_factory=set)
    marks: set[int] = field(default_factory=set)
    elided: dict[int, int] = field(default_factory=dict)
    verdict: int | None = None
    commands: list[Command] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    def command_at(self, line: int) -> int:
        """The index of the command that holds `line`; -1 before the first."""
        if len(self._starts) != len(self.commands):
            self._starts = [command.start for command in self.commands]
        return bisect_right(self._starts, line) - 1


def cap(line: str) -> str:
    """`line` cut to its head and tail; cutting twice changes nothing."""
    return line if len(line) <= LINE_LIMIT else f"{line[:_HEAD]} … {line[-_TAIL:]}"


def uncoloured(line: str) -> str:
    """`line` without escape sequences and the carriage returns at its end."""
    return _ANSI.sub("", line).rstrip("\r")


def clean(text: str) -> Cleaned:
    """`text` without colour, carriage returns, CI prefixes and markers."""
    return Cleaner().run(without_surrogates(text).split("\n"))


@cache
def _envelopes() -> Envelopes:
    return load("envelopes.toml", Envelopes)


@cache
def _structures() -> PatternSet:
    """Markers, then labels, each in their order."""
    envelopes = _envelopes()
    return PatternSet([*(marker.pattern for marker in envelopes.marker), *(label.pattern for label in envelopes.label)])


@cache
def _prefixes() -> tuple[tuple[Any, str | None], ...]:
    return tuple(
        (re.compile(entry.pattern.pattern.replace(r"\x{feff}", "\ufeff")), entry.envelope)
        for entry in _envelopes().prefix
    )


def _status(groups: dict[str, str | None]) -> int:
    """The exit status that a mark names; a log can hold a number of any length."""
    return int((groups.get("status") or "0")[:9])


def _groups(marker: Marker, line: str) -> dict[str, str | None]:
    found = marker.pattern.search(line)
    return found.groupdict() if found is not None else {}


class Cleaner:
    """One pass over the lines; the state is the open command."""

    def __init__(self) -> None:
        self.out = Cleaned([])
        self.votes: Counter[str] = Counter()
        self.start: int | None = None
        self.body: int | None = None
        self.name = ""
        self.awaiting = False
        self.erred = False
        self.raw: list[str] = []
        self.until: Any = None
        self.ends: list[int] | None = None
        self.starts = _envelopes().starts

    def run(self, raw: list[str]) -> Cleaned:
        """The cleaned form of `raw`."""
        append = self.out.lines.append
        self.raw = raw
        for number, given in enumerate(raw):
            append(self.feed(number, given))
        self._close(len(raw), None)
        if any(command.status for command in self.out.commands) or (self.out.red and self.erred):
            self.out.verdict = self.out.verdict or 1
        if self.votes:
            best = max(self.votes.values())
            self.out.envelope = min(name for name, count in self.votes.items() if count == best)
        return self.out

    def feed(self, number: int, given: str) -> str:
        """Line `number` without colour, prefix and markers; what it says about the commands is noted."""
        line = cap(given)
        if line.endswith("\r"):
            line = line.rstrip("\r")
        if "\x1b" in line or "\r" in line or "\x00" in line or "\x08" in line:
            line = self._plain(number, line)
        if line and (line[0].isdigit() or line[0] in "[(#\ufeff" or "Z " in line[:450]):
            line = self._unprefixed(number, line)
        if line and (self.until is not None or line.startswith(self.starts)):
            line = self._structure(number, line)
        return line

    def _plain(self, number: int, line: str) -> str:
        """`line` without colour; of what a CR overwrote, only the last text stays."""
        if "\x1b" in line:
            if _RED.search(line):
                self.out.red.add(number)
            line = _ANSI.sub("", line)
        elif "\x00" in line or "\x08" in line:
            line = _ANSI.sub("", line)
        line = line.rstrip("\r")
        if "\r" not in line:
            return line
        parts = [part for part in line.split("\r") if part.strip()]
        for part in parts[:-1]:
            if part[:1] in ("t", "s"):
                self._structure(number, part)
        return parts[-1] if parts else ""

    def _unprefixed(self, number: int, line: str) -> str:
        elided = _ELIDED.match(line) if line.startswith("[mem: ") else None
        if elided:
            self.out.elided[number] = int(elided[2])
            self.out.marks.add(number)
            return ""
        for pattern, envelope in _prefixes():
            found = pattern.match(line)
            if found and found.end():
                if envelope:
                    self.votes[envelope] += 1
                return line[found.end() :]
        return line

    def _structure(self, number: int, line: str) -> str:
        if self.until is not None:
            return self._quoted(number, line)
        envelopes = _envelopes()
        for which in _structures().match(line):
            if which >= len(envelopes.marker):
                label = envelopes.label[which - len(envelopes.marker)]
                if label.red:
                    self.out.red.add(number)
                    self.erred = True
                if line.startswith("##["):
                    self.votes["github-actions"] += 1
                return line[label.pattern.search(line).end() :]
            marker = envelopes.marker[which]
            if marker.kind != "quote" or self._ends_soon(number, marker):
                return self._marker(number, marker, line)
        return line

    def _marker(self, number: int, marker: Marker, line: str) -> str:
        if marker.envelope:
            self.votes[marker.envelope] += 3
        self.out.marks.add(number)
        match marker.kind:
            case "open":
                self._open(number, _groups(marker, line).get("name") or "", marker)
            case "body":
                self.body = number if self.body is None else self.body
            case "close":
                self._close(number, None)
            case "exit":
                self._exit(number, _groups(marker, line))
            case "quote":
                self.until = marker.until
            case "done":
                self.out.verdict = _status(_groups(marker, line))
            case "note":
                pass
            case _:
                assert_never(marker.kind)
        return ""

    def _open(self, number: int, name: str, marker: Marker) -> None:
        if self.awaiting and self.start == number:
            self.name, self.awaiting = name, False
            return
        self._close(number, marker.implies)
        self.start, self.name, self.awaiting = number, name, marker.opens_next

    def _close(self, number: int, status: int | None) -> None:
        if self.start is not None:
            if self.erred and not status:
                status = 1
            self._closed(Command(self.start, number, self.name, status, self.body))
        self.start, self.body, self.name, self.awaiting, self.erred = None, None, "", False, False

    def _closed(self, command: Command) -> None:
        self.out.commands.append(command)

    def _exit(self, number: int, groups: dict[str, str | None]) -> None:
        """An exit mark speaks about the open command, else about the one that closed last."""
        status = _status(groups)
        if self.start is not None:
            self._close(number, status)
        elif self.out.commands:
            last = self.out.commands[-1]
            if last.status is None:
                self.out.commands[-1] = replace(last, status=status)
        else:
            self.out.commands.append(Command(0, number, "", status))

    def _quoted(self, number: int, line: str) -> str:
        """A line inside a report that quotes a command of several lines."""
        found = self.until.search(line)
        self.out.marks.add(number)
        if found:
            self.until = None
            self._exit(number, found.groupdict())
        return ""

    def _ends_soon(self, number: int, marker: Marker) -> bool:
        """Whether a report that begins here also ends; all ends are looked up once."""
        if marker.until is None:
            return False
        if self.ends is None:
            plain = ((line, uncoloured(cap(text))) for line, text in enumerate(self.raw) if '"' in text)
            self.ends = [line for line, text in plain if marker.until.search(text)]
        index = bisect_right(self.ends, number)
        return index < len(self.ends) and self.ends[index] - number <= _QUOTE_LINES
