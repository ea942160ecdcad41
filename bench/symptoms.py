"""How well the embedded projector makes memories findable: `python bench/symptoms.py [--json FILE] [DATA…]`.

DATA are TOML files, or folders of them, with `[[incident]]` (id, memory, error, shows, evidence) and `[[decision]]`
(memory, evidence), or JSON files with `pairs` (id, prose, error) and `distractors`. All memories together are
candidates of each raw error, read as a lookup reads it. Prints rank one and mean reciprocal rank by the symptom leg and
by the text leg, the share never ranked below the text leg, the share of decisions without a projection, and what was
missed. An incident without projection ranks last.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mem.clients.minilm import MiniLmEmbedder
from mem.domain.canonical import sha256_hex
from mem.domain.lookup import LookUpInput
from mem.ports import EvidenceText
from mem.recall.query import read_query
from mem.writing.projector import ExtractiveProjector

HERE = Path(__file__).resolve().parent
DEFAULT = [HERE.parent / "tests" / "fixtures" / "incidents"]


@dataclass
class Memory:
    """One memory with what it should be found by; decisions have no error."""

    id: str
    text: str
    evidence: list[EvidenceText]
    error: str | None = None
    shows: bool = False
    projection: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)


def load(paths: list[Path]) -> list[Memory]:
    """All memories of the data, incidents first."""
    found: list[Memory] = []
    for path in paths:
        for file in sorted(path.glob("*.toml")) if path.is_dir() else [path]:
            raw = file.read_text("utf-8")
            found += _from_json(json.loads(raw)) if file.suffix == ".json" else _from_toml(tomllib.loads(raw))
    return sorted(found, key=lambda one: one.error is None)


def _from_toml(data: dict[str, Any]) -> list[Memory]:
    return [
        Memory(
            id=each.get("id", each["memory"][:40]),
            text=each["memory"],
            evidence=[EvidenceText(sha256_hex(e["text"]), e["text"]) for e in each.get("evidence", [])],
            error=each.get("error"),
            shows=bool(each.get("shows", False)),
        )
        for each in (*data.get("incident", []), *data.get("decision", []))
    ]


def _from_json(data: dict[str, Any]) -> list[Memory]:
    told = [Memory(id=each["id"], text=each["prose"], evidence=[], error=each["error"]) for each in data["pairs"]]
    return told + [Memory(id=text[:40], text=text, evidence=[]) for text in data["distractors"]]


def query_of(error: str) -> str:
    """What a lookup would search with."""
    read = read_query(LookUpInput(request_id="bench", project="bench", signature_source=error))
    return read.failure.text if read.failure is not None else error


async def measure(memories: list[Memory]) -> dict[str, Any]:
    """Project, embed and rank."""
    projector, embedder = ExtractiveProjector(), MiniLmEmbedder.load()
    await projector.project("warm up", [])
    began = time.perf_counter()
    for one in memories:
        made = await projector.project(one.text, one.evidence)
        one.projection, one.lines = made.text, [line.model_dump(exclude_none=True) for line in made.lines]
    spent = (time.perf_counter() - began) / max(len(memories), 1)
    texts = np.array(await embedder.embed([one.text for one in memories]))
    symptoms = np.array(await embedder.embed([one.projection or "-" for one in memories]))
    empty = np.array([not one.projection for one in memories])
    incidents = [place for place, one in enumerate(memories) if one.error is not None]
    queries = np.array(await embedder.embed([query_of(memories[place].error or "") for place in incidents]))
    by_text = [_rank(texts @ query, place) for place, query in zip(incidents, queries, strict=True)]
    by_symptom = [
        len(memories) if empty[place] else _rank(np.where(empty, -2.0, symptoms @ query), place)
        for place, query in zip(incidents, queries, strict=True)
    ]
    decisions = [one for one in memories if one.error is None]
    groups = {"shown": True, "told": False}
    return {
        "memories": len(memories),
        "milliseconds_a_projection": round(1000 * spent, 2),
        "words_a_projection": round(
            statistics.mean([len(one.projection.split()) for one in memories if one.projection] or [0])
        ),
        "groups": {
            name: _figures(
                [number for number, place in enumerate(incidents) if memories[place].shows is shows],
                by_symptom,
                by_text,
            )
            for name, shows in groups.items()
        },
        "decisions": len(decisions),
        "decisions_empty": _share([not one.projection for one in decisions]),
        "misses": [
            {
                "id": memories[place].id,
                "shows": memories[place].shows,
                "symptom": s,
                "text": t,
                "lines": memories[place].lines,
            }
            for place, s, t in zip(incidents, by_symptom, by_text, strict=True)
            if s > 1
        ],
        "invented": [{"id": one.id, "lines": one.lines} for one in decisions if one.projection],
    }


def _rank(scores: Any, place: int) -> int:
    """The rank of one memory; of equals it is the last, so that a tie is never luck."""
    return int((scores >= scores[place] - 1e-9).sum())


def _figures(which: list[int], by_symptom: list[int], by_text: list[int]) -> dict[str, Any]:
    pairs = [(by_symptom[number], by_text[number]) for number in which]
    return {
        "incidents": len(pairs),
        "symptom_first": _share([s == 1 for s, _ in pairs]),
        "symptom_mrr": round(statistics.mean([1 / s for s, _ in pairs] or [0]), 3),
        "text_first": _share([t == 1 for _, t in pairs]),
        "text_mrr": round(statistics.mean([1 / t for _, t in pairs] or [0]), 3),
        "never_below_text": _share([s <= t for s, t in pairs]),
        "without_projection": _share([s == max(by_symptom) and s > 1 for s, _ in pairs]),
    }


def _share(flags: list[bool]) -> float:
    return round(sum(flags) / len(flags), 3) if flags else 0.0


def show(figures: dict[str, Any], *, lines: bool) -> None:
    """Print a table, and what was missed."""
    names = list(figures["groups"]["shown"])
    print(f"{'':20}" + "".join(f"{name:>20}" for name in names))
    for group, row in figures["groups"].items():
        print(f"{group:20}" + "".join(f"{row[name]!s:>20}" for name in names))
    print(f"decisions {figures['decisions']}, empty {figures['decisions_empty']}", end="; ")
    print(f"{figures['words_a_projection']} words and {figures['milliseconds_a_projection']} ms a projection")
    for miss in figures["misses"]:
        print(f"  missed {miss['id']} (shows={miss['shows']}): symptom {miss['symptom']}, text {miss['text']}")
        for line in miss["lines"] if lines else ():
            print(f"      {line.get('entry', line['origin'])}: {line['text'][:100]}")
    for invented in figures["invented"]:
        origins = sorted({line.get("entry", line["origin"]) for line in invented["lines"]})
        print(f"  invented for {invented['id']!r}: {origins}")


def main() -> int:
    """Measure, print, and write the figures as JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--lines", action="store_true", help="print the projections of what was missed")
    options = parser.parse_args()
    figures = asyncio.run(measure(load(options.data or DEFAULT)))
    show(figures, lines=options.lines)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
