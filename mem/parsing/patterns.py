"""Many patterns at once: which of them stand in a line, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import re2

_MEMORY = 64 << 20
_BEGINNING = re.compile(r"(?:\(\?[ims]+\))?\^")
_COUNTED = re.compile(r"\{([01]),(\d{2,4})\}")


class PatternSet:
    """Patterns that run as one automaton, or two: those for the beginning of a line apart from those for anywhere.

    Together they would have many times the states. Long counted repeats multiply the states, too, so the automaton
    runs with plain repeats in their place; what it finds by one of these is checked with the pattern as it was written.
    """

    def __init__(self, patterns: Iterable[Any]) -> None:
        self._exact: dict[int, Any] = {}
        parts: tuple[dict[int, str], dict[int, str]] = ({}, {})
        for number, pattern in enumerate(patterns):
            loose = _COUNTED.sub(lambda found: "*" if found[1] == "0" else "+", pattern.pattern)
            if loose != pattern.pattern:
                self._exact[number] = pattern
            parts[_BEGINNING.match(loose) is not None][number] = loose
        self._parts = [(automaton(part.values()), list(part)) for part in parts if part]

    def match(self, line: str) -> list[int]:
        """The numbers of the patterns found in `line`, in no order."""
        found: list[int] = []
        for automaton, numbers in self._parts:
            hits = automaton.Match(line)
            if hits:
                found += [numbers[hit] for hit in hits]
        exact = self._exact
        if found and exact:
            return [number for number in found if number not in exact or stands_in(exact[number], line)]
        return found


def automaton(patterns: Iterable[str]) -> Any:
    """Patterns as one automaton, whose `Match(text)` gives the numbers of those that are found."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    result = re2.Set.SearchSet(options)
    for pattern in patterns:
        result.Add(pattern)
    result.Compile()
    return result


def stands_in(pattern: Any, text: str) -> bool:
    """Whether `pattern` is found in `text`: several times faster than a search that would tell where."""
    return found_by(pattern.pattern, text)


def found_by(pattern: str, text: str) -> bool:
    """The same for a pattern as it is written."""
    return bool(_alone(pattern).Match(text))


@cache
def _alone(pattern: str) -> Any:
    return automaton((pattern,))
