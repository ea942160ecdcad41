"""Fits the embedded scorer: `python bench/fit_scorer.py PAIRS.json` prints the table `lessons` of its weights.

PAIRS.json: {"pairs": [{"prose", "error", "symptom", "symptom_loose"}], "distractors": [{"prose"}]}. Each error is a
query; the memory of its own pair is relevant, with either wording as its projection, and every other memory is not.
The fit is a ridge-regularised logistic regression by Newton's method, so that it has one answer and needs no library.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import numpy as np

from mem.clients.minilm import MiniLmEmbedder
from mem.parsing import failure_lines, identifiers

RIDGE = 0.05
STEPS = 50
NAMES = ("bias", "symptom", "text", "overlap")


async def rows(data: dict[str, list[dict[str, str]]]) -> tuple[np.ndarray, np.ndarray]:
    """Feature rows and their labels."""
    embedder = MiniLmEmbedder.load()
    texts = [pair["prose"] for pair in data["pairs"]] + [_prose(each) for each in data["distractors"]]
    text_vectors = np.asarray(await embedder.embed(texts))
    features, labels = [], []
    for wording in ("symptom", "symptom_loose"):
        symptoms = [pair[wording] for pair in data["pairs"]] + [""] * len(data["distractors"])
        symptom_vectors = np.asarray(await embedder.embed(symptoms))
        own = [frozenset(identifiers(f"{s}\n{t}")) for s, t in zip(symptoms, texts, strict=True)]
        for wanted, pair in enumerate(data["pairs"]):
            query = "\n".join(failure_lines(pair["error"], limit=8)) or pair["error"]
            vector = np.asarray((await embedder.embed([query]))[0])
            asked = frozenset(identifiers(query))
            for index in range(len(texts)):
                symptom = max(float(symptom_vectors[index] @ vector), 0.0) if symptoms[index] else 0.0
                text = max(float(text_vectors[index] @ vector), 0.0)
                features.append([1.0, symptom, text, len(asked & own[index]) / max(len(asked), 1)])
                labels.append(float(index == wanted))
    return np.asarray(features), np.asarray(labels)


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weights that maximise the penalised likelihood; the bias is not penalised."""
    penalty = RIDGE * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        gradient = x.T @ (y - p) - penalty @ weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + penalty
        weights += np.linalg.solve(hessian, gradient)
    return weights


def main() -> None:
    """Fit and print."""
    x, y = asyncio.run(rows(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    weights = fit(x, y)
    scores = 1.0 / (1.0 + np.exp(-x @ weights))
    for name, weight in zip(NAMES, weights, strict=True):
        print(f"{name} = {weight:.2f}")
    related, unrelated = scores[y == 1], scores[y == 0]
    print(f"# {len(related)} related: {(related >= 0.5).mean():.1%} at 0.5 or above, median {np.median(related):.2f}")
    print(f"# {len(unrelated)} unrelated: {(unrelated >= 0.5).mean():.2%} at 0.5 or above")


def _prose(distractor: object) -> str:
    return distractor["prose"] if isinstance(distractor, dict) else str(distractor)


if __name__ == "__main__":
    main()
