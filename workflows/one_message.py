"""What all workflows here have in common: they are started with one message."""

from __future__ import annotations

from typing import Self

from temporalio.exceptions import ApplicationError


class OfOneMessage:
    """A workflow that fails where it is started with no message or several, as a form left empty in the UI does.

    Otherwise Python's own error fails its task, which Temporal repeats for ever.
    """

    def __new__(cls, *messages: object) -> Self:
        """An instance for one message.

        Raises:
            ApplicationError: there is none, or there are several.
        """
        if len(messages) != 1:
            cause = f"{cls.__name__} was started with {len(messages) or 'no'} input{'s' * (len(messages) > 1)}."
            remedy = "Start it with one JSON object, which holds all fields of the request."
            raise ApplicationError(f"{cause} {remedy}", cause, remedy, type="InvalidRequest", non_retryable=True)
        return super().__new__(cls)
