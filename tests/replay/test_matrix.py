"""There is a history of each thing that can happen to each kind of run, and it did happen in it."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable

import pytest
from temporalio.api.enums.v1 import EventType, TimeoutType, WorkflowTaskFailedCause
from temporalio.client import WorkflowHistory

import activities
from replays.commands import workflow_of
from tests.replay.histories import generations, kind_of, load, paths
from tests.replay.index import index

WORKFLOWS = {
    "accept": "AcceptMemory",
    "look_up": "LookUpContext",
    "query": "QueryMemory",
    "ground": "GroundContext",
    "rebuild_derive": "RebuildProjections",
    "rebuild_replay": "RebuildProjections",
    "rebuild_regenerate": "RebuildProjections",
}
CASES = (
    "happy", "rejected", "conflict", "degraded", "continued", "failed",
    "retried", "task_failed", "reset", "worker_died", "cancelled", "timed_out",
)  # fmt: skip
MORE = {
    "accept": {"plain", "durable", "of_a_user", "duplicate", "override", "overtaken", "refused"},
    "look_up": {"unsettled"},
    "query": {"unsettled"},
    "ground": {"unsettled", "not_found", "enhanced", "stood_in"},
    "rebuild_derive": {"checked"},
    "rebuild_replay": {"checked"},
    "rebuild_regenerate": {"applied"},
}
_SHORT = "one request: some twenty events, however long it waits"
_ASKED = "nobody asks for anything that could be refused: a batch is done or fails"
_WHOLE = "it derives from what is stored alone, all of it or, where a step fails, not"
NEVER = {
    **{(row, "continued"): _SHORT for row in ("accept", "look_up", "query", "ground")},
    **{(row, case): _ASKED for row in WORKFLOWS if row.startswith("rebuild") for case in ("rejected", "conflict")},
    ("rebuild_derive", "degraded"): _WHOLE,
    ("rebuild_replay", "degraded"): _WHOLE,
}
"""What cannot happen, and why."""

_MATRIX = [(row, case) for row in WORKFLOWS for case in (*CASES, *sorted(MORE[row])) if (row, case) not in NEVER]


@pytest.mark.parametrize(("row", "case"), _MATRIX, ids=[f"{row}-{case}" for row, case in _MATRIX])
def test_each_case_is_recorded(row, case):
    """A history is of that workflow and task, and shows what it is said to show."""
    names = [name for name, told in index().items() if (told.row, told.case) == (row, case)]
    assert names
    for name in names:
        assert generations(name), f"{name} is in index.toml and not recorded"
        for path in generations(name):
            history = load(path)
            assert workflow_of(history) == WORKFLOWS[row]
            assert _task(history) == (row.removeprefix("rebuild_") if row.startswith("rebuild") else None)
            assert SIGNS.get(case, _completed)(history), path.name


def test_nothing_is_recorded_that_is_not_told_of():
    """The index has every file, and names no row or case that is not in the matrix."""
    assert {kind_of(path) for path in paths()} == set(index())
    assert {(told.row, told.case) for told in index().values()} == set(_MATRIX)


def _task(history: WorkflowHistory) -> str | None:
    started = history.events[0].workflow_execution_started_event_attributes
    if started.workflow_type.name != "RebuildProjections":
        return None
    task: str = json.loads(started.input.payloads[0].data).get("task", "derive")
    return task


def _ends(kind: EventType.ValueType) -> Callable[[WorkflowHistory], bool]:
    return lambda history: history.events[-1].event_type == kind


def _has(kind: EventType.ValueType) -> Callable[[WorkflowHistory], bool]:
    return lambda history: any(event.event_type == kind for event in history.events)


_completed = _ends(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)


def _failed_with(*kinds: str) -> Callable[[WorkflowHistory], bool]:
    return lambda history: (
        history.events[-1].workflow_execution_failed_event_attributes.failure.application_failure_info.type in kinds
    )


def _retried(history: WorkflowHistory) -> bool:
    """A third attempt, of an activity or of a local one, whose attempts stand in its marker."""
    attempts = [event.activity_task_started_event_attributes.attempt for event in history.events]
    markers = [event.marker_recorded_event_attributes.details["data"].payloads for event in history.events]
    attempts += [json.loads(each.data).get("attempt", 0) for payloads in markers for each in payloads]
    return max(attempts) == 3 and _completed(history)


def _task_failed(history: WorkflowHistory) -> bool:
    causes = [each.workflow_task_failed_event_attributes.cause for each in history.events]
    unhandled = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
    return unhandled in causes and _completed(history)


def _reset(history: WorkflowHistory) -> bool:
    causes = [each.workflow_task_failed_event_attributes.cause for each in history.events]
    return WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW in causes and _completed(history)


def _worker_died(history: WorkflowHistory) -> bool:
    """A workflow task that nobody finished, or an attempt of an activity of which no heartbeat came any more."""
    beat = TimeoutType.TIMEOUT_TYPE_HEARTBEAT
    lost = any(
        event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT
        or event.activity_task_started_event_attributes.last_failure.timeout_failure_info.timeout_type == beat
        for event in history.events
    )
    return lost and _completed(history)


SIGNS: dict[str, Callable[[WorkflowHistory], bool]] = {
    "conflict": _failed_with("RequestConflict"),
    "failed": _failed_with("ConfigurationError"),
    "continued": _ends(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW),
    "retried": _retried,
    "task_failed": _task_failed,
    "reset": _reset,
    "worker_died": _worker_died,
    "cancelled": _has(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED),
    "timed_out": _ends(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT),
}
"""By what a case is known; the others end well."""


def test_every_activity_is_in_a_recorded_run(replayed):
    """Today's code is seen calling each activity that there is, and none that there is not."""
    defined = {
        definition.name
        for module in pkgutil.iter_modules(activities.__path__)
        for cls in vars(importlib.import_module(f"activities.{module.name}")).values()
        if isinstance(cls, type)
        for method in vars(cls).values()
        if (definition := getattr(method, "__temporal_activity_definition", None)) is not None
    }
    lines = {line.rpartition(" ") for each in replayed.values() for line in each.commands}
    called = {name for kind, _, name in lines if kind in {"activity", "local activity"}}
    assert called == defined
