"""Whether queries find the turns that answer a question: `python bench/locomo.py DIR --out FILE [--vectors FILE]`.

DIR holds `turns.jsonl` (`{id, conversation, session, date_time, speaker, text, caption}`) and `qa.jsonl` (`{id,
conversation, question, category, evidence}`). Each conversation becomes a project in a Postgres of this run's own, each
turn a piece of evidence (L0) of its session. Every question is asked in its conversation at level L0, through the use
case of queries with the embedded models, and FILE gets `{question id: [turn ids, best first]}`. Prints
evidence-recall@10 by category, beside plain BM25 and the vectors alone, and what a question cost. `--vectors` keeps the
vectors for another run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.figures import tell
from bench.talk_data import COUNTED, Talk, Turn, read_talks, recall_at
from bench.talk_store import K, Stored, project_of, stored, tell_progress
from mem.cli.common import run

_WORD = re.compile(r"\w+")


class Measured:
    """What each way of searching found, and how much of the evidence that is."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self._recalls: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, way: str, category: str, recall: float) -> None:
        """Count a question."""
        self._recalls[way][category].append(recall)

    def figures(self) -> dict[str, float]:
        """The recall of each way, by category and over those that count."""
        told: dict[str, float] = {}
        for way, by_category in self._recalls.items():
            counted = [value for category in COUNTED for value in by_category.get(category, ())]
            if counted:
                told[f"{way}: recall@10"] = statistics.fmean(counted)
            for category, values in sorted(by_category.items()):
                told[f"{way}: category {category} ({len(values)})"] = statistics.fmean(values)
        return told


async def measure(talks: Sequence[Talk], out: Path, vectors: Path | None) -> dict[str, float]:
    """Ask everything and write what was found; all figures."""
    measured = Measured()
    async with stored(talks, vectors) as store:
        for number, talk in enumerate(talks):
            await _ask_all(store, project_of(number), talk, measured)
            tell_progress(f"asked {len(talk.questions)} questions of {talk.name!r}")
    await asyncio.to_thread(out.write_text, json.dumps(measured.found, ensure_ascii=False), encoding="utf-8")
    figures = measured.figures()
    if store.milliseconds:
        figures["milliseconds a question, p50"] = statistics.median(store.milliseconds)
    figures["questions that lost a leg"] = store.degraded
    return {name: round(value, 4) for name, value in figures.items()}


async def _ask_all(store: Stored, project: str, talk: Talk, measured: Measured) -> None:
    plain = plain_bm25(talk.turns)
    for asked in talk.questions:
        found = measured.found[asked.id] = await store.ask(project, asked.question)
        gold = talk.gold(asked)
        if gold and asked.question:
            measured.add("mem", asked.category, recall_at(found, gold))
            measured.add("plain BM25", asked.category, recall_at(plain(asked.question), gold))
            measured.add("vectors", asked.category, recall_at(await store.nearest(project, asked.question), gold))


def plain_bm25(turns: Sequence[Turn]) -> Callable[[str], list[str]]:
    """The usual BM25 over lowercased words, as a peer."""
    documents = [Counter(_WORD.findall(turn.text.lower())) for turn in turns]
    holding = Counter(word for document in documents for word in document)
    middling = sum(map(Counter.total, documents)) / max(len(documents), 1)

    def search(question: str) -> list[str]:
        scores = []
        for turn, document in zip(turns, documents, strict=True):
            slow = 1.2 * (0.25 + 0.75 * document.total() / middling)
            words = [word for word in set(_WORD.findall(question.lower())) if word in document]
            weights = [math.log1p((len(turns) - holding[word] + 0.5) / (holding[word] + 0.5)) for word in words]
            score = math.fsum(
                weight * document[word] / (document[word] + slow) for word, weight in zip(words, weights, strict=True)
            )
            scores.append((-score, turn.id))
        return [turn for score, turn in sorted(scores)[:K] if score < 0]

    return search


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    tell(run(measure(read_talks(given.folder), given.out, given.vectors)), given.json)


if __name__ == "__main__":
    main()
