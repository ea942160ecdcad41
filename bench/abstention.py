"""Whether lookups find what is known and keep quiet about the rest: `python bench/abstention.py [--json FILE] [SET…]`.

A SET is a TOML or JSON file, or a folder of TOML files, with incidents, decisions and unrelated texts; without one the
project's own set is taken (tests/fixtures/incidents, abstention and golden_logs). All memories are stored as an
acceptance stores them, in a Postgres of their own, and each error, task and unrelated text is looked up, once in each
mode. Prints how many errors find their lesson first, and to how many unrelated texts a lesson is told, by kind.
`--left-out` also asks each error while its own lesson is hidden. `--misses` prints what came out wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.abstention_data import Material, development, load
from bench.abstention_features import Query, queries
from bench.abstention_store import Asked, Bench, Remembering, stored
from mem.cli.common import run
from mem.clients.minilm import MiniLmEmbedder
from mem.domain.lookup import ContextAnswer, Lesson

MODES = {
    "as in production": Asked(),
    "tier 1 off": Asked(keys="coarse"),
    "no signatures": Asked(keys="none"),
    "no reranker": Asked(keys="none", reranker=False),
    "no vectors": Asked(keys="none", vectors=False),
    "neither": Asked(keys="none", reranker=False, vectors=False),
}
RELATED = ("error", "task")
LEFT_OUT = "its lesson left out"


class Answered(NamedTuple):
    """How one query was answered: the lessons of tiers 1 and 2 by id, and whether the first is one of its own."""

    query: Query
    lessons: tuple[tuple[str, int, float | None], ...]
    first: bool
    told: bool

    @property
    def similar(self) -> bool:
        """Whether a tier-2 lesson was told."""
        return any(tier == 2 for _, tier, _ in self.lessons)

    @property
    def exact(self) -> bool:
        """Whether a tier-1 lesson was told."""
        return any(tier == 1 for _, tier, _ in self.lessons)


async def answers(bench: Bench, asks: Sequence[Query], how: Asked) -> list[Answered]:
    """Look each query up."""
    return [_answered(bench, one, await bench.ask(how, hidden=one.hidden, **one.fields)) for one in asks]


def _answered(bench: Bench, query: Query, answer: ContextAnswer) -> Answered:
    lessons = tuple(_short(bench, one) for one in answer.lessons if one.tier < 3)
    ids = [id_ for id_, _, _ in lessons]
    return Answered(query, lessons, bool(ids) and ids[0] in query.own, bool(query.own.intersection(ids)))


def _short(bench: Bench, lesson: Lesson) -> tuple[str, int, float | None]:
    return bench.ids[lesson.sha], lesson.tier, lesson.score if lesson.score is not None else lesson.scores.recall


def asks_of(material: Material, *, left_out: bool) -> list[Query]:
    """What is looked up."""
    asks = list(queries(material))
    hidden = [one._replace(kind=f"{one.kind}, {LEFT_OUT}", own=frozenset(), hidden=one.own) for one in asks if one.own]
    return asks + (hidden if left_out else [])


def figures(found: Sequence[Answered]) -> dict[str, Any]:
    """The shares, of what is related and of what is not, by kind."""
    by_kind: dict[str, list[Answered]] = defaultdict(list)
    for one in found:
        by_kind[one.query.kind].append(one)
    unrelated = [one for one in found if not one.query.own]
    return {
        "related": {
            kind: {
                "queries": len(some),
                "first": _share([one.first for one in some]),
                "told": _share([one.told for one in some]),
            }
            for kind, some in by_kind.items()
            if kind in RELATED
        },
        "unrelated": {
            kind: {
                "queries": len(some),
                "tier 2": _share([one.similar for one in some]),
                "tier 1": _share([one.exact for one in some]),
            }
            for kind, some in sorted(by_kind.items())
            if kind not in RELATED
        },
        "all unrelated": {"queries": len(unrelated), "tier 2": _share([one.similar for one in unrelated])},
    }


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / len(flags), 4) if flags else 0.0


def show(mode: str, shares: dict[str, Any]) -> None:
    """Print the figures of one mode."""
    print(f"\n{mode}")
    for kind, row in shares["related"].items():
        print(f"  {kind + 's':32}{row['queries']:5}  first {row['first']:6.1%}  told {row['told']:6.1%}")
    for kind, row in shares["unrelated"].items():
        print(f"  {kind:32}{row['queries']:5}  tier 2 {row['tier 2']:6.1%}  tier 1 {row['tier 1']:6.1%}")
    row = shares["all unrelated"]
    print(f"  {'all that is unrelated':32}{row['queries']:5}  tier 2 {row['tier 2']:6.1%}", flush=True)


def show_misses(found: Sequence[Answered]) -> None:
    """Print what came out wrong."""
    for one in found:
        if one.query.own and not one.first:
            wrong = "not first"
        elif not one.query.own and one.similar:
            wrong = "wrong"
        else:
            continue
        text = " / ".join(next(iter(one.query.fields.values())).split("\n"))[:160]
        print(f"    {wrong}: {one.query.id} ({one.query.kind}) got {one.lessons[:2]}: {text}")


async def main() -> int:
    """Measure, print, and write the figures as JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--mode", action="append", choices=list(MODES))
    options = parser.parse_args()
    material = load(options.sets) if options.sets else development()
    asks = asks_of(material, left_out=options.left_out)
    result = {}
    async with stored(material.memories, Remembering(MiniLmEmbedder.load())) as bench:
        empty = sum(not text for text in bench.projections.values())
        print(f"{len(material.memories)} memories, {empty} without symptoms; {len(asks)} lookups a mode", flush=True)
        for mode in options.mode or MODES:
            found = await answers(bench, asks, MODES[mode])
            result[mode] = figures(found)
            show(mode, result[mode])
            if options.misses:
                show_misses(found)
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(run(main()))
