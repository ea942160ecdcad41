"""The price of an acceptance over Temporal's own: `python -m bench.accept [--json FILE]`.

One run, one server: a no-op workflow with as many activities is the floor, and both take turns. Prints medians, ratios.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.figures import tell
from bench.floor import WARM_UP, Floor, in_turn, per_second
from mem.cli.common import run
from mem.client import MemoryClient
from mem.clients.temporal.ending import end_with
from mem.domain.accepting import AcceptRequest, Evidence
from mem.local import StackOptions, running_stack

ROUNDS = 60
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


def _name(number: int) -> str:
    """A word of its own for each number: digits would be masked, and make all failures one."""
    return "_".join(WORDS[(number // len(WORDS) ** place) % len(WORDS)] for place in range(4))


async def measure() -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        async with running_stack(Path(home), StackOptions(app_dir=Path.cwd())) as stack:
            address, namespace = stack.temporal.address, stack.temporal.namespace
            client = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
            floor = Floor(client)
            async with floor.working():
                return await _figures(floor, MemoryClient(client))


async def _figures(floor: Floor, memory: MemoryClient) -> dict[str, float]:
    async def accept(number: int) -> None:
        name = _name(number)
        evidence = [Evidence(source="bench", turn=number, text=LOG.format(name=name))]
        text = f"The discount for {name} was applied before rounding; totals are rounded last now."
        await memory.accept(
            AcceptRequest(request_id=f"bench-{number}", project="bench", level="L1", text=text, evidence=evidence)
        )

    await in_turn(floor.accept, accept, WARM_UP, 0)
    floor_ms, accept_ms = await in_turn(floor.accept, accept, ROUNDS, 1000)
    floor_rate = await per_second(floor.accept, ROUNDS * 2, 2000)
    rate = await per_second(accept, ROUNDS * 2, 2000)
    figures = {
        "floor_p50_ms": floor_ms,
        "accept_p50_ms": accept_ms,
        "accept_p50_ratio": accept_ms / floor_ms,
        "floor_per_second": floor_rate,
        "accept_per_second": rate,
        "accept_throughput_ratio": rate / floor_rate,
    }
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure()), arguments.json)


if __name__ == "__main__":
    end_with(main)
