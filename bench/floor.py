"""What Temporal alone costs: no-op workflows in the shapes of ours, and how calls are timed beside them."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

QUEUE = "bench-floor"
CALLERS = 16
WARM_UP = 5
_SECONDS = timedelta(seconds=10)

Call = Callable[[int], Awaitable[object]]


@activity.defn
async def nothing() -> None:
    """Do nothing."""


@workflow.defn
class NoLookup:
    """The floor of a lookup."""

    def __init__(self) -> None:
        self._done = False

    @workflow.run
    async def run(self) -> None:
        """One local activity."""
        await workflow.execute_local_activity(nothing, start_to_close_timeout=_SECONDS)
        self._done = True
        await workflow.wait_condition(workflow.all_handlers_finished)

    @workflow.update
    async def answer(self) -> None:
        """Wait for it."""
        await workflow.wait_condition(lambda: self._done)


@workflow.defn
class NoAcceptance:
    """The floor of an acceptance: three steps, four in parallel (two of them in turn), one at the end."""

    @workflow.run
    async def run(self) -> None:
        """As many activities as an acceptance, in the same shape."""
        for _ in range(3):
            await self._step()
        await asyncio.gather(self._two(), self._step(), self._step())
        await self._step()

    async def _two(self) -> None:
        await self._step()
        await self._step()

    async def _step(self) -> None:
        await workflow.execute_activity(nothing, start_to_close_timeout=_SECONDS)


class Floor:
    """Calls of the no-op workflows."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Run their worker."""
        async with Worker(
            self._client,
            task_queue=QUEUE,
            workflows=[NoLookup, NoAcceptance],
            activities=[nothing],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            yield

    async def look_up(self, number: int) -> None:
        """An update-with-start with one local activity; the same number again finds it closed."""
        start = WithStartWorkflowOperation(
            NoLookup.run,
            id=f"floor-{number}",
            task_queue=QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        await self._client.execute_update_with_start_workflow(
            NoLookup.answer, start_workflow_operation=start, id="answer"
        )

    async def accept(self, number: int) -> None:
        """A workflow with as many activities as an acceptance."""
        await self._client.execute_workflow(NoAcceptance.run, id=f"floor-accept-{number}", task_queue=QUEUE)


async def times_ms(call: Call, rounds: int, start: int) -> list[float]:
    """How long each of some calls takes, one after another, shortest first."""
    times = []
    for number in range(start, start + rounds):
        began = time.perf_counter()
        await call(number)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


async def in_turn(first: Call, second: Call, rounds: int, start: int) -> tuple[float, float]:
    """The medians of two calls that take turns, so that what else the machine does meets both alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(start, start + rounds):
        times[0].extend(await times_ms(first, 1, number))
        times[1].extend(await times_ms(second, 1, number))
    return statistics.median(times[0]), statistics.median(times[1])


async def per_second(call: Call, rounds: int, start: int) -> float:
    """Calls a second with many callers at once."""
    turn = asyncio.Semaphore(CALLERS)

    async def one(number: int) -> None:
        async with turn:
            await call(number)

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(start, start + rounds)))
    return rounds / (time.perf_counter() - began)
