"""What a rebuild under way costs lookups: `python -m bench.under_rebuild [--records N] [--rounds N] [--json FILE]`.

Over a store of mixed records lookups are sent at a steady, modest rate by way of `MemoryClient`. In each round they are
measured alone, then beside each kind of rebuild: from the journal, its check, and the derivation of signatures, with
a quiet stretch between any two. A ratio compares a stretch with the quiet ones before and after it; of several rounds
the median is told. Prints percentiles, ratios, and how long each rebuild took.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from bench.figures import tell
from bench.rebuild import WRITERS, open_store, words, write
from mem.cli.common import run
from mem.client import MemoryClient
from mem.domain.lookup import ContextRequest
from mem.local import StackOptions, running_stack

PER_SECOND = 4.0
"""Lookups: far below what one worker answers, so that what is measured is disturbance and no queue."""

QUIET_SECONDS = 30.0
WARM_UP = 40


class Stretch(NamedTuple):
    """What the lookups of a stretch took, and how long the stretch was, both in seconds."""

    taken: list[float]
    seconds: float

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return float(np.percentile(self.taken, share) * 1000)


async def lookups(client: MemoryClient, chance: random.Random, until: Callable[[], bool]) -> Stretch:
    """Send one after the other's due time, whether or not the earlier ones are answered."""
    began, number, sent = time.perf_counter(), 0, []
    while not until():
        sent.append(asyncio.create_task(_look_up(client, chance)))
        number += 1
        await asyncio.sleep(max(0.0, began + number / PER_SECOND - time.perf_counter()))
    taken = await asyncio.gather(*sent)
    return Stretch(list(taken), time.perf_counter() - began)


async def _look_up(client: MemoryClient, chance: random.Random) -> float:
    source = f"npm ERR! code ERESOLVE\nnpm ERR! could not resolve {words(chance, 12)}\n"
    project = f"p{chance.randrange(WRITERS)}"
    request = ContextRequest(request_id=str(uuid.uuid4()), project=project, signature_source=source)
    began = time.perf_counter()
    await client.look_up(request)
    return time.perf_counter() - began


async def quiet(client: MemoryClient, chance: random.Random) -> Stretch:
    """Lookups alone."""
    ends = time.perf_counter() + QUIET_SECONDS
    return await lookups(client, chance, lambda: time.perf_counter() >= ends)


async def beside(client: MemoryClient, chance: random.Random, rebuild: Callable[[], Awaitable[Any]]) -> Stretch:
    """Lookups for as long as a rebuild takes."""
    working = asyncio.ensure_future(rebuild())
    stretch = await lookups(client, chance, working.done)
    await working
    return stretch


async def measure(records: int, rounds: int) -> dict[str, float]:
    """All figures."""
    chance = random.Random(1)  # noqa: S311 - the same logs in each run
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        async with running_stack(Path(home), StackOptions(app_dir=Path.cwd())) as stack:
            store = await open_store(stack.database_url)
            figures["records"] = await write(store, records)
            await store.pool.close()
            client = await MemoryClient.connect(address=stack.temporal.address, namespace=stack.temporal.namespace)
            kinds: dict[str, Callable[[], Awaitable[Any]]] = {
                "from_log": client.replay,
                "check": lambda: client.replay(check=True),
                "derive": client.rebuild,
            }
            for _ in range(WARM_UP):
                await _look_up(client, chance)
            stretches: dict[str, list[Stretch]] = {name: [] for name in kinds}
            ratios: dict[str, list[float]] = {}
            alone = [await quiet(client, chance)]
            for _ in range(rounds):
                for name, rebuild in kinds.items():
                    stretch = await beside(client, chance, rebuild)
                    alone.append(await quiet(client, chance))
                    stretches[name].append(stretch)
                    for share in (50, 95):
                        without = (alone[-1].percentile(share) + alone[-2].percentile(share)) / 2
                        ratios.setdefault(f"{name}_p{share}_ratio", []).append(stretch.percentile(share) / without)
    for share in (50, 95):
        figures[f"alone_p{share}_ms"] = median(one.percentile(share) for one in alone)
    for name, found in stretches.items():
        figures[f"{name}_s"] = median(one.seconds for one in found)
        figures[f"{name}_lookups"] = sum(len(one.taken) for one in found)
        for share in (50, 95):
            figures[f"{name}_p{share}_ms"] = median(one.percentile(share) for one in found)
            figures[f"{name}_p{share}_ratio"] = median(ratios[f"{name}_p{share}_ratio"])
        figures[f"{name}_longest_ms"] = max(one.percentile(100) for one in found)
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=50_000, help="at least so many records")
    parser.add_argument("--rounds", type=int, default=3, help="stretches beside each kind of rebuild")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.records, arguments.rounds)), arguments.json)


if __name__ == "__main__":
    main()
