"""Running legs: each with a deadline, each allowed to fail alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from mem.domain.errors import InvalidRequest, MemError, NotFound, RequestConflict
from mem.domain.lookup import Degradation, Leg

LEG_SECONDS = 2.0
TOTAL_SECONDS = 6.0

T = TypeVar("T")


class LegRun(NamedTuple):
    """How one leg went, for the trace."""

    leg: Leg
    milliseconds: float
    found: int
    note: str


class Legs:
    """Runs the legs of one answer and keeps their story.

    A leg that times out or raises a named error gives its default and is named in `degraded`; an error that the caller
    made is none of the leg's, and passes through.
    """

    def __init__(self, *, leg_seconds: float = LEG_SECONDS, total_seconds: float = TOTAL_SECONDS) -> None:
        self._leg_seconds = leg_seconds
        self._end = time.monotonic() + total_seconds
        self.runs: list[LegRun] = []
        self._failed: dict[Leg, str] = {}

    @property
    def degraded(self) -> list[Degradation]:
        """The legs that failed, by name."""
        return [Degradation(leg=leg, reason=reason) for leg, reason in sorted(self._failed.items())]

    def failed(self, leg: Leg) -> bool:
        """Whether that leg failed."""
        return leg in self._failed

    def degrade(self, leg: Leg, reason: str) -> None:
        """Name a leg as failed."""
        self._failed.setdefault(leg, reason)

    async def run(self, leg: Leg, work: Awaitable[T], default: T) -> T:
        """The result of `work`, or `default` where it fails or takes too long."""
        seconds = max(0.05, min(self._leg_seconds, self._end - time.monotonic()))
        started = time.monotonic()
        note = ""
        result = default
        try:
            async with asyncio.timeout(seconds):
                result = await work
        except TimeoutError:
            note = f"timeout after {seconds:.1f} s"
        except (InvalidRequest, RequestConflict, NotFound):
            raise
        except (MemError, OSError) as error:
            note = str(error) or type(error).__name__
        if note:
            self.degrade(leg, note)
        found = len(result) if isinstance(result, list | dict) else int(result is not None)
        self.runs.append(LegRun(leg, round((time.monotonic() - started) * 1000, 1), found, note))
        return result
