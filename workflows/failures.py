"""Failures that a caller can tell apart."""

from __future__ import annotations

import functools

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError

from mem.domain.errors import RequestConflict

CALLERS_FAULTS = frozenset({"InvalidRequest", "TooLarge", "RequestConflict"})
"""What the same request fails with every time. Only these are an update's outcome, which is repeated to every retry;
with any other failure the run fails and leaves the update open, so that a retry starts a new run."""


_failure = functools.partial(ApplicationError, non_retryable=True)


def conflict(request_id: str) -> ApplicationError:
    """The request id stands for another body."""
    error = RequestConflict.of(request_id)
    return _failure(str(error), error.cause, error.remedy, type="RequestConflict")


def is_callers_fault(failure: ApplicationError) -> bool:
    """Whether the same request would fail again."""
    return failure.type in CALLERS_FAULTS


def is_refusal(error: ActivityError) -> bool:
    """Whether a controller would not answer, or not in a form that can be read."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == "ControllerRefused"


def as_application_error(error: FailureError, mark: str) -> ApplicationError:
    """What a step failed with, unwrapped, so that handlers raise nothing that would leave a run stuck.

    Its details are cause, remedy and `mark`, the fingerprint of the request that failed.
    """
    cause: BaseException | None = error
    while isinstance(cause, ActivityError):
        cause = cause.cause
    if isinstance(cause, ApplicationError):
        told = tuple(cause.details)[:2] if len(cause.details) > 1 else (cause.message, "")
        return _failure(cause.message, *told, mark, type=cause.type, category=cause.category)
    if isinstance(cause, CancelledError):
        message = "The request was cancelled."
        return _failure(message, message, "Send it again.", mark, type="Unavailable")
    message = f"A step did not finish: {cause}"
    return _failure(message, message, "Send the request again.", mark, type="Unavailable")


def cause_of(error: ActivityError) -> str:
    """Why a step failed that can be done without, in words."""
    cause: BaseException | None = error
    while isinstance(cause, ActivityError):
        cause = cause.cause
    if isinstance(cause, ApplicationError):
        return cause.message
    return f"no answer in time: {cause or error}"
