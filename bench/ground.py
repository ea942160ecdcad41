"""What the context of a turn costs: `python -m bench.ground [--memories N] [--rounds N] [--database-url URL]`.

One run on one stack: many memories of 500 users, the use case in process in each read mode with the time of each leg,
and the same turns through Temporal beside a no-op update-with-start with one local activity. Turns and no-ops take
turns. A database that was filled by an earlier run can be used again.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple, get_args

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.figures import tell
from bench.filling import fill
from bench.floor import WARM_UP, Floor, in_turn, per_second
from mem.addresses import find_addresses
from mem.cli.common import run
from mem.client import MemoryClient
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.temporal.ending import end_with
from mem.domain.accepting import AcceptRequest, Evidence
from mem.domain.grounding import GroundInput, GroundRequest, ReadMode
from mem.local import StackOptions, running_stack
from mem.recall.ground_outcome import GroundOutcome
from mem.recall.outcome import LegTrace
from mem.settings import Settings
from mem.store.pool import Connection, Pool, on_connection, open_pool
from mem.wiring import Ports, open_ports
from tests.incidents import Incident, incidents

MEMORIES = 50_000
USERS = 500
ROUNDS = 200
MODES: tuple[ReadMode, ...] = get_args(ReadMode)


class Bench(NamedTuple):
    """What is measured, and with what."""

    pool: Pool
    ports: Ports
    memory: MemoryClient
    floor: Floor
    run: str


async def measure(memories: int, rounds: int, database_url: str | None) -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as home:
        options = StackOptions(app_dir=Path.cwd(), database_url=database_url)
        async with running_stack(Path(home), options) as stack:
            address, namespace = stack.temporal.address, stack.temporal.namespace
            client = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
            settings = Settings(home=Path(home), database_url=stack.database_url)
            pool = await open_pool(stack.database_url, size=2)
            floor = Floor(client)
            async with pool, open_ports(find_addresses(settings), settings) as ports, floor.working():
                bench = Bench(pool, ports, MemoryClient(client), floor, Path(home).name)
                await _prepare(bench, memories)
                figures: dict[str, float] = {}
                for mode in MODES:
                    figures |= {
                        f"{mode}_{name}": value for name, value in (await _in_process(bench, mode, rounds)).items()
                    }
                for mode in MODES:
                    figures |= {
                        f"{mode}_{name}": value for name, value in (await _through(bench, mode, rounds)).items()
                    }
                return {name: round(value, 3) for name, value in figures.items()}


async def _prepare(bench: Bench, memories: int) -> None:
    """Many made memories, and of each real incident what one of the users learned from it, with its evidence."""
    if await _count(bench.pool) < memories:
        seeds = [text for each in incidents() for text in (each.error, each.memory)]
        await fill(bench.pool, MiniLmEmbedder.load(), seeds, memories, USERS)
    for number, incident in enumerate(incidents()):
        await bench.memory.accept(_candidate(number, incident))


async def _count(pool: Pool) -> int:
    async def work(connection: Connection) -> int:
        row = await (await connection.execute("SELECT count(*) FROM memory_node WHERE owner IS NOT NULL")).fetchone()
        return int(row[0]) if row else 0

    return await on_connection(pool, work)


def _candidate(number: int, incident: Incident) -> AcceptRequest:
    evidence = [Evidence(source=each.source, turn=each.turn, text=each.text) for each in incident.evidence]
    return AcceptRequest(
        request_id=f"bench-{incident.id}",
        project="thousand",
        level="L1",
        text=incident.memory,
        evidence=evidence,
        user_id=f"user-{number}",
        visibility="user" if number % 2 else "global",
    )


def _turn(request_id: str, number: int, mode: ReadMode) -> GroundRequest:
    """Every third message is about something that the user learned, every third about what another one did."""
    place = number % len(incidents())
    incident = incidents()[place]
    user = f"user-{place if number % 3 == 0 else (number * 7) % USERS}"
    told = " ".join(incident.memory.split()[:14]) if number % 3 < 2 else "Shall we have lunch at noon"
    return GroundRequest(
        request_id=request_id, user_id=user, message=f"I wonder about this again: {told}?", read_mode=mode
    )


async def _in_process(bench: Bench, mode: ReadMode, rounds: int) -> dict[str, float]:
    whole: list[float] = []
    legs: dict[str, list[float]] = {}
    usable = 0
    for number in range(-WARM_UP, rounds):
        request = _turn(f"{bench.run}-process-{mode}-{number}", number % 10_000, mode)
        outcome = await bench.ports.ground(GroundInput.model_validate(request.model_dump(exclude_unset=True)))
        if number >= 0 and isinstance(outcome, GroundOutcome):
            whole.append(outcome.trace.milliseconds)
            usable += outcome.trace.usable
            for leg in outcome.trace.legs:
                legs.setdefault(_name(leg), []).append(leg.milliseconds)
    return {
        "process_p50_ms": statistics.median(whole),
        "process_p99_ms": sorted(whole)[int(len(whole) * 0.99)],
        "usable": usable / rounds,
        **{f"{name}_p50_ms": statistics.median(times) for name, times in sorted(legs.items())},
    }


def _name(leg: LegTrace) -> str:
    step = leg.step.split(",")[0].rstrip("?").replace(" ", "_")
    return f"{leg.leg}_{step}"


async def _through(bench: Bench, mode: ReadMode, rounds: int) -> dict[str, float]:
    async def ground(number: int) -> None:
        await bench.memory.ground(_turn(f"{bench.run}-{mode}-{number}", number, mode))

    first = 100_000 * (1 + MODES.index(mode))

    async def floor(number: int) -> None:
        await bench.floor.look_up(first + number)

    await in_turn(floor, ground, WARM_UP * 4, 10_000)
    floor_ms, ground_ms = await in_turn(floor, ground, rounds, 0)
    floor_retry_ms, retry_ms = await in_turn(floor, ground, rounds, 0)
    figures = {
        "floor_p50_ms": floor_ms,
        "ground_p50_ms": ground_ms,
        "ground_p50_ratio": ground_ms / floor_ms,
        "retry_p50_ratio": retry_ms / floor_retry_ms,
    }
    if mode == "balanced":
        floor_rate = await per_second(floor, 2 * rounds, 20_000)
        rate = await per_second(ground, 2 * rounds, 20_000)
        figures |= {"floor_per_second": floor_rate, "ground_per_second": rate, "throughput_ratio": rate / floor_rate}
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=MEMORIES, help="how many memories the database holds")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each call is made")
    parser.add_argument("--database-url", help="a database that an earlier run filled; else one is filled, in minutes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    tell(run(measure(arguments.memories, arguments.rounds, arguments.database_url)), arguments.json)


if __name__ == "__main__":
    end_with(main)
