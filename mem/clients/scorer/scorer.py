"""A logistic scorer over similarities and shared identifiers."""

from __future__ import annotations

import asyncio
import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from mem.parsing import identifiers
from mem.ports import Candidate, RerankQuery


class Features(NamedTuple):
    """All from 0 to 1; a similarity that no leg measured is 0."""

    symptom: float
    text: float
    lexical: float
    overlap: float
    coarse: float
    exact: float


class Weights(NamedTuple):
    """Log-odds: a bias, and a weight for each feature."""

    bias: float
    features: Features

    def probability(self, features: Features) -> float:
        """The probability that the candidate is what the query asks for."""
        odds = self.bias + sum(weight * value for weight, value in zip(self.features, features, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def features_of(query_identifiers: frozenset[str], candidate: Candidate) -> Features:
    """Measure a candidate; `overlap` is the share of the query's identifiers that its projection or text holds."""
    own = frozenset(identifiers(f"{candidate.symptom}\n{candidate.node.text}"))
    overlap = len(query_identifiers & own) / len(query_identifiers) if query_identifiers else 0.0
    return Features(
        symptom=max(candidate.symptom_similarity or 0.0, 0.0),
        text=max(candidate.text_similarity or 0.0, 0.0),
        lexical=max(candidate.lexical_similarity or 0.0, 0.0),
        overlap=overlap,
        coarse=float(candidate.coarse),
        exact=float(candidate.exact),
    )


class EmbeddedScorer:
    """Scores without a model: one set of weights for lessons, one for reference chunks."""

    def __init__(self, lessons: Weights, reference: Weights) -> None:
        self._lessons = lessons
        self._reference = reference

    @classmethod
    def load(cls) -> EmbeddedScorer:
        """Load the bundled weights."""
        data = tomllib.loads(files(__package__).joinpath("weights.toml").read_text(encoding="utf-8"))
        return cls(_weights(data["lessons"]), _weights(data["reference"]))

    @property
    def model_id(self) -> str:
        """Names it for what it is."""
        return "embedded scorer"

    @property
    def most(self) -> int | None:
        """It takes no time to speak of."""
        return None

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability for each candidate, in their order."""
        return await asyncio.to_thread(self._rerank, query, candidates)

    def _rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        wanted = frozenset(identifiers(query.text))
        scores = []
        for candidate in candidates:
            weights = self._reference if candidate.node.level == "R" else self._lessons
            scores.append(weights.probability(features_of(wanted, candidate)))
        return scores


def _weights(table: dict[str, float]) -> Weights:
    return Weights(table["bias"], Features(**{name: table[name] for name in Features._fields}))
