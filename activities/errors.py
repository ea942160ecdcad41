"""What all activities share: errors of the domain become failures, and a step at work shows that it lives."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.counting import count_conflict
from mem.domain.errors import InvalidRequest, MemError, NotFound, RequestConflict, Unavailable
from mem.parsing.redact import redact_beginning

log = structlog.get_logger()

MAX_CAUSE = 500
"""Characters of each text of a failure, since failures stay in histories."""
NO_EVENT = (InvalidRequest, RequestConflict, NotFound)
"""What the same request fails with every time: no event for whoever watches the worker's log."""

SHORTEST_DELAY = timedelta(milliseconds=100)
LONGEST_DELAY = timedelta(hours=1)
"""What a server may ask for: not to be hammered, nor to be forgotten."""

BEATS_PER_TIMEOUT = 4
"""More than one, so that a late heartbeat on a busy event loop is no death."""
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


def as_failure(error: MemError) -> ApplicationError:
    """The failure of that type, its cause and remedy in the details; only what may pass by itself is retried."""
    return ApplicationError(
        _short(str(error)),
        _short(error.cause),
        _short(error.remedy),
        type=type(error).__name__,
        non_retryable=not isinstance(error, Unavailable),
        next_retry_delay=_delay(error),
        category=_category(error),
    )


def _delay(error: MemError) -> timedelta | None:
    """How long to wait where the part that failed said so; else the retry policy decides."""
    seconds = error.retry_after if isinstance(error, Unavailable) else None
    if seconds is None or not math.isfinite(seconds):
        return None
    shortest, longest = SHORTEST_DELAY.total_seconds(), LONGEST_DELAY.total_seconds()
    return timedelta(seconds=min(max(seconds, shortest), longest))


def _bounded(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return _short(f"{type(error).__name__}: {lines[0]}")


def _short(text: str) -> str:
    return redact_beginning(text)[:MAX_CAUSE]


def _category(error: MemError) -> ApplicationErrorCategory:
    """What is the caller's fault is no event for whoever watches the worker's log."""
    fault = isinstance(error, NO_EVENT)
    return ApplicationErrorCategory.BENIGN if fault else ApplicationErrorCategory.UNSPECIFIED


def reporting(function: F) -> F:
    """Let an activity raise errors of the domain as failures that a client can tell apart, and heartbeat meanwhile."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            async with _heartbeats():
                return await function(*args, **kwargs)
        except MemError as error:
            if isinstance(error, RequestConflict):
                count_conflict()
            # Neither cause chain nor stack: both can quote whole texts and rows into history.
            raise as_failure(error) from None
        except (ApplicationError, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("step broke", step=function.__name__)
            raise ApplicationError(_bounded(error), type=type(error).__name__) from None

    return wrapper  # type: ignore[return-value]  # same signature, by functools.wraps


def attempt() -> int:
    """Which attempt of its step this is, from 1."""
    return activity.info().attempt if activity.in_activity() else 1


@asynccontextmanager
async def _heartbeats() -> AsyncIterator[None]:
    """Heartbeat well within the timeout, so that a lost worker is noticed long before a slow step is given up."""
    timeout = activity.info().heartbeat_timeout if activity.in_activity() else None
    if timeout is None:
        yield
        return
    beating = asyncio.create_task(_beat(timeout.total_seconds() / BEATS_PER_TIMEOUT))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        activity.heartbeat()
