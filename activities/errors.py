"""How errors of the domain become failures of an activity."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio.exceptions import ApplicationError

from mem.domain.errors import MemError, Unavailable

MAX_CAUSE = 500
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


def as_failure(error: MemError) -> ApplicationError:
    """The failure of that type, its cause and remedy in the details; only what may pass by itself is retried."""
    return ApplicationError(
        str(error)[:MAX_CAUSE],
        error.cause[:MAX_CAUSE],
        error.remedy[:MAX_CAUSE],
        type=type(error).__name__,
        non_retryable=not isinstance(error, Unavailable),
    )


def reporting(function: F) -> F:
    """Let an activity raise errors of the domain as failures that a client can tell apart."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await function(*args, **kwargs)
        except MemError as error:
            raise as_failure(error) from error

    return wrapper  # type: ignore[return-value]  # same signature, by functools.wraps
