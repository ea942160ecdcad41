"""The price of a lookup and of an acceptance over Temporal's own: `python bench/loop.py [--json FILE]`.

One run, one server, one process: a no-op update-with-start with one local activity is the floor of a lookup, a no-op
workflow with as many activities that of an acceptance. Prints medians and ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from mem.client import MemoryClient
from mem.domain.accepting import AcceptRequest, Evidence
from mem.domain.lookup import ContextRequest
from mem.local import StackOptions, running_stack

SECONDS = timedelta(seconds=10)
FLOOR_QUEUE = "bench-floor"
ROUNDS = 60
CALLERS = 16
LOG = """\
$ pytest -q
=================================== FAILURES ===================================
_________________________________ test_{name} __________________________________
>       assert total(cart) == expected
E       AssertionError: {name} was charged twice
tests/test_cart.py:41: AssertionError
FAILED tests/test_cart.py::test_{name} - AssertionError: {name} was charged twice
1 failed, 41 passed in 3.21s
"""
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty", "knoll", "larch")


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
        await workflow.execute_local_activity(nothing, start_to_close_timeout=SECONDS)
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
        await workflow.execute_activity(nothing, start_to_close_timeout=SECONDS)


Call = Callable[[int], Awaitable[object]]


def _name(number: int) -> str:
    """A word of its own for each number: digits would be masked, and make all failures one."""
    return "_".join(WORDS[(number // len(WORDS) ** place) % len(WORDS)] for place in range(4))


async def median_ms(call: Call, rounds: int, start: int) -> float:
    """The median time of one call after another."""
    times = []
    for number in range(start, start + rounds):
        began = time.perf_counter()
        await call(number)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


async def per_second(call: Call, rounds: int, start: int) -> float:
    """Calls a second with many callers at once."""
    turn = asyncio.Semaphore(CALLERS)

    async def one(number: int) -> None:
        async with turn:
            await call(number)

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(start, start + rounds)))
    return rounds / (time.perf_counter() - began)


async def measure() -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        async with running_stack(Path(home), StackOptions(app_dir=Path.cwd())) as stack:
            address, namespace = stack.temporal.address, stack.temporal.namespace
            client = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
            memory = MemoryClient(client)
            floor = Worker(
                client,
                task_queue=FLOOR_QUEUE,
                workflows=[NoLookup, NoAcceptance],
                activities=[nothing],
                workflow_runner=UnsandboxedWorkflowRunner(),
            )
            async with floor:
                return await _figures(client, memory)


async def _figures(client: Client, memory: MemoryClient) -> dict[str, float]:
    async def no_lookup(number: int) -> None:
        start = WithStartWorkflowOperation(
            NoLookup.run,
            id=f"floor-{number}",
            task_queue=FLOOR_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        await client.execute_update_with_start_workflow(NoLookup.answer, start_workflow_operation=start, id="answer")

    async def no_acceptance(number: int) -> None:
        await client.execute_workflow(NoAcceptance.run, id=f"floor-accept-{number}", task_queue=FLOOR_QUEUE)

    async def look_up(number: int) -> None:
        log = LOG.format(name=_name(1000 + number % ROUNDS))
        await memory.look_up(ContextRequest(request_id=f"bench-{number}", project="bench", signature_source=log))

    async def accept(number: int) -> None:
        name = _name(number)
        evidence = [Evidence(source="bench", turn=number, text=LOG.format(name=name))]
        text = f"The discount for {name} was applied before rounding; totals are rounded last now."
        await memory.accept(
            AcceptRequest(request_id=f"bench-{number}", project="bench", level="L1", text=text, evidence=evidence)
        )

    figures: dict[str, float] = {}
    calls: dict[str, Call] = {
        "floor_accept": no_acceptance,
        "accept": accept,
        "floor_lookup": no_lookup,
        "lookup": look_up,
    }
    for name, call in calls.items():
        await median_ms(call, 5, 0)
        figures[f"{name}_p50_ms"] = await median_ms(call, ROUNDS, 1000)
        figures[f"{name}_per_second"] = await per_second(call, ROUNDS * 2, 2000)
    figures["floor_lookup_retry_p50_ms"] = await median_ms(no_lookup, ROUNDS, 1000)
    figures["lookup_retry_p50_ms"] = await median_ms(look_up, ROUNDS, 1000)
    for name in ("accept", "lookup", "lookup_retry"):
        figures[f"{name}_p50_ratio"] = figures[f"{name}_p50_ms"] / figures[f"floor_{name}_p50_ms"]
    for name in ("accept", "lookup"):
        figures[f"{name}_throughput_ratio"] = figures[f"{name}_per_second"] / figures[f"floor_{name}_per_second"]
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    figures = asyncio.run(measure())
    for name, value in figures.items():
        print(f"{name:<32} {value}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
