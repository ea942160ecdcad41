"""Which system wrote a log, and what it says of the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def name_of(marks: Counter[str], prefixes: Counter[str], inner: tuple[str, ...]) -> str | None:
    """The system known by its marks, else by its prefixes; one that runs inside another comes last."""
    for votes in (marks, prefixes):
        outer = {name: count for name, count in votes.items() if name not in inner}
        if outer:
            return min(outer, key=lambda name: (-outer[name], name))
    return next((name for name in inner if marks[name] or prefixes[name]), None)


def verdict_of(statuses: Sequence[int | None], *, failed: bool, over: bool) -> int | None:
    """What the commands add up to where the system itself does not say; None where that is unknown."""
    if failed:
        return 1
    return 0 if over or (statuses and all(status == 0 for status in statuses)) else None


def status_of(groups: Mapping[str, str | None]) -> int:
    """The exit status that a mark names; a log can hold a number of any length."""
    return int((groups.get("status") or "0")[:9])
