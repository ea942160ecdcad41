"""The use case of gaps: which failures keep happening that no memory explains. It reads alone, and counts nothing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC

from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.parsing import current_algo
from mem.ports import Clock, Failures, GapQuery
from mem.recall.messages import one_line


class FindGaps:
    """Answers which failures nobody has written a lesson for."""

    def __init__(self, failures: Failures, clock: Clock) -> None:
        self._failures = failures
        self._clock = clock

    async def __call__(self, request: GapsRequest, *, readable: Collection[str] | None = None) -> GapsAnswer:
        """The gaps that a request asks for.

        Args:
            readable: the projects whose sightings and memories the caller may read; None: all of them.

        Raises:
            Unavailable: the store does not answer, or not in time.
        """
        since = request.first_day(self._clock.now().astimezone(UTC).date())
        wanted = readable if request.project is None else _within([request.project], readable)
        query = GapQuery(
            counted=None if wanted is None else tuple(sorted(wanted)),
            readable=None if readable is None else tuple(sorted(readable)),
            tool=None if request.tool is None else request.tool.strip().lower(),
            since=since,
            limit=request.limit,
            algo=current_algo(),
        )
        found = await self._failures.gaps(query)
        gaps = [gap.model_copy(update={"message": one_line(gap.message)}) for gap in found.gaps]
        return GapsAnswer(project=request.project, tool=request.tool, since=since, total=found.total, gaps=gaps)


def _within(projects: Collection[str], readable: Collection[str] | None) -> Collection[str]:
    return [project for project in projects if readable is None or project in readable]
