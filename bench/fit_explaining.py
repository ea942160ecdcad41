"""Fits what documentation is scored with: `python bench/fit_explaining.py DIR… [--cache FILE]`.

Each DIR is a set as bench/pairs.py reads it, of one tool, whose queries know their document. Every query is asked as
the product does it, and what the legs found is measured for each section. The weights are those that give the right
document the most of a softmax over what was found, with a penalty on their squares; a weight that would say that more
in common means less is set to zero. Scale and bias come from a logistic regression of single sections on the sums that
follow, so that each score is a probability by itself. Prints mem/clients/scorer/explaining.toml, and before it, as
comments, how often the right document comes first in each set: by weights that were fitted on the other sets alone.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.pairs import ask, document, loaded, read
from mem.cli.common import run
from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.explaining import Explaining, explaining, sought
from mem.ports import Candidate, RerankQuery

RIDGE = 0.02
STEPS = 400
RATE = 0.05
OBSOLETE = -0.5
"""Set by hand, to decide between near-equals: next to no page of the development sets says that it is superseded."""

Array = NDArray[np.float64]


class Asked(NamedTuple):
    """What was found for one query: the features of each section, and whether it is of the right document."""

    features: Array
    right: NDArray[np.bool_]
    documents: NDArray[np.int64]


class Measuring:
    """The embedded scorer, which keeps what it was given."""

    model_id, most = "measuring", None

    def __init__(self) -> None:
        self._scorer = EmbeddedScorer.load()
        self.given: tuple[RerankQuery, Sequence[Candidate]] | None = None

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """The scores that the embedded scorer gives."""
        self.given = (query, candidates)
        return await self._scorer.rerank(query, candidates)


async def measured(folder: Path) -> list[Asked]:
    """The features of all that is found for each query of a set."""
    pairs, scorer = read(folder), Measuring()
    found = []
    async with loaded(pairs.docs, scorer) as (queries, _):
        for query in pairs.queries:
            await ask(queries, query, pairs.docs)
            if scorer.given is None or scorer.given[0].fault is None or query.doc is None:
                raise SystemExit(f"{folder}: the document of {query.id} is not known, or nothing was scored.")
            fault, candidates = sought(scorer.given[0].fault), scorer.given[1]
            sources = [document(each.node.source or "", pairs.docs) for each in candidates]
            numbers = {source: number for number, source in enumerate(sorted(set(sources)))}
            found.append(
                Asked(
                    np.asarray([explaining(fault, each) for each in candidates]),
                    np.asarray([source == query.doc for source in sources]),
                    np.asarray([numbers[source] for source in sources]),
                )
            )
    return found


def fit(rows: Sequence[Asked]) -> Array:
    """The weights under which the right document gets the most."""
    usable = [row for row in rows if row.right.any()]
    weights = np.asarray([float(name != "obsolete") for name in Explaining._fields])
    fitted = weights.copy()
    moment, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = RIDGE * weights
        for row in usable:
            sums = row.features @ weights
            odds = np.exp(sums - sums.max())
            right = odds * row.right
            slope -= ((right / right.sum() - odds / odds.sum()) @ row.features) / len(usable)
        moment, spread = 0.9 * moment + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        weights -= RATE * (moment / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-9)
        weights = np.maximum(weights, 0.0) * fitted
    return weights


def scaled(weights: Array, rows: Sequence[Asked]) -> tuple[float, Array]:
    """Bias and weights with which each sum is the log-odds that a section is of the right document."""
    sums = np.concatenate([row.features @ weights for row in rows])
    right = np.concatenate([row.right for row in rows]).astype(float)
    x = np.stack([np.ones_like(sums), sums], axis=1)
    found = np.asarray([-5.0, 1.0])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ found, -30, 30)))
        found = found + np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2), x.T @ (right - p))
    return float(found[0]), weights * found[1]


def first(weights: Array, rows: Sequence[Asked]) -> float:
    """How often a section of the right document comes first."""
    return float(np.mean([bool(row.right[np.argmax(row.features @ weights)]) for row in rows]))


def toml(bias: float, weights: Array) -> str:
    """The file, to two decimals."""
    named = zip(Explaining._fields, weights, strict=True)
    lines = [f"{name} = {weight:.2f}" for name, weight in named if weight]
    lines.append(f"obsolete = {OBSOLETE:.2f}")
    head = "# Log-odds of a section of documentation that is to explain a fault; made by bench/fit_explaining.py.\n"
    return "\n".join([head, f"bias = {bias:.2f}", *lines, ""])


def main() -> None:
    """Measure, or read what was measured, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path, help="Keeps what was measured; made where it is not there.")
    options = parser.parse_args()
    if options.cache is not None and options.cache.exists():
        sets = pickle.loads(options.cache.read_bytes())  # noqa: S301 - written below
    else:
        sets = {folder.name: run(measured(folder)) for folder in options.folders}
        if options.cache is not None:
            options.cache.write_bytes(pickle.dumps(sets))
    for name, rows in sets.items():
        others = [row for other, found in sets.items() if other != name for row in found]
        print(f"# {name}: {first(fit(others), rows):.3f} held out, {first(fit(rows), rows):.3f} fitted on itself")
    rows = [row for found in sets.values() for row in found]
    print(toml(*scaled(fit(rows), rows)), end="")


if __name__ == "__main__":
    main()
