"""Models and the machine: what turns texts into vectors, symptoms, scores, tokens, and what tells the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from mem.domain.accepting import MadeProjection
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


class EvidenceText(NamedTuple):
    """The text of one L0 node."""

    sha: str
    text: str


class Projector(Protocol):
    """Derives what a memory would look like when it strikes."""

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:
        """The symptom lines of a memory; none where it explains no failure.

        Raises:
            Unavailable: what it asks does not answer.
            ControllerRefused: what it asks will not answer, or not in a form that can be read.
        """
        ...

    def key(self) -> ProjectorKey:
        """What a projection made now would be recorded under, besides the memory."""
        ...


class ProjectorKey(NamedTuple):
    """Names what produces a projection, and the sha256 of the prompt or rules that its text depends on."""

    model_id: str
    prompt_sha: str


class Prompt(NamedTuple):
    """A rendered prompt: what to do, what to do it with, and the JSON schema that the answer must have."""

    sha: str
    system: str
    user: str
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int


class Controller(Protocol):
    """A language model that answers with JSON."""

    @property
    def model_id(self) -> str:
        """Names the model."""
        ...

    async def answer(self, prompt: Prompt) -> str:
        """The raw text of the model's answer; whoever asked reads and validates it.

        Raises:
            Unavailable: it does not answer, or not now; or somebody has to mend address, key or model first.
            ControllerRefused: it will not answer this prompt, or sent no answer.
        """
        ...


class Fit(NamedTuple):
    """How a candidate fits one text, each 0 to 1: in meaning, by its own words, and by those around it."""

    text: float = 0.0
    words: float = 0.0
    context: float = 0.0


class Candidate(NamedTuple):
    """A node before reranking, with the evidence that the legs found for it.

    `text_similarity` is that to whatever was asked, `task_similarity` to the task alone; `words` and `context` are how
    its own words and those around it fit a question, 0 to 1. Of a section of reference these are of the headline of
    what it is to explain; `notes` and `excerpt` tell how it fits the rest. `foreign`: it is not owned by the user whose
    message is asked with; of such there may be any number, which need not have to do with this user's work.
    """

    node: StoredNode
    symptom: str
    symptom_similarity: float | None
    text_similarity: float | None
    lexical_similarity: float | None
    exact: bool
    coarse: bool
    same_tool: bool
    task_similarity: float | None = None
    words: float | None = None
    context: float | None = None
    notes: Fit | None = None
    excerpt: Fit | None = None
    foreign: bool = False


class Fault(NamedTuple):
    """What documentation is to explain: a message, what is said besides, and code; of a question its text alone."""

    headline: str
    notes: str = ""
    excerpt: str = ""


class RerankQuery(NamedTuple):
    """What the caller asked, as one text, and the tool it concerns.

    `failure` and `task` are its parts, where it has them; without either all of it is taken for a failure. `fault` is
    what a question asks of documentation. `message` is a user's next turn: what is scored is whether a memory helps
    with it, and of the other parts only `failure` counts besides, where the message holds one.
    """

    text: str = ""
    tool: str | None = None
    failure: str | None = None
    task: str | None = None
    fault: Fault | None = None
    message: str | None = None


class Reranker(Protocol):
    """Scores candidates for a query, each by itself: its score does not depend on the others."""

    @property
    def model_id(self) -> str:
        """Names what scores."""
        ...

    @property
    def most(self) -> int | None:
        """How many candidates of one query it should be given, since it has a deadline; None: any number."""
        ...

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability of relevance for each candidate, in their order, never normalised over them.

        Raises:
            Unavailable: it gave none, or not in time; says which reranker that is, and what to mend.
        """
        ...
