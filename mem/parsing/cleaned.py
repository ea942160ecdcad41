"""What a log is after cleaning: its lines, and what the envelope said about them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


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
