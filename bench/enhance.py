"""What making the context block costs: `python -m bench.enhance [--memories N] [--rounds N] [--limit TOKENS]`.

The CPU time of the process, so that what else the machine does matters little: of the treatment of texts that were not
seen before, and of a whole block of as many memories. Each round has other memories, put together from lessons of the
fixtures, and none is seen twice.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.figures import tell
from mem.clients.tokens import Cl100kCounter
from mem.parsing.orders import prepare_orders, treatment
from mem.recall.context_block import render_block
from mem.recall.enhancement import Relevant
from mem.recall.enhancer import extract
from tests.hostile import ordinary

MESSAGE = "Why does the deploy of the worker fail with a timeout?"
SHORTEST, LONGEST = 200, 400


def measure(memories: int, rounds: int, limit: int) -> dict[str, float]:
    """All figures."""
    tokens = Cl100kCounter.load()
    made = _memories(memories * rounds)
    batches = [made[first : first + memories] for first in range(0, len(made), memories)]
    prepared = _milliseconds(prepare_orders)

    def block(texts: Sequence[str]) -> None:
        found = [Relevant(f"{at:04}", "L1", "p", text, 0.9 - 0.01 * at) for at, text in enumerate(texts)]
        enhancement = extract(MESSAGE, found, limit, tokens, scope="user")
        if enhancement is not None:
            render_block("user", enhancement)

    treated = [_milliseconds(lambda texts=texts: list(map(treatment.__wrapped__, texts))) for texts in batches]
    blocks = [_milliseconds(lambda texts=texts: block(texts)) for texts in batches]
    again = [_milliseconds(lambda texts=texts: block(texts)) for texts in batches[-1:] * rounds]
    return {
        "prepare_cpu_ms": round(prepared, 2),
        "treatment_cpu_p50_ms": round(statistics.median(treated), 2),
        "block_cpu_p50_ms": round(statistics.median(blocks), 2),
        "block_cpu_max_ms": round(max(blocks), 2),
        "same_block_cpu_p50_ms": round(statistics.median(again), 2),
    }


def _memories(count: int) -> list[str]:
    rng = random.Random(7)  # noqa: S311 - the same memories in each run
    pool = [" ".join(text.split()) for text in ordinary()]
    found: list[str] = []
    while len(found) < count:
        text = ""
        while len(text) < SHORTEST:
            text = f"{text} {rng.choice(pool)}".strip()
        if len(text) <= LONGEST:
            found.append(text)
    return found


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=30, help="how many memories a block is made of")
    parser.add_argument("--rounds", type=int, default=20, help="how many blocks are made")
    parser.add_argument("--limit", type=int, default=1200, help="the budget of a block in tokens")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(measure(arguments.memories, arguments.rounds, arguments.limit), arguments.json)


if __name__ == "__main__":
    main()
