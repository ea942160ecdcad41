"""Measures how well documentation explains errors: `python bench/pairs.py DIR --out FILE`.

DIR holds `docs.jsonl` (`{id, text}`) and `queries.jsonl` (`{id, query}`, what a tool printed). A database of its own
is started, the documents are loaded as reference, and each query is asked of level R, all as the product does it. FILE
gets `{query id: [document ids, best first, at most 50]}`: a document stands where its best section does.

Where the answers are known, in a field `doc` of the queries or in `qrels.jsonl` (`{id, doc}`, of a query), the shares
of queries with their document among the first are told, beside those of plain BM25 on the first line of the query.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.database import running_postgres
from bench.figures import tell
from mem.cli.common import run
from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.domain.ids import SHARED
from mem.domain.query import MAX_K, MAX_QUESTION_CHARACTERS, QueryAnswer, QueryInput
from mem.ports import Document, Memories, Reranker
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import open_pool
from mem.store.reference import PostgresReference
from mem.store.vector_index import ensure_vector_index
from mem.writing.corpus import carry_out, corpus_plan
from mem.writing.reference import reference_nodes

PROJECT = "pairs"
SECONDS = 60.0
"""Nothing may be left out of an answer because this machine is slow."""
FIRST = (1, 5)
REPEAT, LENGTH = 1.2, 0.75
_WORD = re.compile(r"\w+")


class Query(NamedTuple):
    """A query, and the document that answers it, where that is known."""

    id: str
    text: str
    doc: str | None


class Pairs(NamedTuple):
    """Documents by id, and what is asked of them."""

    docs: dict[str, str]
    queries: list[Query]


def read(folder: Path) -> Pairs:
    """Read a folder."""
    docs = {str(each["id"]): str(each["text"]) for each in _lines(folder / "docs.jsonl")}
    known = folder / "qrels.jsonl"
    qrels = {str(each["id"]): str(each["doc"]) for each in _lines(known)} if known.exists() else {}
    queries = [
        Query(str(each["id"]), str(each["query"]), qrels.get(str(each["id"]), each.get("doc")))
        for each in _lines(folder / "queries.jsonl")
    ]
    return Pairs(docs, queries)


@asynccontextmanager
async def loaded(docs: Mapping[str, str], reranker: Reranker) -> AsyncIterator[tuple[QueryMemories, Memories]]:
    """A database of its own with the documents in it, and what asks it."""
    async with running_postgres() as url:
        await migrate(url)
        async with await open_pool(url, size=4) as pool:
            embedder, clock = MiniLmEmbedder.load(), SystemClock()
            await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
            memories = PostgresMemories(pool, clock)
            documents = [
                Document(SHARED, source, tuple(reference_nodes(text, source=source, project=None)))
                for source, text in docs.items()
            ]
            await carry_out(corpus_plan([], documents, []), PostgresReference(pool, clock), embedder)
            ports = QueryPorts(memories, PostgresLedger(pool, clock), embedder, reranker)
            yield QueryMemories(ports, leg_seconds=SECONDS, total_seconds=SECONDS), memories


def document(source: str, docs: Collection[str]) -> str:
    """The document that a section is of: what stands before its anchor."""
    return source if source in docs else source.rpartition("#")[0]


async def ask(queries: QueryMemories, query: Query, docs: Collection[str]) -> list[str]:
    """The documents of the sections that answer, each once."""
    question = query.text.strip()[:MAX_QUESTION_CHARACTERS] or "?"
    asked = QueryInput(request_id=query.id, project=PROJECT, question=question, levels=["R"], k=MAX_K)
    answer = QueryAnswer.model_validate_json((await queries(asked)).body)
    if answer.degraded:
        raise SystemExit(f"A leg failed at {query.id}: {answer.degraded}")
    sources = [parent.source or "" for hit in answer.hits for parent in hit.provenance]
    return list(dict.fromkeys(document(source, docs) for source in sources))


def plain(docs: Mapping[str, str], queries: Sequence[Query]) -> dict[str, list[str]]:
    """BM25 with plain words over whole documents, asked for the first line: the peer."""
    held = {name: Counter(_words(text)) for name, text in docs.items()}
    lengths = {name: sum(words.values()) for name, words in held.items()}
    middling = sum(lengths.values()) / len(lengths)
    times = Counter(word for words in held.values() for word in words)
    found = {}
    for query in queries:
        first = next((line for line in query.text.split("\n") if line.strip()), "")
        scores: Counter[str] = Counter()
        for word in sorted(set(_words(first))):
            weight = math.log1p((len(docs) - times[word] + 0.5) / (times[word] + 0.5))
            for name, words in held.items():
                slow = REPEAT * (1 - LENGTH + LENGTH * lengths[name] / middling)
                scores[name] += weight * words[word] / (words[word] + slow)
        found[query.id] = sorted(docs, key=lambda name: (-scores[name], name))[:MAX_K]
    return found


def shares(found: Mapping[str, Sequence[str]], queries: Sequence[Query], name: str) -> dict[str, float]:
    """How often the known document is among the first, and the mean of one over its place."""
    known = [query for query in queries if query.doc is not None]
    places = [found[query.id].index(query.doc) + 1 if query.doc in found[query.id] else math.inf for query in known]
    if not places:
        return {}
    hits = {f"{name}_hit@{n}": round(sum(place <= n for place in places) / len(places), 4) for n in FIRST}
    return hits | {f"{name}_mrr": round(statistics.fmean(1 / place for place in places), 4)}


async def measure(pairs: Pairs) -> tuple[dict[str, list[str]], dict[str, float]]:
    """What is found for each query, and the figures."""
    found: dict[str, list[str]] = {}
    taken: list[float] = []
    began = time.monotonic()
    async with loaded(pairs.docs, EmbeddedScorer.load()) as (queries, _):
        loading = time.monotonic() - began
        for query in pairs.queries:
            started = time.monotonic()
            found[query.id] = await ask(queries, query, pairs.docs)
            taken.append((time.monotonic() - started) * 1000)
    figures = {"documents": len(pairs.docs), "queries": len(pairs.queries), "loading_s": round(loading, 1)}
    if taken:
        figures |= {"query_ms_p50": round(statistics.median(taken), 1), "query_ms_max": round(max(taken), 1)}
    figures |= shares(found, pairs.queries, "mem")
    return found, figures | shares(plain(pairs.docs, pairs.queries), pairs.queries, "bm25_first_line")


def _lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def main() -> None:
    """Measure, write what was found, and tell the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="What is found for each query, as JSON.")
    options = parser.parse_args()
    found, figures = run(measure(read(options.folder)))
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    tell(figures, None)


if __name__ == "__main__":
    main()
