"""A raw log without what its CI system added, and the commands that it ran.

Line i of the result is line i of the input: lines are emptied, never removed, so that a
line number found here holds in the text as given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any, assert_never

from mem.parsing.cleaned import Cleaned, Command
from mem.parsing.decode import without_surrogates
from mem.parsing.envelope import name_of, status_of, verdict_of
from mem.parsing.patterns import PatternSet
from mem.parsing.rules import Envelopes, Marker, load

LINE_LIMIT = 8192
_HEAD, _TAIL = 4096, 4000
_PREFIXES = 3
"""So many prefixes may stand before each other: the CI system's, the container's, the program's own stamp."""
_PREFIXED = "[(#_\ufeff"
_BOUNDS = {"open", "body", "close", "exit"}
_QUOTE_LINES = 200
_SHORT = 300
_AFTERWORD = 4
"""So many lines after the last command are its own last words."""
# Each alternative ends at the next ESC at the latest, so the scan is linear.
_ANSI = re.compile(
    r"\x1b\[8mha:[^\x1b\n]*\x1b\[0m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]_P^X][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]|[\x00\x07\x08\x1b]"
)
_RED = re.compile(r"\x1b\[(?:\d{1,2};){0,2}(?:31|91|41)(?:;\d{1,2}){0,2}m")
_SECONDS = re.compile(r"^\d{1,5}\.\d{1,4} ")
ELIDED = "[mem: {lines} lines left out, {full} with text]"
_ELIDED = re.compile(r"\[mem: (\d{1,12}) lines left out, (\d{1,12}) with text\]\Z")


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


def _groups(marker: Marker, line: str) -> dict[str, str | None]:
    """The groups of a marker that stands in `line`. On a short line the standard library is many times faster."""
    pattern = _plain_pattern(marker.pattern.pattern) if len(line) <= _SHORT else marker.pattern
    found = pattern.search(line)
    return found.groupdict() if found is not None else {}


@cache
def _plain_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Cleaner:
    """One pass over the lines; the state is the open command."""

    def __init__(self) -> None:
        self.out = Cleaned([])
        self.votes, self.prefixed = Counter[str](), Counter[str]()
        self.start: int | None = None
        self.body: int | None = None
        self.name = ""
        self.opener: str | None = None
        self.awaiting, self.erred, self.over = False, False, False
        self.said: int | None = None
        self.raw: list[str] = []
        self.until: Any = None
        self.timed: Any = None
        self.cleanup: int | None = None
        self.ends: list[int] | None = None
        self.starts, self.whole = _envelopes().starts, _envelopes().whole
        self.lesser = {None, *_envelopes().inner}

    def run(self, raw: list[str]) -> Cleaned:
        """The cleaned form of `raw`."""
        append = self.out.lines.append
        self.raw = raw
        for number, given in enumerate(raw):
            append(self.feed(number, given))
        self._close(len(raw), None)
        statuses = [command.status for command in self.out.commands]
        failed = any(statuses) or bool(self.out.red and self.erred)
        self.out.verdict = self.said
        if self.said is None and (failed or self.over or not self._goes_on()):
            self.out.verdict = verdict_of(statuses, failed=failed, over=self.over)
        self.out.envelope = name_of(self.votes, self.prefixed, _envelopes().inner)
        return self.out

    def _goes_on(self) -> bool:
        """Whether something ran after the last command that is known, so that its outcome is not the job's."""
        end = self.out.commands[-1].end + 1 if self.out.commands else 0
        rest = [line for number, line in enumerate(self.out.lines[end:], end) if line and number not in self.out.marks]
        return len(rest) > _AFTERWORD or any(word in line.lower() for line in rest for word in ("error", "fail"))

    def feed(self, number: int, given: str) -> str:
        """Line `number` without colour, prefix and markers; what it says about the commands is noted."""
        line = cap(given)
        if line.endswith("\r"):
            line = line.rstrip("\r")
        if "\x1b" in line or "\r" in line or "\x00" in line or "\x08" in line:
            line = self._plain(number, line)
        if line and (line[0].isdigit() or line[0] in _PREFIXED or "Z " in line[:450] or "| " in line[:80]):
            line = self._unprefixed(number, line)
        if self.timed is not None:
            line = self._untimed(line)
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
        for _ in range(_PREFIXES):
            for pattern, envelope in _prefixes():
                found = pattern.match(line)
                if found and found.end():
                    if envelope:
                        self.prefixed[envelope] += 1
                    line = line[found.end() :]
                    break
            else:
                break
            if not line or not (line[0].isdigit() or line[0] in _PREFIXED):
                break
        return line

    def _untimed(self, line: str) -> str:
        """`line` of a quoted build step, without the seconds that stand before each of its lines."""
        if self.timed.match(line):
            self.timed = None
            return line
        return _SECONDS.sub("", line)

    def _structure(self, number: int, line: str) -> str:
        if self.until is not None:
            return self._quoted(number, line)
        envelopes = _envelopes()
        for which in sorted(_structures().match(line)):
            if which >= len(envelopes.marker):
                label = envelopes.label[which - len(envelopes.marker)]
                if label.red:
                    self.out.red.add(number)
                    self.erred = True
                return line[label.pattern.search(line).end() :]
            marker = envelopes.marker[which]
            if marker.kind != "quote" or self._ends_soon(number, marker):
                if marker.kind in _BOUNDS and self.opener in self.whole and marker.envelope in self.lesser:
                    return self._marker(number, marker, line) if self.awaiting else line
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
            case "quote":
                self.until = marker.until
            case "timed":
                self.timed = marker.until
            case "exit" | "after" | "done":
                self._outcome(number, marker, _groups(marker, line))
            case "note":
                pass
            case _:
                assert_never(marker.kind)
        return ""

    def _outcome(self, number: int, marker: Marker, groups: dict[str, str | None]) -> None:
        status = status_of(groups) if "status" in groups else marker.implies
        if marker.kind == "after":
            self._after(number, groups.get("name") or "", marker)
        elif marker.kind == "exit":
            self._exit(number, status or 0)
        elif status is None:
            self.over = True
        else:
            self.said = self.out.verdict = status

    def _open(self, number: int, name: str, marker: Marker) -> None:
        if self.awaiting and self.start == number:
            self.name, self.awaiting = name, False
            return
        self._close(number, marker.implies)
        if marker.implies == 0 and self.cleanup is None:
            self._settle(0)
        self.start, self.name, self.awaiting = number, name, marker.opens_next
        self.opener = marker.envelope

    def _after(self, number: int, name: str, marker: Marker) -> None:
        """What only cleans up begins: it has not failed the job, and what is said later is about what came before."""
        self._open(number, name, marker)
        if self.cleanup is None:
            self.cleanup = len(self.out.commands)
            if marker.implies == 0:
                self._all_went_well()

    def _close(self, number: int, status: int | None) -> None:
        if self.start is not None:
            if self.cleanup is not None:
                status = status or 0
            elif self.erred and not status:
                status = 1
            self._closed(Command(self.start, number, self.name, status, self.body))
        self.start, self.body, self.name, self.awaiting, self.erred = None, None, "", False, False
        self.opener = None

    def _closed(self, command: Command) -> None:
        self.out.commands.append(command)

    def _exit(self, number: int, status: int) -> None:
        """An exit mark speaks about the open command, else about the one that closed last."""
        if self.cleanup is not None:
            self._close(number, None)
            self._settle(status)
        elif self.start is not None:
            self._close(number, status)
        elif self.out.commands:
            self._settle(status)
        else:
            self.out.commands.append(Command(0, number, "", status))

    def _settle(self, status: int) -> None:
        """The outcome of the command that marks speak of now, where it closed without one."""
        commands = self.out.commands
        index = (len(commands) if self.cleanup is None else self.cleanup) - 1
        if index >= 0 and commands[index].status is None:
            commands[index] = replace(commands[index], status=status)

    def _all_went_well(self) -> None:
        """No failure was told before the clean-up, so there was none."""
        commands = self.out.commands
        if not any(command.status for command in commands):
            commands[:] = [one if one.status is not None else replace(one, status=0) for one in commands]

    def _quoted(self, number: int, line: str) -> str:
        """A line inside a report that quotes a command of several lines."""
        found = self.until.search(line)
        self.out.marks.add(number)
        if found:
            self.until = None
            self._exit(number, status_of(found.groupdict()))
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
