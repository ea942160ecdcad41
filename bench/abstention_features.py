"""What the embedded scorer is fitted on: the features of the candidates of each query of the development set.

`python bench/abstention_features.py [WAY…]` measures them by lookups as in production, and writes them to
tests/fixtures/abstention/features, a file for each way of asking. A line is one candidate: the query, the fold of its
tool, its kind, whether the candidate is what it should find, and the features that are not 0.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.abstention_data import TALK, Material, development
from bench.abstention_store import Asked, Bench, Remembering, stored
from mem.cli.common import run
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer.features import Failing, Working, asked, failing, working
from mem.domain.canonical import sha256_hex
from mem.parsing import extract
from mem.ports import Candidate, RerankQuery

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "abstention" / "features"
WAYS = {
    "failure": Asked(),
    "failure_by_words": Asked(vectors=False),
    "task": Asked(),
    "task_by_words": Asked(vectors=False),
}
KEPT = 5
"""So many candidates of a query are kept, the nearest; others are far below any floor."""
FOLDS = 5
DIGITS = 3


class Query(NamedTuple):
    """One query of the development set; `own` are the memories that it should find."""

    id: str
    kind: str
    tool: str | None
    fields: dict[str, str]
    own: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


class Row(NamedTuple):
    """A candidate of a query."""

    query: str
    fold: int
    kind: str
    related: bool
    features: Failing | Working


class Recorder:
    """A reranker that remembers what it was asked and finds nothing."""

    model_id, most = "recorder", None

    def __init__(self) -> None:
        self.query: RerankQuery | None = None
        self.candidates: Sequence[Candidate] = ()

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """Zero for each candidate."""
        if candidates and candidates[0].node.level != "R":
            self.query, self.candidates = query, candidates
        return [0.0] * len(candidates)


def queries(material: Material) -> Iterator[Query]:
    """Each error and task of a memory, and each unrelated text."""
    for memory in material.memories:
        own = frozenset({memory.id}) | memory.same
        for kind, field, texts in (("error", "signature_source", memory.errors), ("task", "task", memory.tasks)):
            for number, text in enumerate(texts):
                yield Query(f"{memory.id}/{kind}-{number}", kind, memory.tool, {field: text}, own)
    for one in material.unrelated:
        yield Query(one.id, one.kind, None, {"signature_source": one.text}, hidden=one.explained)
        if one.kind in TALK:
            yield Query(f"{one.id}-as-task", f"{one.kind} as task", None, {"task": one.text}, hidden=one.explained)


def counts(material: Material, way: str) -> dict[str, int]:
    """How many queries of each kind that nothing should be told to are asked in a way."""
    found: Counter[str] = Counter()
    for one in queries(material):
        if ("task" in one.fields) == way.startswith("task"):
            found[_left_out(one.kind) if one.own else one.kind] += 1
    return dict(found)


async def measure(bench: Bench, asks: Sequence[Query], way: str) -> list[Row]:
    """The nearest candidates of each query that can be asked in this way, and those that it should find.

    What a query would be told if the lessons that it should find were not known counts as a query of its own.
    """
    found: list[Row] = []
    for one in asks:
        if ("task" in one.fields) != way.startswith("task"):
            continue
        recorder = Recorder()
        await bench.ask(WAYS[way], hidden=one.hidden, reranker=recorder, **one.fields)
        query = recorder.query
        text = None if query is None else (query.failure if way.startswith("failure") else query.task)
        if query is None or text is None:
            continue
        parts = asked(text)
        of = failing if way.startswith("failure") else working
        measured = [(bench.ids[each.node.stored_sha] in one.own, of(parts, each)) for each in recorder.candidates]
        measured.sort(key=lambda each: (-_nearness(each[1]), each))
        fold = _fold_of(one)
        found += [
            Row(one.id, fold, one.kind, related, _rounded(features))
            for place, (related, features) in enumerate(measured)
            if related or place < KEPT
        ]
        others = [features for related, features in measured if not related][:KEPT]
        if one.own:
            id_, kind = f"{one.id}-left-out", _left_out(one.kind)
            found += [Row(id_, fold, kind, related=False, features=_rounded(features)) for features in others]
    return found


def _left_out(kind: str) -> str:
    return f"{kind}, its lesson left out"


def write(rows: Sequence[Row], path: Path) -> None:
    """One line a row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*Row._fields[:-1], *rows[0].features._fields])
        for row in rows:
            values = [f"{value:g}" if value else "" for value in row.features]
            lines.writerow([row.query, row.fold, row.kind, int(row.related), *values])


def read(path: Path) -> list[Row]:
    """The rows of a file."""
    of: type[Failing | Working] = Failing if path.stem.startswith("failure") else Working
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(one, of) for one in csv.DictReader(file)]


def _row(line: Mapping[str, str], of: type[Failing | Working]) -> Row:
    features = of(*(float(line[name] or 0) for name in of._fields))
    return Row(line["query"], int(line["fold"]), line["kind"], line["related"] == "1", features)


def _nearness(features: Failing | Working) -> float:
    near = features.symptom if isinstance(features, Failing) else 0.0
    return near + features.text + features.lexical + features.recall + features.run


def _rounded(features: Any) -> Any:
    return type(features)(*(round(value, DIGITS) for value in features))


def _fold_of(query: Query) -> int:
    """All queries of one tool are in one fold; of no known tool each is for itself."""
    tool = query.tool
    if tool is None:
        found = extract(next(iter(query.fields.values())))
        tool = found[0].tool if found and found[0].tool != "generic" else None
    return int(sha256_hex(tool or query.id), 16) % FOLDS


async def main() -> int:
    """Measure and write."""
    material = development()
    asks = list(queries(material))
    FOLDER.mkdir(exist_ok=True)
    async with stored(material.memories, Remembering(MiniLmEmbedder.load())) as bench:
        for way in sys.argv[1:] or WAYS:
            rows = await measure(bench, asks, way)
            write(rows, FOLDER / f"{way}.csv")
            print(f"{way}: {len({row.query for row in rows})} queries, {len(rows)} candidates", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(main()))
