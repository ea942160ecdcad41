"""Which refusals of a call may be over with the next attempt."""

from __future__ import annotations

import pytest
from google.protobuf.any_pb2 import Any
from temporalio.api.common.v1 import GrpcStatus
from temporalio.api.errordetails.v1 import MultiOperationExecutionFailure, WorkflowNotReadyFailure
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.waiting import is_stuck


def refusal(status: RPCStatusCode, *details: Any) -> RPCError:
    return RPCError("refused", status, GrpcStatus(code=int(status), details=details).SerializeToString())


def packed(message: object) -> Any:
    """As a server sends it."""
    found = Any()
    found.Pack(message, type_url_prefix="type.googleapis.com/")
    return found


NOT_READY = packed(WorkflowNotReadyFailure())
STARTED = MultiOperationExecutionFailure.OperationStatus(code=9, details=[NOT_READY])


@pytest.mark.parametrize("detail", [NOT_READY, packed(MultiOperationExecutionFailure(statuses=[STARTED]))])
def test_a_run_that_no_worker_gets_on_with_may_be_asked_again(detail):
    """Alone, or as what became of the update that came with a start."""
    assert is_stuck(refusal(RPCStatusCode.FAILED_PRECONDITION, detail))


def test_what_is_refused_for_another_reason_is_not():
    """Such as a namespace that is active elsewhere."""
    assert not is_stuck(refusal(RPCStatusCode.FAILED_PRECONDITION))
    assert not is_stuck(refusal(RPCStatusCode.NOT_FOUND, NOT_READY))
