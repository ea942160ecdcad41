"""Fits what helps with a user's message: `python bench/fit_message.py [--strength | --floors | --report]`.

Prints mem/clients/scorer/message.toml to the digit, from what bench/message_features.py measured of the set `fit`:
for each way of asking, with vectors or by words alone, a ridge-regularised logistic regression. More in common with a
memory never means less: such a weight is set to zero. `--strength` prints mem/recall/strength.toml and `--floors` the
lowest floors that keep the promise of `WRONG`, both from probabilities of users that the fit did not see. `--report`
prints what all of it does to the users of the set `held`, for which nothing was chosen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.fit_scorer import Array, newton
from bench.message_features import FEATURES, read
from mem.clients.scorer.helping import Helping

Way = Literal["message", "message_by_words"]
WAYS: tuple[Way, ...] = ("message", "message_by_words")
AGAINST = frozenset({"foreign", "does", "general", "plain"})
"""These may speak against a memory; all others are likeness, or a wish of the user."""
RIDGE = 0.3
WRONG = 0.05
"""So many of the messages with nothing relevant may be given context."""
EDGE = 1e-4


class Measured(NamedTuple):
    """A message: its user and kind, the features of its candidates, which of them help, and how many each is for."""

    user: str
    kind: str
    among_others: bool
    features: Array
    helps: Array
    stand_for: Array


class Scored(NamedTuple):
    """A message with a probability for each candidate."""

    kind: str
    among_others: bool
    scores: Array
    helps: Array
    stand_for: Array

    @property
    def related(self) -> bool:
        """Whether any memory helps."""
        return bool(self.helps.any())


@cache
def measured(name: str, way: Way) -> list[Measured]:
    """The messages of a file of features."""
    found = []
    for _, group in groupby(read(FEATURES / f"{name}.csv.gz"), lambda row: row.message):
        rows = list(group)
        features = np.asarray([row.features if way == "message" else row.by_words for row in rows])
        helps, stand_for = np.asarray([row.helps for row in rows]), np.asarray([row.stands_for for row in rows])
        found.append(Measured(rows[0].user, rows[0].kind, name.endswith("-among-others"), features, helps, stand_for))
    return found


def development(way: Way) -> list[Measured]:
    """What is fitted on: each message among the user's memories alone, and again among those of others."""
    return [*measured("fit", way), *measured("fit-among-others", way)]


def fit(rows: Sequence[Measured]) -> Array:
    """The weights, the bias first."""
    x = np.concatenate([one.features for one in rows])
    y = np.concatenate([one.helps for one in rows]).astype(float)
    times = np.concatenate([one.stand_for for one in rows]).astype(float)
    return fitted(np.column_stack([np.ones(len(x)), x]), y, [name not in AGAINST for name in Helping._fields], times)


def fitted(x: Array, y: Array, growing: Sequence[bool], times: Array | None = None) -> Array:
    """The weights; one of a feature that must not speak against is zero where it would."""
    active = np.ones(x.shape[1], dtype=bool)
    while True:
        weights = np.zeros(x.shape[1])
        weights[active] = newton(x[:, active], y, RIDGE, times)
        below = [place for place, grows in enumerate(growing, 1) if active[place] and grows and weights[place] < 0]
        if not below:
            return weights
        active[min(below, key=lambda place: weights[place])] = False


def scored(rows: Sequence[Measured], weights: Array) -> list[Scored]:
    """Each message with the probabilities of those weights."""
    found = [_probability(weights[0] + one.features @ weights[1:]) for one in rows]
    return [
        Scored(one.kind, one.among_others, scores, one.helps, one.stand_for)
        for one, scores in zip(rows, found, strict=True)
    ]


@cache
def unseen(way: Way) -> list[Scored]:
    """Each message of the development set by a fit that saw no message of its user."""
    rows, found = development(way), []
    for user in dict.fromkeys(one.user for one in rows):
        weights = fit([one for one in rows if one.user != user])
        found += scored([one for one in rows if one.user == user], weights)
    return found


def floor_of(messages: Sequence[Scored]) -> float:
    """The lowest floor, in hundredths, at which no more than `WRONG` of those with nothing relevant are given any.

    It holds among the memories of the user alone as well as among those of others.
    """
    nothing = [one for one in messages if not one.related]
    sides = [[one for one in nothing if one.among_others == side] for side in (False, True)]
    for hundredths in range(5, 100):
        over = [sum(one.scores.max() >= hundredths / 100 for one in side) for side in sides]
        if all(count <= WRONG * len(side) for count, side in zip(over, sides, strict=True)):
            return hundredths / 100
    return 1.0


def strength_toml() -> str:
    """The whole file: bias and slope on the log-odds of the best memory over the floor, for whether any told one helps.

    What the others add was tried: nothing, or less than that.
    """
    ways = [unseen(way) for way in WAYS]
    told = [(one, floor) for found in ways for floor in [floor_of(found)] for one in found if one.scores.max() >= floor]
    best = np.clip([one.scores.max() for one, _ in told], EDGE, 1 - EDGE)
    x = np.column_stack([np.ones(len(best)), np.log(best / (1 - best))])
    bias, slope = fitted(x, np.asarray([float(one.helps[one.scores >= floor].any()) for one, floor in told]), [True])
    head = "# How strong evidence is, by the log-odds of its best memory; made by bench/fit_message.py, which says how."
    return f"{head}\n\nbias = {bias:.2f}\nslope = {slope:.2f}\n"


def _probability(odds: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -30, 30))))


def message_toml() -> str:
    """The whole file."""
    lines = ["# Log-odds of what helps with a message; made by bench/fit_message.py, which says how."]
    for way in WAYS:
        values = zip(("bias", *Helping._fields), fit(development(way)), strict=True)
        kept = [(name, value) for name, value in values if name == "bias" or abs(value) >= 0.005]
        lines += ["", f"[{way}]", *(f"{name} = {value:.2f}" for name, value in kept)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strength", action="store_true")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    if given.report:
        from bench.message_report import report  # noqa: PLC0415 - it imports this

        print(report())
    elif given.floors:
        print(*(f"{way}: {floor_of(unseen(way)):.2f}" for way in WAYS), sep="\n")
    else:
        print(strength_toml() if given.strength else message_toml(), end="")


if __name__ == "__main__":
    main()
