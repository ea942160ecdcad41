"""Fits what a question asks of evidence: `python bench/fit_question.py [--report] [--vectors FILE] [DIR…]`.

Prints mem/clients/scorer/question.toml to the digit, from the conversations of tests/fixtures/talk or of the folders
named (the files of bench/locomo.py). The questions are put through queries, and what recall brings is measured. Among
the candidates of one question those that answer it should stand first, whatever other questions bring: so the weights
are those of a conditional logistic regression with a ridge, found by Newton's method. A weight that would say that more
means less is set to zero. Then bias and scale make the sum a probability. `--report` prints instead evidence-recall@10
feature by feature, without each of them, and of conversations that the fit did not see.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.talk_data import COUNTED, read_talks, recall_at
from bench.talk_store import Stored, project_of, stored
from mem.cli.common import run
from mem.clients.scorer.talking import Talking, talking
from mem.parsing.telling import wanted
from mem.ports import Candidate, RerankQuery
from mem.recall.query_memories import QueryMemories, QueryPorts

FIXTURE = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "talk"
RIDGE = 1.0
STEPS = 60
SMALL = 1e-9
NAMES = Talking._fields

Array = NDArray[np.float64]


class Measured(NamedTuple):
    """A question of a conversation: its candidates' ids and features, which of them answer it, and all that do."""

    talk: str
    ids: list[str]
    features: Array
    right: Array
    gold: set[str]


class _Seen:
    """A reranker that notes what it is given."""

    model_id, most = "none", None

    def __init__(self) -> None:
        self.query: RerankQuery | None = None
        self.candidates: list[Candidate] = []

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """No probabilities worth the name."""
        self.query, self.candidates = query, list(candidates)
        return [0.0] * len(candidates)


async def measure(folder: Path, vectors: Path | None) -> list[Measured]:
    """What recall brings for each question of a folder."""
    talks = read_talks(folder)
    measured: list[Measured] = []
    async with stored(talks, vectors) as store:
        for number, talk in enumerate(talks):
            counted = [asked for asked in talk.questions if asked.category in COUNTED and asked.question]
            measured += [
                await _measured(store, project_of(number), talk.name, asked.question, gold)
                for asked in counted
                if (gold := talk.gold(asked))
            ]
    return measured


async def _measured(store: Stored, project: str, talk: str, question: str, gold: set[str]) -> Measured:
    seen = _Seen()
    ports = store.ports
    query = QueryMemories(
        QueryPorts(ports.memories, ports.ledger, store.embedder, seen), leg_seconds=60, total_seconds=240
    )
    await store.ask(project, question, query)
    if seen.query is None or seen.query.task is None:
        raise RuntimeError(f"Nothing was asked of a reranker for {question!r}.")
    read = wanted(seen.query.task)
    ids = [store.ids[project][one.node.stored_sha] for one in seen.candidates]
    features = np.asarray([talking(read, one) for one in seen.candidates], dtype=np.float64)
    return Measured(talk, ids, features, np.asarray([float(id_ in gold) for id_ in ids]), gold)


def fit(rows: Sequence[Measured], names: Sequence[str] = NAMES) -> Array:
    """The weights by which the right candidates stand out among those of their question; others are zero."""
    active = [NAMES.index(name) for name in names]
    known = [row for row in rows if row.right.any()]
    while True:
        weights = np.zeros(len(NAMES))
        weights[active] = _newton([(row.features[:, active], row.right) for row in known])
        below = [place for place in active if weights[place] < 0]
        if not below:
            return weights
        active.remove(min(below, key=lambda place: weights[place]))


def _newton(questions: Sequence[tuple[Array, Array]]) -> Array:
    """The best weights; a step that leads past them is halved."""
    size = questions[0][0].shape[1]
    weights, reached = np.zeros(size), _likelihood(questions, np.zeros(size))
    for _ in range(STEPS):
        step = _step(questions, weights)
        while (there := _likelihood(questions, weights + step)) < reached and np.abs(step).max() > SMALL:
            step /= 2
        weights, reached = weights + step, there
        if np.abs(step).max() < SMALL:
            break
    return weights


def _likelihood(questions: Sequence[tuple[Array, Array]], weights: Array) -> float:
    total = -RIDGE * float(weights @ weights) / 2
    for features, right in questions:
        odds = features @ weights
        total += float(right @ odds / right.sum() - odds.max() - np.log(np.exp(odds - odds.max()).sum()))
    return total


def _step(questions: Sequence[tuple[Array, Array]], weights: Array) -> Array:
    slope, bend = -RIDGE * weights, RIDGE * np.eye(len(weights))
    for features, right in questions:
        odds = features @ weights
        likely = np.exp(odds - odds.max())
        likely /= likely.sum()
        middle = likely @ features
        slope += right @ features / right.sum() - middle
        bend += (features * likely[:, None]).T @ features - np.outer(middle, middle)
    return np.asarray(np.linalg.solve(bend, slope))


def scaled(rows: Sequence[Measured], weights: Array) -> tuple[float, Array]:
    """The bias, and the weights on the scale on which their sum is the log-odds of a right candidate."""
    sums = np.concatenate([row.features @ weights for row in rows])
    right = np.concatenate([row.right for row in rows])
    x = np.stack([np.ones(len(sums)), sums], axis=1)
    line = np.zeros(2)
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ line, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2), x.T @ (right - p))
        line += step
        if np.abs(step).max() < SMALL:
            break
    return float(line[0]), weights * line[1]


def recall(rows: Sequence[Measured], weights: Array) -> float:
    """Evidence-recall@10 in the order of those weights, ties by id."""
    recalls = []
    for row in rows:
        order = sorted(zip(-(row.features @ weights), row.ids, strict=True))
        recalls.append(recall_at([id_ for _, id_ in order], row.gold))
    return float(np.mean(recalls))


def question_toml(rows: Sequence[Measured]) -> str:
    """The whole file."""
    bias, weights = scaled(rows, fit(rows))
    values = [("bias", bias), *zip(NAMES, weights, strict=True)]
    return "\n".join(
        [
            "# Log-odds for what a question asks of evidence; made by bench/fit_question.py, which says how.",
            "",
            "[question]",
            *(f"{name} = {value + 0.0:.2f}" for name, value in values if name == "bias" or abs(value) >= 0.005),
            "",
        ]
    )


def report(rows: Sequence[Measured]) -> str:
    """What each feature gains, what its loss costs, and how the fit does on conversations that it did not see."""
    lines = [f"{len(rows)} questions, {len({row.talk for row in rows})} conversations"]
    lines += [f"+ {name:<10} {recall(rows, fit(rows, NAMES[:place])):.3f}" for place, name in enumerate(NAMES, 1)]
    without = {name: [one for one in NAMES if one != name] for name in NAMES}
    lines += [f"- {name:<10} {recall(rows, fit(rows, others)):.3f}" for name, others in without.items()]
    for talk in dict.fromkeys(row.talk for row in rows):
        seen = fit([row for row in rows if row.talk != talk])
        unseen = [row for row in rows if row.talk == talk]
        lines.append(f"left out {talk:<16} {recall(unseen, seen):.3f}, seen {recall(unseen, fit(rows)):.3f}")
    return "\n".join(lines)


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURE])
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    rows = [row for folder in given.folders for row in run(measure(folder, given.vectors))]
    print(report(rows) if given.report else question_toml(rows), end="\n" if given.report else "")


if __name__ == "__main__":
    main()
