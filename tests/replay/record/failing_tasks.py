"""A workflow task that fails the first time, as after a bug that the next release mends."""

from __future__ import annotations

from typing import Any

from temporalio import workflow
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

_failed: set[str] = set()


class FailingTasks(Interceptor):
    """Lets the first task of each run fail."""

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002
        run = workflow.info().run_id
        if run not in _failed:
            _failed.add(run)
            raise RuntimeError("This release has a bug.")
        return await super().execute_workflow(input)
