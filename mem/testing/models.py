"""Fakes of what asks a model: equal input, equal output, and no network."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.domain.canonical import sha256_hex
from mem.ports import Candidate, EvidenceText, ProjectorKey, RerankQuery

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Adds up a direction for each word, so texts that share words are near each other.

    `calls` counts the texts that were embedded, by which a test sees what was replayed.
    """

    def __init__(self, dimensions: int = 64, model_id: str = "fake-embedder-1") -> None:
        self.model_id = model_id
        self.dimensions = dimensions
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text."""
        self.calls += len(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        """The unit vector of a text; one without words points along the first axis."""
        total = [0.0] * self.dimensions
        for word in words(text):
            for axis, weight in enumerate(self._direction(word)):
                total[axis] += weight
        length = math.sqrt(sum(weight * weight for weight in total))
        if length == 0.0:
            return [1.0] + [0.0] * (self.dimensions - 1)
        return [weight / length for weight in total]

    def _direction(self, word: str) -> list[float]:
        raw = hashlib.shake_256(word.encode("utf-8")).digest(self.dimensions)
        return [(byte - 127.5) / 127.5 for byte in raw]


class FakeTokens:
    """Counts words."""

    name = "words"

    def count(self, text: str) -> int:
        """The number of words of `text`."""
        return len(text.split())


class FakeProjector:
    """Takes the lines of the evidence that say `error`."""

    def key(self) -> ProjectorKey:
        """Names this fake."""
        return ProjectorKey("fake-projector-1", sha256_hex("lines that say error"))

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:  # noqa: ARG002 - the port's signature
        """The symptom lines of a memory; none where it explains no failure."""
        lines = {
            line: SymptomLine(text=line, origin="evidence", evidence_sha=one.sha, line=number)
            for one in evidence
            for number, line in enumerate(one.text.splitlines(), 1)
            if "error" in line.lower()
        }
        return MadeProjection.of(list(lines.values()), **self.key()._asdict())


class FakeReranker:
    """Scores by the share of the query's words that a candidate has."""

    model_id = "fake-reranker-1"

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability of relevance for each candidate, in their order."""
        asked = set(words(query.text))
        return [
            len(asked & set(words(f"{one.node.text}\n{one.symptom}"))) / len(asked) if asked else 0.0
            for one in candidates
        ]


def words(text: str) -> list[str]:
    """The words of a text without case."""
    return _WORD.findall(text.casefold())
