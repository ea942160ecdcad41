"""The commands that today's workflows yield when a recorded run is replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.runtime import Runtime
from temporalio.worker import Interceptor, Replayer, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.workflow import NondeterminismError

from mem.clients.temporal.converter import data_converter
from worker import WORKFLOWS, workflow_runner

_NAMED = {
    "schedule_activity": ("activity", "activity_type"),
    "schedule_local_activity": ("local activity", "activity_type"),
    "set_patch_marker": ("patch", "patch_id"),
    "start_child_workflow_execution": ("child workflow", "workflow_type"),
    "signal_external_workflow_execution": ("signal", "signal_name"),
    "schedule_nexus_operation": ("nexus operation", "operation"),
    "continue_as_new_workflow_execution": ("continue as new", "workflow_type"),
}
"""What is told of a command beside its kind. Nothing else of it is compared in a replay."""


class Replayed(NamedTuple):
    """What came of replaying one run.

    Args:
        commands: in their order, a line each.
        failure: why today's code could not have made this run; None where it could.
    """

    history: WorkflowHistory
    commands: tuple[str, ...]
    failure: str | None

    @property
    def workflow(self) -> str:
        """Its type."""
        return workflow_of(self.history)


async def replay(
    histories: AsyncIterator[WorkflowHistory],
    *,
    converter: DataConverter | None = None,
    workflows: Sequence[type] = WORKFLOWS,
    runner: WorkflowRunner | None = None,
    interceptors: Sequence[Interceptor] = (),
    runtime: Runtime | None = None,
) -> AsyncIterator[Replayed]:
    """Take each run through the workflows of this checkout, in the worker's own sandbox.

    Args:
        converter: what the runs were written with: that of the client which fetched them, with its payload codec. None
            stands for ours, without one.
        workflows: those to replay with.
        runner: where they run, if not in the sandbox.
        interceptors: the worker's own, where they give commands.
        runtime: that of the process, where its core is not to log to stdout.
    """
    watching = _Watching(runner or workflow_runner())
    replayer = Replayer(
        workflows=workflows,
        workflow_runner=watching,
        data_converter=converter or data_converter(),
        interceptors=interceptors,
        runtime=runtime,
    )
    async with replayer.workflow_replay_iterator(histories) as results:
        async for result in results:
            failure = result.replay_failure
            yield Replayed(result.history, watching.taken(), None if failure is None else _told(failure))


def workflow_of(history: WorkflowHistory) -> str:
    """The type of a recorded run."""
    return history.events[0].workflow_execution_started_event_attributes.workflow_type.name


def digest(sequences: Iterable[Collection[str]]) -> str:
    """A fingerprint of the different sequences of commands of a workflow, in whatever order they come."""
    told = json.dumps(sorted({tuple(each) for each in sequences}), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class _Watching(WorkflowRunner):
    """Another runner, whose workflows are listened to."""

    def __init__(self, inner: WorkflowRunner) -> None:
        self._inner = inner
        self._commands: list[str] = []

    def prepare_workflow(self, defn: Any) -> None:
        self._inner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = self._inner.create_instance(det)
        activate = instance.activate

        def listened(act: Any) -> Any:
            completion = activate(act)
            # What is no replay any more no history has an opinion of.
            given = completion.successful.commands if act.is_replaying else ()
            self._commands += [line for each in given if (line := _line(each)) is not None]
            return completion

        instance.activate = listened  # type: ignore[method-assign]  # whatever class the inner runner makes
        return instance

    def taken(self) -> tuple[str, ...]:
        """The commands since it was last asked."""
        taken, self._commands = tuple(self._commands), []
        return taken


def _line(command: Any) -> str | None:
    """A command in words; None for what no history keeps."""
    kind = command.WhichOneof("variant")
    if kind == "respond_to_query":
        return None
    what = getattr(command, kind)
    if kind == "update_response":
        return f"update {what.WhichOneof('response')}"
    if kind not in _NAMED:
        return str(kind).replace("_workflow_execution", "").replace("_", " ")
    label, name = _NAMED[kind]
    # A workflow that goes on as itself need not say its name.
    line = f"{label} {getattr(what, name)}".rstrip()
    return f"{line}, deprecated" if getattr(what, "deprecated", False) else line


def _told(failure: Exception) -> str:
    """The heart of a replay's failure: Core wraps it in what it was doing."""
    text = " ".join(str(failure).split())
    return text if isinstance(failure, NondeterminismError) else f"{type(failure).__name__}: {text}"
