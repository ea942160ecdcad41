"""Models and the machine: what turns texts into vectors, symptoms, scores, tokens, and what tells the time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from mem.domain.nodes import StoredNode

Vector = Sequence[float]


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def model_id(self) -> str:
        """Names model, file and runtime: equal ids promise equal vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text."""
        ...


class TokenCounter(Protocol):
    """Counts tokens as the caller's model would."""

    @property
    def name(self) -> str:
        """The tokenizer's public name."""
        ...

    def count(self, text: str) -> int:
        """The number of tokens of `text`."""
        ...


class Projector(Protocol):
    """Derives what a memory would look like when it strikes."""

    @property
    def model_id(self) -> str:
        """Names what produces the text."""
        ...

    @property
    def prompt_sha(self) -> str:
        """The sha256 of the prompt or rules that the text depends on."""
        ...

    async def project(self, text: str, evidence: Sequence[str]) -> str:
        """The symptom lines of a memory, joined by newlines; empty where it explains no failure."""
        ...


class Candidate(NamedTuple):
    """A node before reranking, with the evidence that the legs found for it."""

    node: StoredNode
    symptom: str
    symptom_similarity: float | None
    text_similarity: float | None
    lexical_similarity: float | None
    exact: bool
    coarse: bool
    same_tool: bool


class RerankQuery(NamedTuple):
    """What the caller asked, as one text, and the tool it concerns."""

    text: str
    tool: str | None


class Reranker(Protocol):
    """Scores candidates for a query."""

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability of relevance for each candidate, in their order, never normalised over them."""
        ...
