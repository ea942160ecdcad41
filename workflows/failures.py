"""Failures that a caller can tell apart."""

from __future__ import annotations

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError

CALLERS_FAULTS = frozenset({"InvalidRequest", "TooLarge", "RequestConflict"})
"""What the same request fails with every time. Only these are an update's outcome, which is repeated to every retry;
with any other failure the run fails and leaves the update open, so that a retry starts a new run."""


def conflict(request_id: str) -> ApplicationError:
    """The request id stands for another body."""
    cause = f"Request id {request_id!r} was used before with another body."
    remedy = "Send the same body to get the same answer, or choose a new request id."
    return ApplicationError(f"{cause} {remedy}", cause, remedy, type="RequestConflict", non_retryable=True)


def is_callers_fault(failure: ApplicationError) -> bool:
    """Whether the same request would fail again."""
    return failure.type in CALLERS_FAULTS


def as_application_error(error: FailureError) -> ApplicationError:
    """What a step failed with, unwrapped, so that handlers raise nothing that would leave a run stuck."""
    cause: BaseException | None = error
    while isinstance(cause, ActivityError):
        cause = cause.cause
    if isinstance(cause, ApplicationError):
        details = tuple(cause.details)
        return ApplicationError(cause.message, *details, type=cause.type, non_retryable=True)
    if isinstance(cause, CancelledError):
        message = "The request was cancelled."
        return ApplicationError(message, message, "Send it again.", type="Unavailable", non_retryable=True)
    message = f"A step did not finish: {cause}"
    return ApplicationError(message, message, "Send the request again.", type="Unavailable", non_retryable=True)
