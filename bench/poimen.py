"""How often the questions about the fixture project poimen find their memory, with the bundled models.

`python -m bench.poimen [--misses]`: a Postgres of its own, the journal brought into it, each question asked once.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict

from bench.database import running_postgres
from mem.addresses import find_addresses
from mem.cli.common import run
from mem.domain.query import QueryInput
from mem.domain.replaying import Shadow
from mem.recall.query_memories import QueryMemories
from mem.settings import Settings
from mem.store.importing import check, import_lines
from mem.store.pool import Pool, open_pool
from mem.store.rebuilding import PostgresRebuilding
from mem.wiring import migrate_database, open_ports
from tests.poimen import PROJECT, Asked, candidates, journal_lines, questions, shas

PAGE = 500


async def measure(*, misses: bool) -> None:
    """Ask everything and print what share was found."""
    async with running_postgres() as url:
        settings = Settings(database_url=url)
        await migrate_database(find_addresses(settings), settings)
        pool = await open_pool(url, size=2)
        await bring_in(pool)
        await pool.close()
        async with open_ports(find_addresses(settings), settings) as ports:
            places = {
                one: await _place(ports.query, number, one, tell=misses) for number, one in enumerate(questions())
            }
    _print(places)


async def bring_in(pool: Pool) -> None:
    """Import the journal into an empty database and make the tables of it."""
    async for _ in import_lines(pool, journal_lines, check(journal_lines())):
        pass
    rebuilding, shadow = PostgresRebuilding(pool), Shadow(run="bench", check=False)
    at = await rebuilding.begin(shadow)
    while at.seq < at.length:
        at = await rebuilding.replay(shadow, PAGE)
    while await rebuilding.index(shadow):
        pass
    await rebuilding.swap(shadow)
    await rebuilding.discard(shadow)


async def _place(query: QueryMemories, number: int, asked: Asked, *, tell: bool) -> int | None:
    """The place of the first right hit, from 1."""
    request = QueryInput(request_id=f"bench-{number}", project=PROJECT, question=asked.ask, k=10, explain=True)
    body = json.loads((await query(request)).body)
    gold = {shas()[one] for one in asked.gold}
    place = next((at for at, hit in enumerate(body["hits"], 1) if hit["sha"] in gold), None)
    if tell and place != 1:
        names = {sha: name for name, sha in shas().items()}
        print(f"\n{place or '-'}  {asked.ask}  ({', '.join(asked.gold)})")
        ranks: dict[str, list[str]] = defaultdict(list)
        for one in body["candidates"]:
            ranks[one["sha"]].append(f"{one['leg']} {one['rank']} {one['distance']:.3f}")
        told = [(hit["sha"], hit["score"]) for hit in body["hits"][: max(3, place or 3)]]
        told += [(sha, None) for sha in sorted(gold) if place is None]
        for sha, score in told:
            print(f"   {score}  {names[sha]}  {'; '.join(ranks[sha])}")
    return place


def _print(places: dict[Asked, int | None]) -> None:
    levels = candidates()
    groups: dict[str, list[int | None]] = defaultdict(list)
    for asked, place in places.items():
        groups["all"].append(place)
        groups[levels[asked.gold[0]].level].append(place)
    print("\ngold   questions  hit@1  hit@5")
    for name, found in sorted(groups.items()):
        first, five = (sum(place is not None and place <= most for place in found) for most in (1, 5))
        print(f"{name:<5}  {len(found):>9}  {first / len(found):.3f}  {five / len(found):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="Show what came instead of the right one.")
    run(measure(misses=parser.parse_args().misses))
