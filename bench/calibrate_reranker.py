"""Makes a reranker's scores probabilities: `python bench/calibrate_reranker.py [DATA…] [--out FILE] [--json FILE]`.

The reranker is the one of the environment (MEM_RERANK_URL or MEM_RERANK_PATH; neither: the embedded scorer, which is
only measured). DATA are as for bench/symptoms.py. Each raw error is a query, read as a lookup reads it; its candidates
are its own memory and the nearest others by recall, with the projections that production makes. So the scores are
fitted to what a reranker is given: pairs that recall took for alike, not strangers.

Fitted is a line on the log-odds of the score (Platt). Printed are its reliability on folds that it was not fitted to,
and which floor lets an unrelated memory into at most 2 % of the answers. FILE is for MEM_RERANK_CALIBRATION.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from symptoms import DEFAULT, Memory, load, query_of

from mem.clients.minilm import MiniLmEmbedder
from mem.domain.errors import MemError
from mem.domain.nodes import StoredNode
from mem.ports import Candidate, Reranker, RerankQuery
from mem.recall.floors import floors
from mem.settings import Settings
from mem.wiring import open_reranker
from mem.writing.projector import ExtractiveProjector

SECONDS = 300.0
"""Measuring has time, other than a lookup."""

FOLDS = 5
BINS = 10
UNRELATED = 0.02
"""The share of answers that may tell an unrelated memory."""

RIDGE = 1e-6
STEPS = 100
EDGE = 1e-9


class Scored(NamedTuple):
    """One query: log-odds of the scores of its candidates, of which the first is its own memory."""

    odds: np.ndarray


class Line(NamedTuple):
    """From log-odds to log-odds."""

    slope: float
    bias: float

    def of(self, odds: np.ndarray) -> np.ndarray:
        """Probabilities."""
        return 1.0 / (1.0 + np.exp(-np.clip(self.slope * odds + self.bias, -30, 30)))


async def score(reranker: Reranker, memories: list[Memory], width: int) -> list[Scored]:
    """The scores of each error's candidates, as the reranker gives them."""
    projector, embedder = ExtractiveProjector(), MiniLmEmbedder.load()
    for one in memories:
        one.projection = (await projector.project(one.text, one.evidence)).text
    texts = np.array(await embedder.embed([one.text for one in memories]))
    symptoms = np.array(await embedder.embed([one.projection or "-" for one in memories]))
    scored = []
    for place, one in enumerate(memories):
        if one.error is None:
            continue
        query = query_of(one.error)
        vector = np.array((await embedder.embed([query]))[0])
        by_text = texts @ vector
        by_symptom = np.array(
            [near if m.projection else 0.0 for near, m in zip(symptoms @ vector, memories, strict=True)]
        )
        nearest = np.argsort(-np.maximum(by_text, by_symptom), kind="stable")
        chosen = [place, *(int(other) for other in nearest if other != place)][: width + 1]
        candidates = [_candidate(memories[each], float(by_symptom[each]), float(by_text[each])) for each in chosen]
        found = np.clip(np.array(await reranker.rerank(RerankQuery(query, None), candidates)), EDGE, 1 - EDGE)
        scored.append(Scored(np.log(found / (1 - found))))
    return scored


def _candidate(memory: Memory, symptom: float, text: float) -> Candidate:
    return Candidate(
        node=StoredNode(level="L1", project="bench", text=memory.text, stored_sha=memory.id),
        symptom=memory.projection,
        symptom_similarity=symptom if memory.projection else None,
        text_similarity=text,
        lexical_similarity=None,
        exact=False,
        coarse=False,
        same_tool=False,
    )


def pairs(scored: list[Scored]) -> tuple[np.ndarray, np.ndarray]:
    """All log-odds, and which are of the query's own memory."""
    odds = np.concatenate([each.odds for each in scored])
    own = np.concatenate([np.arange(len(each.odds)) == 0 for each in scored])
    return odds, own.astype(float)


def fit(odds: np.ndarray, own: np.ndarray) -> Line:
    """The likeliest line, by Newton's method, towards Platt's smoothed targets: few pairs give no certainty.

    Where the scores order the pairs the wrong way round the slope would not be above zero, and there is no line.
    """
    related = own.sum()
    targets = np.where(own == 1, (related + 1) / (related + 2), 1 / (len(own) - related + 2))
    x = np.stack([odds, np.ones_like(odds)], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, x.T @ (targets - p) - RIDGE * weights)
        # Far from the end a whole step can overshoot.
        weights += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
    return Line(float(weights[0]), float(weights[1]))


def held_out(scored: list[Scored]) -> list[np.ndarray]:
    """The probabilities of each query's candidates by a line that was fitted to other queries."""
    found: list[np.ndarray] = []
    for number, each in enumerate(scored):
        fold = number % FOLDS
        line = _line_without(scored, fold)
        found.append(line.of(each.odds))
    return found


def _line_without(scored: list[Scored], fold: int) -> Line:
    others = [each for number, each in enumerate(scored) if number % FOLDS != fold]
    return fit(*pairs(others))


def reliability(probabilities: list[np.ndarray]) -> dict[str, float]:
    """Brier score, expected calibration error, and what floors do."""
    p = np.concatenate(probabilities)
    own = np.concatenate([np.arange(len(each)) == 0 for each in probabilities]).astype(float)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    ece = sum(
        abs(p[bins == b].mean() - own[bins == b].mean()) * (bins == b).mean() for b in range(BINS) if (bins == b).any()
    )
    mine = np.array([each[0] for each in probabilities])
    worst = np.array([each[1:].max(initial=0.0) for each in probabilities])
    # Just above the score of the best unrelated memory that must not come in.
    kept_out = float(np.sort(worst)[::-1][int(UNRELATED * len(worst))])
    floor = round(math.floor(kept_out * 1e4 + 1) / 1e4, 4)
    ours = floors().lesson
    return {
        "brier": round(float(((p - own) ** 2).mean()), 4),
        "ece": round(float(ece), 4),
        "first": round(float((mine > worst).mean()), 3),
        "floor_for_2_percent": floor,
        "related_kept_at_it": round(float((mine >= floor).mean()), 3),
        "floor_of_this_version": ours,
        "answers_with_unrelated_at_it": round(float((worst >= ours).mean()), 3),
        "related_kept_at_this": round(float((mine >= ours).mean()), 3),
    }


async def measure(settings: Settings, memories: list[Memory], width: int) -> dict[str, Any]:
    """Score, fit and judge."""
    async with AsyncExitStack() as opened:
        reranker = await open_reranker(settings, opened)
        began = time.perf_counter()
        scored = await score(reranker, memories, width)
        seconds = time.perf_counter() - began
    line = fit(*pairs(scored))
    return {
        "model": reranker.model_id,
        "queries": len(scored),
        "pairs": len(pairs(scored)[0]),
        "seconds": round(seconds, 1),
        "slope": round(line.slope, 4),
        "bias": round(line.bias, 4),
        "as_it_is": reliability([Line(1.0, 0.0).of(each.odds) for each in scored]),
        "calibrated": reliability(held_out(scored)),
    }


def written(figures: dict[str, Any], scale: str) -> str:
    """The file for MEM_RERANK_CALIBRATION."""
    return (
        f"# Made by bench/calibrate_reranker.py of {figures['queries']} errors and {figures['pairs']} pairs.\n"
        f"# Held out: Brier {figures['calibrated']['brier']}, calibration error {figures['calibrated']['ece']}.\n"
        f"version = 1\nmodel = {json.dumps(figures['model'])}\nscores = {json.dumps(scale)}\n"
        f"slope = {figures['slope']}\nbias = {figures['bias']}\n"
    )


def show(figures: dict[str, Any]) -> None:
    """Print a table."""
    print(f"{figures['model']}: {figures['pairs']} pairs of {figures['queries']} errors in {figures['seconds']} s")
    print(f"slope {figures['slope']}, bias {figures['bias']}")
    print(f"{'':32}{'as it is':>12}{'calibrated':>12}")
    for name, value in figures["as_it_is"].items():
        print(f"{name.replace('_', ' '):32}{value:>12}{figures['calibrated'][name]:>12}")


def main() -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, help="where to write the calibration")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--width", type=int, default=10, help="how many other memories each error is paired with")
    options = parser.parse_args()
    settings = Settings().model_copy(update={"rerank_calibration": None, "rerank_seconds": SECONDS})
    if options.out is not None and settings.rerank_url is None and settings.rerank_path is None:
        parser.error("set MEM_RERANK_URL or MEM_RERANK_PATH; the embedded scorer is fitted by bench/fit_scorer.py")
    try:
        figures = asyncio.run(measure(settings, load(options.data or DEFAULT), options.width))
    except MemError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    show(figures)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.out is not None and figures["slope"] <= 0:
        print("error: related pairs score less than others; this is no reranker for failures.", file=sys.stderr)
        return 1
    if options.out is not None:
        scale = settings.rerank_scores or ("probability" if settings.rerank_path is None else "logit")
        options.out.write_text(written(figures, scale), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
