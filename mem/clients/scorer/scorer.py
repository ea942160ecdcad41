"""A logistic scorer over similarities and shared words."""

from __future__ import annotations

import asyncio
import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from mem.clients.scorer.explaining import Explaining, Sought, explaining, sought
from mem.clients.scorer.features import Asked, Failing, Working, asked, failing, working
from mem.clients.scorer.helping import Helping, Turn, helping, turn
from mem.clients.scorer.talking import Talking, talking
from mem.parsing.telling import Wanted, wanted
from mem.ports import Candidate, RerankQuery

_BOUND = 30.0
Features = Failing | Working | Talking | Explaining | Helping


class Weights(NamedTuple):
    """Log-odds: a bias, and a weight for each feature of one kind of query."""

    bias: float
    features: Features

    def probability(self, features: Features) -> float:
        """The probability that the candidate is what the query asks for."""
        odds = self.bias + math.fsum(weight * value for weight, value in zip(self.features, features, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-_BOUND, min(_BOUND, odds))))


class AllWeights(NamedTuple):
    """Weights by what is asked; `*_by_words` where no vectors could be made, so that trigrams found the candidates.

    `reference` is for what a lookup asks of documentation, `explaining` for what a question does.
    """

    failure: Weights
    failure_by_words: Weights
    task: Weights
    task_by_words: Weights
    reference: Weights
    question: Weights
    explaining: Weights
    message: Weights
    message_by_words: Weights


class Parts(NamedTuple):
    """A query, taken apart; None where it has no such part."""

    whole: Asked
    failure: Asked | None
    task: Asked | None
    question: Wanted | None
    fault: Sought | None
    message: Turn | None


class EmbeddedScorer:
    """Scores without a model: what each candidate shares with the query, weighed."""

    def __init__(self, weights: AllWeights) -> None:
        self._weights = weights

    @classmethod
    def load(cls) -> EmbeddedScorer:
        """Load the bundled weights."""
        data = _bundled("weights.toml") | _bundled("question.toml") | _bundled("message.toml")
        return cls(
            AllWeights(
                failure=_weights(data["failure"], Failing),
                failure_by_words=_weights(data["failure_by_words"], Failing),
                task=_weights(data["task"], Working),
                task_by_words=_weights(data["task_by_words"], Working),
                reference=_weights(data["reference"], Working),
                question=_weights(data["question"], Talking),
                explaining=_weights(_bundled("explaining.toml"), Explaining),
                message=_weights(data["message"], Helping),
                message_by_words=_weights(data["message_by_words"], Helping),
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
        alone = query.failure is None and query.task is None and query.message is None
        failure = query.text if alone else query.failure
        parts = Parts(
            whole=asked(query.text),
            failure=None if failure is None else asked(failure),
            task=None if query.task is None else asked(query.task),
            question=None if query.task is None else wanted(query.task),
            fault=None if query.fault is None else sought(query.fault),
            message=None if query.message is None else turn(query.message),
        )
        return [self._probability(parts, each) for each in candidates]

    def _probability(self, parts: Parts, candidate: Candidate) -> float:
        if parts.message is not None:
            return self._of_message(parts.message, parts.failure, candidate)
        match candidate.node.level:
            case "R":
                return self._of_reference(parts, candidate)
            case "L0" if parts.question is not None:
                return self._of_evidence(parts.question, parts.failure, candidate)
            case _:
                return self._of_lesson(parts.failure, parts.task, candidate)

    def _of_reference(self, parts: Parts, candidate: Candidate) -> float:
        if parts.fault is None:
            return self._weights.reference.probability(working(parts.whole, candidate))
        return self._weights.explaining.probability(explaining(parts.fault, candidate))

    def _of_evidence(self, question: Wanted, failure: Asked | None, candidate: Candidate) -> float:
        """The better of how it answers the question and how it fits the failure in it, if there is one."""
        answering = self._weights.question.probability(talking(question, candidate))
        return answering if failure is None else max(answering, self._of_lesson(failure, None, candidate))

    def _of_message(self, message: Turn, failure: Asked | None, candidate: Candidate) -> float:
        by_words = candidate.symptom_similarity is None and candidate.text_similarity is None
        chosen = self._weights.message_by_words if by_words else self._weights.message
        fits = 0.0 if failure is None else self._of_lesson(failure, None, candidate)
        helps = chosen.probability(helping(message, candidate, fits))
        # The very failure is in the message: nothing that is said around it makes the memory less worth telling.
        return max(helps, fits) if candidate.exact else helps

    def _of_lesson(self, failure: Asked | None, task: Asked | None, candidate: Candidate) -> float:
        """The better of how it fits the failure and how it fits the task, whichever were asked."""
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


def _bundled(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _weights(table: dict[str, float], features: type[Features]) -> Weights:
    named = {name: table.get(name, 0.0) for name in features._fields}
    return Weights(table["bias"], features(**named))
