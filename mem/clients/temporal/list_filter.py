"""What is asked for as a list filter of Temporal: text that can be pasted into its UI.

A value is quoted so that it can end nothing and begin nothing. Temporal's servers cannot hold every character in a
value, quoted or not: they escape for MySQL whatever the store is, cut quotes from both ends, and a store of Postgres
takes a question mark for a parameter. Of such a value the filter takes the part that every server understands, which
selects more runs; `RunsRequest.selects` keeps the right ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from mem.domain import run_attributes
from mem.domain.runs import ANY, SIGNATURE_DIGITS, WORKFLOW_TYPES, RunsRequest, Status, moment_before

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\"\\?]")
"""What some server makes of these in a value is another value, or an error."""


class ListFilter(NamedTuple):
    """The filter, and whether it selects no run but those that are asked for."""

    text: str
    exact: bool


class _Part(NamedTuple):
    text: str
    exact: bool = True


def list_filter(request: RunsRequest, now: datetime) -> ListFilter:
    """The filter of a request; ages are counted back from `now`."""
    about = [
        *_equal(run_attributes.PROJECT, request.project),
        *_equal(run_attributes.TOOL, request.tool),
        *_equal(run_attributes.TIER, request.tier),
        *_equal(run_attributes.OUTCOME, request.outcome),
        *_signature(request.signature),
        *_degraded(request.degraded),
    ]
    # Whatever is about none of our attributes would select the runs of others, too.
    kinds = request.kind or (() if about else tuple(WORKFLOW_TYPES))
    parts = [
        *about,
        *_equal("WorkflowType", [WORKFLOW_TYPES[kind] for kind in kinds]),
        *_equal("ExecutionStatus", [_status(status) for status in request.status]),
        *_started(">=", request.since, now),
        *_started("<", request.before, now),
        *([_Part(f'ExecutionDuration >= "{_hours(request.slower)}"')] if request.slower is not None else []),
    ]
    return ListFilter(" AND ".join(part.text for part in parts), all(part.exact for part in parts))


def _equal(name: str, values: Sequence[str]) -> list[_Part]:
    """That an attribute is one of the values; nothing where there are none."""
    given = list(dict.fromkeys(values))
    exact = [value for value in given if _safe(value) == value]
    alternatives = []
    if len(exact) == 1:
        alternatives.append(f"{name} = {_quoted(exact[0])}")
    elif exact:
        alternatives.append(f"{name} IN ({', '.join(map(_quoted, exact))})")
    beginnings = dict.fromkeys(_safe(value) for value in given if value not in exact)
    alternatives += [f"{name} STARTS_WITH {_quoted(part)}" if part else f"{name} IS NOT NULL" for part in beginnings]
    if not alternatives:
        return []
    text = alternatives[0] if len(alternatives) == 1 else f"({' OR '.join(alternatives)})"
    return [_Part(text, exact=not beginnings)]


def _signature(signature: str | None) -> list[_Part]:
    if signature is None:
        return []
    if len(signature) == SIGNATURE_DIGITS:
        return _equal(run_attributes.SIGNATURE, [signature])
    return [_Part("MemSignature IS NOT NULL", exact=False)]  # a list of keywords cannot be asked how one begins


def _degraded(legs: Sequence[str]) -> list[_Part]:
    return [_Part(f"{run_attributes.DEGRADED} IS NOT NULL")] if ANY in legs else _equal(run_attributes.DEGRADED, legs)


def _started(comparison: str, moment: str | None, now: datetime) -> list[_Part]:
    if moment is None:
        return []
    at = moment_before(moment, now).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [_Part(f'StartTime {comparison} "{at}"')]


def _hours(duration: str) -> str:
    """A length of time as Temporal reads it, which has no days."""
    return f"{int(duration[:-1]) * 24}h" if duration.endswith("d") else duration


def _status(status: Status) -> str:
    return "".join(word.capitalize() for word in status.split("-"))


def _safe(value: str) -> str:
    """The longest beginning of a value that every server takes as it is meant."""
    beginning = _UNSAFE.split(value, maxsplit=1)[0]
    if beginning.startswith("'"):
        return ""
    return beginning.rstrip("'")


def _quoted(value: str) -> str:
    return f'"{value}"'
