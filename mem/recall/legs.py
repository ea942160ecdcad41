"""Running legs: each with a deadline, each allowed to fail alone."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable
from typing import Any, Generic, TypeVar

import structlog

from mem.domain.errors import MemError, RequestConflict, Unavailable
from mem.domain.lookup import Degradation, Leg
from mem.parsing.redact import redact
from mem.recall.outcome import LegTrace

LEG_SECONDS = 2.0
TOTAL_SECONDS = 6.0
MAX_REASON = 300
_MOMENTS = 10
"""How many legs may still run, a moment each, after the others have used up the time."""
_MOMENT = 1 / 120
"""A moment, as a part of the whole: what was found in time still has to be put together."""

log = structlog.get_logger()

_late: set[asyncio.Future[Any]] = set()
"""Work that was given up and has not ended yet, held until it has."""

T = TypeVar("T")
LegT = TypeVar("LegT", bound=str)


class Running(Generic[LegT]):
    """Runs the legs of one answer and keeps their story.

    A leg that times out or raises gives its default and is named in `failures`; a conflict is the caller's fault and
    passes through. An error that nobody foresaw is a fault of the program: it costs no more than its leg, since someone
    waits for this answer in the middle of an incident, and it is logged with its stack, since someone must mend it.
    """

    def __init__(self, *, leg_seconds: float = LEG_SECONDS, total_seconds: float = TOTAL_SECONDS) -> None:
        self._leg_seconds = leg_seconds
        self._total_seconds = total_seconds
        self._moment = total_seconds * _MOMENT
        self._began = time.monotonic()
        self._end = self._began + total_seconds - _MOMENTS * self._moment
        self.runs: list[LegTrace] = []
        self._failed: dict[LegT, str] = {}

    @property
    def milliseconds(self) -> float:
        """How long it has taken so far."""
        return _milliseconds_since(self._began)

    @property
    def failures(self) -> dict[LegT, str]:
        """The legs that failed, by name, each with its reason."""
        return dict(sorted(self._failed.items()))

    def ran(self, leg: LegT) -> bool:
        """Whether a step of that leg gave a result."""
        return any(run.leg == leg and not run.note for run in self.runs)

    def failed(self, leg: LegT) -> bool:
        """Whether that leg failed."""
        return leg in self._failed

    def degrade(self, leg: LegT, reason: str) -> None:
        """Name a leg as failed."""
        self._failed.setdefault(leg, " ".join(reason.split())[:MAX_REASON])

    async def run(self, leg: LegT, step: str, work: Awaitable[T], default: T) -> T:
        """The result of `work`, or `default` where it fails or takes too long; `step` says in the trace what it was."""
        seconds = max(self._moment, min(self._leg_seconds, self._end - time.monotonic()))
        started = time.monotonic()
        note = ""
        result = default
        try:
            result = await _within(seconds, work)
        except _TimeUpError:
            note = self._timeout(seconds)
        except RequestConflict:
            raise
        except (MemError, OSError) as error:
            note = redact(str(error)).text or type(error).__name__
        except Exception as error:  # noqa: BLE001 - logged whole, with its stack
            # Formatted here, not by the logger: with local variables that takes seconds, and shows the log.
            log.error("leg broke", leg=leg, stack=redact("".join(traceback.format_exception(error))).text)  # noqa: TRY400 - see above
            note = f"unexpected {type(error).__name__}"
        if note:
            self.degrade(leg, note)
        found = len(result) if isinstance(result, list | dict) else int(result is not None)
        milliseconds = _milliseconds_since(started)
        self.runs.append(LegTrace(leg=leg, step=step, milliseconds=milliseconds, found=found, note=note[:MAX_REASON]))
        return result

    def _timeout(self, seconds: float) -> str:
        """The limit that was reached, never the time that was left: answers say nothing of how long things took."""
        if seconds == self._leg_seconds:
            return f"timeout after {self._leg_seconds:.1f} s"
        return f"timeout: the whole lookup may take {self._total_seconds:.1f} s"


class Legs(Running[Leg]):
    """The legs of a lookup or a query."""

    @property
    def degraded(self) -> list[Degradation]:
        """The legs that failed, by name."""
        return [Degradation(leg=leg, reason=reason) for leg, reason in self.failures.items()]


class _TimeUpError(Exception):
    """A leg used up its time."""


async def _within(seconds: float, work: Awaitable[T]) -> T:
    """The result of `work`.

    What takes longer is cancelled and not waited for: with a database that fell silent it takes ten seconds more until
    the cancellation has come through.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    finally:
        if not task.done():
            _late.add(task)
            task.add_done_callback(_forget)
            task.cancel()
    if not done:
        raise _TimeUpError
    if task.cancelled():
        raise Unavailable("The step was cancelled from within.", "Look at the worker's log.")
    return task.result()


def _forget(task: asyncio.Future[Any]) -> None:
    _late.discard(task)
    if not task.cancelled():
        # Looked at, so that asyncio does not complain of an error that came too late for anybody.
        task.exception()


def _milliseconds_since(moment: float) -> float:
    return round((time.monotonic() - moment) * 1000, 1)
