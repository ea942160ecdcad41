"""What the embedded scorer's probabilities are worth: tables in Markdown, the floors that follow, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.abstention_data import development
from bench.abstention_features import FOLDER, WAYS, Row, counts, read
from bench.fit_scorer import WRONG, Array, Told, floor_of, held_out, told, wrong_rate, wrong_rates
from mem.recall.floors import floors

PLOT = Path(__file__).resolve().parent.parent / "docs" / "reliability.svg"
BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SIDE, MARGIN = 360, 44
FLOORS = {
    "failure": "lesson",
    "failure_by_words": "lesson_lexical",
    "task": "lesson_text",
    "task_by_words": "lesson_lexical",
}


class Bin(NamedTuple):
    """Candidates of nearly one probability: how many, what was predicted, what came true."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float


def bins(scores: Array, related: Array) -> list[Bin]:
    """The candidates by their probability; empty bins left out."""
    found = []
    for low, high in pairwise(BINS):
        inside = (scores >= low) & ((scores < high) | (high == 1.0))
        if inside.any():
            found.append(Bin(low, high, int(inside.sum()), float(scores[inside].mean()), float(related[inside].mean())))
    return found


def calibration_error(found: Sequence[Bin]) -> float:
    """How far prediction and truth lie apart, on average over the candidates (ECE)."""
    total = sum(one.count for one in found)
    return sum(one.count * abs(one.predicted - one.observed) for one in found) / total


def similarities(rows: Sequence[Row], name: str) -> Array:
    """One raw similarity in place of a probability, as where no reranker answers."""
    return np.asarray([float(getattr(row.features, name)) for row in rows])


def report() -> str:
    """All of it, held out; writes the plot."""
    material, parts = development(), []
    for way in WAYS:
        rows = read(FOLDER / f"{way}.csv")
        asked, scores = counts(material, way), held_out(rows)
        parts += [f"## {way}", "", _reliability(rows, scores)]
        parts += [_answers(FLOORS[way], told(rows, scores), asked)]
        bare = ("lexical",) if way.endswith("words") else ("text",) if way == "task" else ("symptom", "text")
        parts += [_answers(name, told(rows, similarities(rows, name)), asked) for name in bare]
        if way == "failure":
            PLOT.write_text(plot(bins(scores, _truth(rows))), encoding="utf-8")
    return "\n".join(parts)


def _reliability(rows: Sequence[Row], scores: Array) -> str:
    found, truth = bins(scores, _truth(rows)), _truth(rows)
    lines = ["| probability | candidates | predicted | observed |", "|---|---|---|---|"]
    lines += [f"| {b.low:.2f} to {b.high:.2f} | {b.count} | {b.predicted:.3f} | {b.observed:.3f} |" for b in found]
    brier = float(((scores - truth) ** 2).mean())
    return "\n".join([*lines, "", f"ECE {calibration_error(found):.4f}, Brier {brier:.4f}", ""])


def _answers(name: str, answers: Sequence[Told], asked: dict[str, int]) -> str:
    floor, lowest = getattr(floors(), name), floor_of(answers, asked)
    wanted = [one for one in answers if one.related]
    all_wanted = next(count for kind, count in asked.items() if kind.endswith("left out"))
    first = sum(one.right for one in wanted) / all_wanted
    over = sum(one.right and one.score >= floor for one in wanted) / all_wanted
    rates = wrong_rates(answers, asked, floor)
    average = wrong_rate(answers, asked, floor)
    head = f"`{name}` {floor:.2f} ({WRONG:.0%} are wrong at {lowest:.2f}): {all_wanted} related, first {first:.1%},"
    lines = [f"{head} first and over it {over:.1%}; of the unrelated {average:.1%} on average"]
    lines += [f"- {kind}: {rate:.1%} of {asked[kind]}" for kind, rate in rates.items()]
    return "\n".join([*lines, ""])


def _truth(rows: Sequence[Row]) -> Array:
    return np.asarray([float(row.related) for row in rows])


def plot(found: Sequence[Bin]) -> str:
    """Predicted against observed, the area of a dot by how many candidates it stands for."""
    whole = SIDE + 2 * MARGIN

    def at(x: float, y: float) -> tuple[float, float]:
        return MARGIN + x * SIDE, MARGIN + (1 - y) * SIDE

    dots = []
    for one in found:
        x, y = at(one.predicted, one.observed)
        title = f"<title>{one.count} candidates: predicted {one.predicted:.2f}, observed {one.observed:.2f}</title>"
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3 + one.count**0.25:.1f}" fill="#2a6f97">{title}</circle>')
    points = " ".join("{:.1f},{:.1f}".format(*at(one.predicted, one.observed)) for one in found)
    ticks = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x, y = at(tick, tick)
        ticks.append(f'<text x="{x:.1f}" y="{MARGIN + SIDE + 16}" text-anchor="middle">{tick:.1f}</text>')
        ticks.append(f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:.1f}</text>')
    frame = f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#888"/>'
    (x1, y1), (x2, y2) = at(0, 0), at(1, 1)
    ideal = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#bbb" stroke-dasharray="4 4"/>'
    middle, foot = MARGIN + SIDE / 2, MARGIN + SIDE + 34
    names = (
        f'<text x="{middle}" y="{foot}" text-anchor="middle">predicted</text>'
        f'<text x="{MARGIN}" y="{MARGIN - 14}">observed share of related candidates, held out</text>'
    )
    font = 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" {font}>'
    paper = f'<rect width="{whole}" height="{whole}" fill="#fff"/>'
    line = f'<polyline points="{points}" fill="none" stroke="#2a6f97"/>'
    return "\n".join([head, paper, frame, ideal, line, *dots, *ticks, names, "</svg>", ""])
