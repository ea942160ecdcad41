"""Fits the embedded scorer to the development set: `python bench/fit_scorer.py [--report]`.

Prints mem/clients/scorer/weights.toml to the digit, from the features that bench/abstention_features.py measured. Each
way of asking has a ridge-regularised logistic regression of its own, found by Newton's method, so that it has one
answer and needs no library. A weight that would say that more in common means less is set to zero. `--report` prints
instead what the same fit says of tools that it was not fitted on (docs/abstention.md), and which floors follow.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.abstention_features import FOLDER, FOLDS, WAYS, Row, read

RIDGE = 0.1
STEPS = 60
SMALL = 1e-9
LEFT_OUT = frozenset({"exact"})
"""Needs no weight: what an exact key points at is told whatever it scores."""
EXACT = 8.0
WRONG = 0.02
"""So many unrelated queries may be told something, on average over their kinds."""
HARDER = ("golden log", "left out")
"""Kinds that are no measure of what is asked in the field: made of confusers, or of lessons chosen to be near."""
REFERENCE = "bias = -5.6\ntext = 12.0\nlexical = 6.0\nrecall = 1.5"
"""Set by hand: the development set has no reference."""

Array = NDArray[np.float64]


class Fitted(NamedTuple):
    """The weights of one way of asking, the bias first."""

    names: tuple[str, ...]
    weights: Array

    def scores(self, rows: Sequence[Row]) -> Array:
        """The probability of each row."""
        odds = _matrix(rows, self.names) @ self.weights
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -30, 30))))


class Told(NamedTuple):
    """What a query would be told: its best score, and whether that is what it should find."""

    kind: str
    related: bool
    score: float
    right: bool


def fit(rows: Sequence[Row]) -> Fitted:
    """The weights that maximise the penalised likelihood; the bias is not penalised."""
    names = tuple(name for name in rows[0].features._fields if name not in LEFT_OUT)
    x, y = _matrix(rows, names), np.asarray([float(row.related) for row in rows])
    active = np.ones(len(names) + 1, dtype=bool)
    while True:
        weights = np.zeros(len(names) + 1)
        weights[active] = newton(x[:, active], y)
        below = [n for n in range(1, len(names) + 1) if active[n] and weights[n] < 0]
        if not below:
            return Fitted(names, weights)
        active[min(below, key=lambda number: weights[number])] = False


def newton(x: Array, y: Array, ridge: float = RIDGE, times: Array | None = None) -> Array:
    """The weights that maximise the penalised likelihood, of a matrix whose first column is ones.

    Args:
        times: how many rows each row stands for; one without it.
    """
    penalty = ridge * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
    weights, count = np.zeros(x.shape[1]), np.ones(len(x)) if times is None else times
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        bend = (x * (count * p * (1 - p))[:, None]).T @ x + penalty
        step = np.linalg.solve(bend, x.T @ (count * (y - p)) - penalty @ weights)
        weights += step
        if np.abs(step).max() < SMALL:
            break
    return weights


def held_out(rows: Sequence[Row]) -> Array:
    """The probability of each row by a fit that saw no row of its fold."""
    scores = np.zeros(len(rows))
    folds = np.asarray([row.fold for row in rows])
    for fold in range(FOLDS):
        seen = [row for row in rows if row.fold != fold]
        unseen = np.flatnonzero(folds == fold)
        scores[unseen] = fit(seen).scores([rows[place] for place in unseen])
    return scores


def told(rows: Sequence[Row], scores: Array) -> list[Told]:
    """The best candidate of each query, by its score; of equals the wrong one."""
    by_query: dict[str, list[tuple[float, Row]]] = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        by_query[row.query].append((float(score), row))
    found = []
    for candidates in by_query.values():
        score, best = max(candidates, key=lambda one: (one[0], not one[1].related))
        wanted = best.kind in ("error", "task")
        found.append(Told(best.kind, wanted, score, best.related))
    return found


def floor_of(answers: Sequence[Told], asked: dict[str, int]) -> float:
    """The lowest floor, in hundredths, at which no more than `WRONG` of the unrelated are told something on average.

    Args:
        asked: how many queries of each kind there were, those without any candidate included.
    """
    for floor in range(5, 100):
        if wrong_rate(answers, asked, floor / 100) <= WRONG:
            return floor / 100
    return 1.0


def wrong_rate(answers: Sequence[Told], asked: dict[str, int], floor: float) -> float:
    """The average over the kinds that are asked in the field."""
    rates = wrong_rates(answers, asked, floor)
    common = [rate for kind, rate in rates.items() if not kind.endswith(HARDER)]
    return sum(common) / len(common)


def wrong_rates(answers: Sequence[Told], asked: dict[str, int], floor: float) -> dict[str, float]:
    """By kind, the share of the unrelated queries that are told something."""
    over = dict.fromkeys(asked, 0)
    for one in answers:
        if not one.related and one.score >= floor:
            over[one.kind] += 1
    return {kind: over[kind] / asked[kind] for kind in sorted(asked)}


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> Array:
    return np.asarray([[1.0, *(getattr(row.features, name) for name in names)] for row in rows])


def table(fitted: Fitted) -> str:
    """The weights as lines of TOML, to two decimals."""
    values = [("bias", fitted.weights[0]), *zip(fitted.names, fitted.weights[1:], strict=True)]
    return "\n".join(
        f"{name} = {weight + 0.0:.2f}" for name, weight in values if name == "bias" or abs(weight) >= 0.005
    )


def weights_toml() -> str:
    """The whole file."""
    parts = ["# Log-odds of the embedded scorer; made by bench/fit_scorer.py, which says how.", "", "version = 2"]
    for way in WAYS:
        parts += ["", f"[{way}]", table(fit(read(FOLDER / f"{way}.csv")))]
        parts += [f"exact = {EXACT}"] if way.startswith("failure") else []
    return "\n".join([*parts, "", "[reference]", REFERENCE, ""])


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true")
    if parser.parse_args().report:
        from bench.reliability import report  # noqa: PLC0415 - it imports this

        print(report())
    else:
        print(weights_toml(), end="")


if __name__ == "__main__":
    main()
