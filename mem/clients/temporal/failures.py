"""How an error becomes a failure in a history: what kind it is and what it says, bounded, without stack or input."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DefaultFailureConverter, PayloadConverter
from temporalio.exceptions import ApplicationError, FailureError

from mem.domain.faults import told
from mem.parsing.redact import redact_beginning

MAX_MESSAGE = 500
"""Characters; a failure stays in the history, is listed in the UI, and travels to whoever waits."""
MAX_FAULTS = 5
"""So many faults of one input are told, and the others counted."""
_ENCODED = "Encoded failure"
"""What stands for a message that is encrypted, as the SDK has it."""


class BoundedFailures(DefaultFailureConverter):
    """Failures of one line each, along the whole chain of causes; the stacks stay in the worker's log."""

    def __init__(self, *, encoded: bool = False) -> None:
        """`encoded` moves messages to where a payload codec encrypts them."""
        super().__init__()
        self._encoded = encoded

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Write an error and its causes into `failure`."""
        super().to_failure(_readable(exception), payload_converter, failure)
        # An error that came from a history brings its causes ready made, on which no method is called.
        each = failure
        while True:
            self._bound(each, payload_converter)
            if not each.HasField("cause"):
                return
            each = each.cause

    def _bound(self, failure: Failure, payload_converter: PayloadConverter) -> None:
        failure.stack_trace = ""
        if failure.message == _ENCODED and failure.HasField("encoded_attributes"):
            return
        failure.message = bounded(failure.message)
        failure.ClearField("encoded_attributes")
        if self._encoded:
            attributes = {"message": failure.message, "stack_trace": ""}
            failure.encoded_attributes.CopyFrom(payload_converter.to_payloads([attributes])[0])
            failure.message = _ENCODED


class EncodedBoundedFailures(BoundedFailures):
    """The same for clients and workers that have a payload codec."""

    def __init__(self) -> None:
        super().__init__(encoded=True)


def bounded(message: str) -> str:
    """A message on one line, without secrets, cut behind `MAX_MESSAGE` characters."""
    line = " ".join(redact_beginning(message).split())
    return line if len(line) <= MAX_MESSAGE else f"{line[: MAX_MESSAGE - 1]}…"


def _readable(exception: BaseException) -> BaseException:
    """An error whose message quotes no input, where it is one that would."""
    if isinstance(exception, FailureError):
        return exception
    first = next(iter(str(exception).splitlines()), "")
    # The error of a library may go on with the text that it could not read; pydantic's quotes values in each line.
    message = told(exception, most=MAX_FAULTS) if isinstance(exception, ValidationError) else first
    plain = ApplicationError(message, type=type(exception).__name__)
    plain.__cause__ = exception.__cause__
    plain.__suppress_context__ = True
    return plain
