"""Where the steps of a run are done."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from mem.domain.ids import writes_queue_of


def of_writes() -> str:
    """The task queue for a step of an acceptance or of a rebuild.

    A run that somebody started on the queue of lookups is led there, which costs little; its steps are not done there.
    """
    return writes_queue_of(workflow.info().task_queue)
