"""A logistic scorer over similarities and shared words."""

from __future__ import annotations

import asyncio
import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from mem.clients.scorer.features import Asked, Failing, Working, asked, failing, working
from mem.ports import Candidate, RerankQuery

_BOUND = 30.0


class Weights(NamedTuple):
    """Log-odds: a bias, and a weight for each feature of one kind of query."""

    bias: float
    features: Failing | Working

    def probability(self, features: Failing | Working) -> float:
        """The probability that the candidate is what the query asks for."""
        odds = self.bias + math.fsum(weight * value for weight, value in zip(self.features, features, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-_BOUND, min(_BOUND, odds))))


class AllWeights(NamedTuple):
    """Weights by what is asked; `*_by_words` where no vectors could be made, so that trigrams found the candidates."""

    failure: Weights
    failure_by_words: Weights
    task: Weights
    task_by_words: Weights
    reference: Weights


class EmbeddedScorer:
    """Scores without a model: what each candidate shares with the query, weighed."""

    def __init__(self, weights: AllWeights) -> None:
        self._weights = weights

    @classmethod
    def load(cls) -> EmbeddedScorer:
        """Load the bundled weights."""
        data = tomllib.loads(files(__package__).joinpath("weights.toml").read_text(encoding="utf-8"))
        return cls(
            AllWeights(
                failure=_weights(data["failure"], Failing),
                failure_by_words=_weights(data["failure_by_words"], Failing),
                task=_weights(data["task"], Working),
                task_by_words=_weights(data["task_by_words"], Working),
                reference=_weights(data["reference"], Working),
            )
        )

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
        failure = query.text if query.failure is None and query.task is None else query.failure
        parts = (
            None if failure is None else asked(failure),
            None if query.task is None else asked(query.task),
        )
        whole = asked(query.text)
        return [
            self._weights.reference.probability(working(whole, each))
            if each.node.level == "R"
            else self._of_lesson(parts, each)
            for each in candidates
        ]

    def _of_lesson(self, parts: tuple[Asked | None, Asked | None], candidate: Candidate) -> float:
        """The better of how it fits the failure and how it fits the task, whichever were asked."""
        failure, task = parts
        weights, scores = self._weights, [0.0]
        in_words = candidate.lexical_similarity is not None or candidate.words is not None
        by_words = in_words and candidate.symptom_similarity is None and candidate.text_similarity is None
        if failure is not None:
            chosen = weights.failure_by_words if by_words else weights.failure
            scores.append(chosen.probability(failing(failure, candidate)))
        if task is not None:
            chosen = weights.task_by_words if by_words else weights.task
            scores.append(chosen.probability(working(task, candidate)))
        return max(scores)


def _weights(table: dict[str, float], features: type[Failing | Working]) -> Weights:
    named = {name: table.get(name, 0.0) for name in features._fields}
    return Weights(table["bias"], features(**named))
