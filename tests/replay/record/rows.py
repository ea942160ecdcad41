"""The kinds of run to which anything may happen: how each is asked for, and where it can be held up or made to fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from temporalio.client import WorkflowHandle

from tests.temporal_server import Rig
from tests.workflows.material import (
    LESSON,
    candidate,
    candidate_fields,
    lookup,
    lookup_fields,
    question,
    question_fields,
    turn,
    turn_fields,
)
from tests.workflows.ports import Wrapped

Wrap = Callable[[Callable[..., Any]], Any]


class Row(NamedTuple):
    """A workflow, or a task of one.

    Args:
        step: the activity in which a worker dies.
        parts: ports in which the method that the row cannot do without is wrapped.
        fields: the message of a run, given its request id.
        call: a client's call; waits for the answer.
        handle: the run of that call.
    """

    name: str
    workflow: str
    step: str
    parts: Callable[[Rig, Wrap], dict[str, Any]]
    fields: Callable[[Rig, str], dict[str, Any]]
    call: Callable[[Rig, str], Awaitable[Any]]
    handle: Callable[[Rig, str], WorkflowHandle[Any, Any]]

    async def start(self, rig: Rig, request_id: str, **options: Any) -> WorkflowHandle[Any, Any]:
        """A plain start, without an update."""
        return await rig.temporal.start_workflow(
            self.workflow,
            self.fields(rig, request_id),
            id=self.handle(rig, request_id).id,
            task_queue=rig.task_queue,
            **options,
        )


def _lesson(request_id: str) -> str:
    return f"{LESSON} Of the run that was {request_id.replace('_', ' ')}."


def _rebuild(task: str, step: str, port: str, method: str, **fields: Any) -> Row:
    def handle(rig: Rig, request_id: str) -> WorkflowHandle[Any, Any]:
        return rig.temporal.get_workflow_handle(f"rebuild:{rig.project}:{task}:{request_id}")

    async def call(rig: Rig, request_id: str) -> None:
        await (await row.start(rig, request_id)).result()

    def parts(rig: Rig, wrap: Wrap) -> dict[str, Any]:
        real = getattr(rig.ports, port)
        return {port: Wrapped(real, **{method: wrap(getattr(real, method))})}

    row = Row(f"rebuild_{task}", "RebuildProjections", step, parts, lambda *_: {"task": task, **fields}, call, handle)
    return row


ROWS = [
    Row(
        "accept", "AcceptMemory", "append_memory",
        lambda rig, wrap: {"memories": Wrapped(rig.ports.memories, append=wrap(rig.ports.memories.append))},
        lambda rig, request_id: candidate_fields(rig, request_id, text=_lesson(request_id)),
        lambda rig, request_id: rig.memory.accept(candidate(rig, request_id, text=_lesson(request_id))),
        Rig.accept_handle,
    ),
    Row(
        "look_up", "LookUpContext", "look_up",
        lambda rig, wrap: {"look_up": wrap(rig.ports.look_up)},
        lookup_fields,
        lambda rig, request_id: rig.memory.look_up(lookup(rig, request_id)),
        Rig.context_handle,
    ),
    Row(
        "query", "QueryMemory", "query_memory",
        lambda rig, wrap: {"query": wrap(rig.ports.query)},
        question_fields,
        lambda rig, request_id: rig.memory.query(question(rig, request_id)),
        Rig.query_handle,
    ),
    Row(
        "ground", "GroundContext", "ground_context",
        lambda rig, wrap: {"ground": wrap(rig.ports.ground)},
        turn_fields,
        lambda rig, request_id: rig.memory.ground(turn(rig, request_id)),
        Rig.ground_handle,
    ),
    _rebuild("derive", "derive_signatures", "memories", "lessons"),
    _rebuild("replay", "replay_records", "rebuilding", "replay", page=50),
    _rebuild("regenerate", "propose_projections", "memories", "lessons"),
]  # fmt: skip
