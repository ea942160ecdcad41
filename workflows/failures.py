"""Failures that a caller can tell apart."""

from __future__ import annotations

import functools

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError
from temporalio.exceptions import TimeoutError as TimedOut

from mem.domain import errors
from mem.domain.errors import MemError, RequestConflict

MAX_SAID = 300
"""Characters of what the server or the SDK says; our own failures are bounded where they are made."""

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
    cause = _innermost(error)
    if isinstance(cause, ApplicationError):
        told = tuple(cause.details)[:2] if len(cause.details) > 1 else (cause.message, "")
        return _failure(cause.message, *told, mark, type=cause.type, category=cause.category)
    if isinstance(cause, CancelledError):
        message = "The request was cancelled."
        return _failure(message, message, "Send it again.", mark, type="Unavailable")
    message = f"{_step(error)} did not finish: {_said(cause)}."
    return _failure(message, message, "Send the request again.", mark, type="Unavailable")


def cause_of(error: ActivityError) -> str:
    """Why a step failed, in words."""
    cause = _innermost(error)
    return cause.message if isinstance(cause, ApplicationError) else f"no answer in time: {_said(cause)}"


def _innermost(error: FailureError) -> FailureError:
    """What says why: an error of the domain, else the last of the causes."""
    while isinstance(error.cause, FailureError) and not _is_ours(error):
        error = error.cause
    return error


def _is_ours(error: FailureError) -> bool:
    kind = getattr(errors, (isinstance(error, ApplicationError) and error.type) or "", None)
    return isinstance(kind, type) and issubclass(kind, MemError)


def _step(error: FailureError) -> str:
    return f"The step {error.activity_type}" if isinstance(error, ActivityError) else "A step"


def _said(cause: FailureError) -> str:
    if isinstance(cause, TimedOut) and cause.type is not None:
        return f"{cause.type.name.lower().replace('_', ' ')} timeout"
    return cause.message.rstrip(".")[:MAX_SAID]
