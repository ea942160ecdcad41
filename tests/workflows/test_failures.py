"""What a run or a step failed with, told by the innermost cause in one bounded line."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError
from temporalio.api.failure.v1 import Failure
from temporalio.converter import PayloadConverter
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

from mem.clients.temporal.failures import MAX_MESSAGE, BoundedFailures, EncodedBoundedFailures
from mem.domain.errors import Unavailable
from tests.workflows.material import RAW_LINE, SECRET
from workflows.failures import as_application_error, cause_of

BROKEN = ApplicationError("count: Input should be a valid integer", type="ValidationError")


class Numbers(BaseModel):
    count: int


def step(cause: BaseException) -> ActivityError:
    """A step that failed with it."""
    error = ActivityError(
        "Activity task failed", scheduled_event_id=1, started_event_id=2, identity="w", activity_type="embed_text",
        activity_id="1", retry_state=None,
    )  # fmt: skip
    error.__cause__ = cause
    return error


def caused(error: FailureError, cause: BaseException) -> FailureError:
    error.__cause__ = cause
    return error


def away() -> ApplicationError:
    return ApplicationError("The database is away. Wait.", "The database is away.", "Wait.", type=Unavailable.__name__)


def timeout() -> TimedOut:
    return TimedOut("activity ScheduleToClose timeout", type=TimeoutType.SCHEDULE_TO_CLOSE, last_heartbeat_details=[])


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (step(away()), "Unavailable", "The database is away. Wait."),
        (step(caused(timeout(), away())), "Unavailable", "The database is away. Wait."),
        (step(timeout()), "Unavailable", "The step embed_text did not finish: schedule to close timeout."),
        (step(caused(ApplicationError("Failed decoding arguments"), BROKEN)), "ValidationError", BROKEN.message),
        (step(caused(away(), BROKEN)), "Unavailable", "The database is away. Wait."),
        (step(CancelledError("Cancelled")), "Unavailable", "The request was cancelled."),
    ],
    ids=["plain", "timeout of a step that failed", "timeout", "of the SDK", "ours with a cause", "cancelled"],
)
def test_the_innermost_cause_is_told(error: ActivityError, kind: str, told: str) -> None:
    """A run fails with what its step failed with: an error of ours with its remedy, else the last of the causes."""
    failure = as_application_error(error, "mark")
    assert (failure.type, failure.message, failure.details[-1]) == (kind, told, "mark")
    if kind == "ValidationError" or "away" in told:
        assert cause_of(error) == told


def test_a_failure_is_one_bounded_line_without_stack_and_input() -> None:
    """Each message along the chain is one short line, in which no secret and nothing of an input is."""
    with pytest.raises(RuntimeError) as caught:
        _fail()
    failure = written(BoundedFailures(), caught.value)
    assert failure.message == "Failed decoding arguments"
    assert failure.cause.message == "count: Input should be a valid integer, unable to parse string as an integer"
    assert failure.cause.application_failure_info.type == "ValidationError"
    assert (failure.stack_trace, failure.cause.stack_trace) == ("", "")
    assert RAW_LINE not in str(failure)
    long = written(BoundedFailures(), ApplicationError(f"{'x' * (MAX_MESSAGE - 9)} {SECRET}\n{RAW_LINE}" * 9))
    assert len(long.message) == MAX_MESSAGE
    assert SECRET[:8] not in long.message
    assert "\n" not in long.message
    assert written(BoundedFailures(), OSError(f"first\n{RAW_LINE}")).message == "first"


def test_causes_that_come_ready_made_are_bounded_too() -> None:
    """What a worker of before wrote with its stack into a history goes on from there without."""
    old = Failure(message="Activity task failed", stack_trace="File 1")
    old.activity_failure_info.activity_type.name = "embed_text"
    old.cause.message, old.cause.stack_trace = f"{'x' * 900}\n{RAW_LINE}", "File 2"
    old.cause.application_failure_info.type = "ValueError"
    failure = written(BoundedFailures(), BoundedFailures().from_failure(old, PayloadConverter.default))
    assert (failure.stack_trace, failure.cause.stack_trace) == ("", "")
    assert len(failure.cause.message) == MAX_MESSAGE


def test_messages_are_left_to_a_codec_along_the_whole_chain() -> None:
    """Where payloads are encrypted, so is each message, those of causes that came from a history included."""
    first = written(EncodedBoundedFailures(), step(away()))
    read = EncodedBoundedFailures().from_failure(first, PayloadConverter.default)
    again = written(EncodedBoundedFailures(), read)
    for failure in (first, first.cause, again, again.cause):
        assert failure.message == "Encoded failure"
        assert failure.HasField("encoded_attributes")
    back = EncodedBoundedFailures().from_failure(again, PayloadConverter.default)
    assert isinstance(back.__cause__, ApplicationError)
    assert back.__cause__.message == "The database is away. Wait."


def written(converter: BoundedFailures, error: BaseException) -> Failure:
    failure = Failure()
    converter.to_failure(error, PayloadConverter.default, failure)
    return failure


def _fail() -> None:
    try:
        Numbers.model_validate({"count": RAW_LINE})
    except ValidationError as error:
        raise RuntimeError("Failed decoding arguments") from error
