"""What the use cases need from the outside, as protocols. Every method is safe to repeat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from mem.domain.accepting import LinkedSignature, Projection
from mem.domain.journal import Entry, Head, Record
from mem.domain.nodes import Level, Node, Parent, StoredNode, VectorKind
from mem.domain.signatures import Signature

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


class Journal(Protocol):
    """The append-only log."""

    async def record(self, entry: Entry) -> Record:
        """Append `entry`, or return the record that already has its key."""
        ...

    async def find(self, key: str) -> Record | None:
        """The record with that key."""
        ...

    def read(self, *, after: int = 0) -> AsyncIterator[Record]:
        """All records in order, beginning behind sequence number `after`."""
        ...

    async def head(self) -> Head:
        """Length of the journal and sha of its last record."""
        ...


class Reach(NamedTuple):
    """Whose memories a read may see: one project or all of them, shared ones always, of visibility `global`."""

    project: str
    federated: bool


class AppendPlan(NamedTuple):
    """An accepted candidate, ready to be appended in one transaction."""

    key: str
    node: Node
    evidence: tuple[Node, ...]
    parents: tuple[str, ...]
    supersedes: tuple[str, ...]


class Appended(NamedTuple):
    """What the transaction did.

    `duplicate_of` is set when an equal live node was there first, `overtaken_by` when another memory superseded first
    what this one was to supersede; nothing was written then, and `sha` is of the node that stands.
    """

    sha: str
    evidence: tuple[str, ...]
    duplicate_of: str | None
    overtaken_by: str | None = None


class VectorHit(NamedTuple):
    """A node near a query; `similarity` is the cosine, or the trigram similarity of the lexical leg."""

    sha: str
    similarity: float


class KnownHit(NamedTuple):
    """A node that a signature points at."""

    sig_sha: str
    sha: str


class CoarseHit(NamedTuple):
    """A node whose signature agrees with one of the query's in all but versions, test ids and symbols."""

    sig_coarse: str
    sha: str


class Lineage(NamedTuple):
    """A live node that stands for a hit, and the superseded shas between the two, oldest first."""

    node: StoredNode
    supersedes: tuple[str, ...]


class Memories(Protocol):
    """Nodes, edges, projections and vectors."""

    async def resolve(self, prefix: str) -> str:
        """The full sha that begins with `prefix`.

        Raises:
            NotFound: no node does.
            AmbiguousPrefix: several do.
            InvalidRequest: `prefix` is no hex of 4 to 64 digits.
        """
        ...

    async def nodes(self, shas: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes that exist among `shas`."""
        ...

    async def live_duplicate(self, node: Node) -> str | None:
        """The live node equal to `node` but for white space and case, in the same project, visibility and owner."""
        ...

    async def successor(self, sha: str) -> str | None:
        """The newest live successor of a superseded node."""
        ...

    async def append(self, plan: AppendPlan) -> Appended:
        """Append nodes, edges, supersessions and the journal record `plan.key`, or return what was appended first.

        Takes an advisory lock of the project and checks for a duplicate again.
        """
        ...

    async def add_reference(self, nodes: Sequence[Node], source: str) -> int:
        """Add reference chunks of one source, with their journal record; the number of new ones."""
        ...

    async def put_projection(self, sha: str, projection: Projection) -> Projection:
        """Record a projection once per (sha, prompt sha, model id); returns the recorded one."""
        ...

    async def projection(self, sha: str) -> Projection | None:
        """The projection of a node, which may be empty; None where none was made yet."""
        ...

    async def put_vectors(self, kind: VectorKind, texts: Mapping[str, str], embedder: Embedder) -> None:
        """Embed the text given for each node sha and store the vectors.

        An embedding recorded before under (model id, text sha) is replayed; a new one is recorded in the journal.
        """
        ...

    async def vector_kinds(self, sha: str) -> list[VectorKind]:
        """Which vectors a node has, `text` first."""
        ...

    async def evidence(self, sha: str) -> list[StoredNode]:
        """The L0 nodes below a node, through L1 parents for an L2, in order of source, turn and sha."""
        ...

    async def parents(self, shas: Sequence[str]) -> dict[str, list[Parent]]:
        """The direct parents of each node, in order of level, source, turn and sha."""
        ...

    async def lineages(self, shas: Sequence[str]) -> dict[str, Lineage]:
        """For each sha the live node that stands for it; a superseded one without a live successor is left out."""
        ...

    async def nearest(
        self, kind: VectorKind, levels: Sequence[Level], vector: Vector, reach: Reach, limit: int
    ) -> list[VectorHit]:
        """The nearest nodes by cosine, best first, superseded ones included, ties by sha."""
        ...

    async def lexical(self, text: str, levels: Sequence[Level], reach: Reach, limit: int) -> list[VectorHit]:
        """The nodes whose text or projection is most similar by trigrams, best first, ties by sha."""
        ...

    async def projections(self, shas: Sequence[str]) -> dict[str, str]:
        """The non-empty projection texts among `shas`."""
        ...

    async def by_tool(self, tool: str, reach: Reach, limit: int) -> list[str]:
        """Live lessons whose signatures carry the tool: the own project first, then by occurrences, then by sha."""
        ...


class Seen(NamedTuple):
    """How often a signature was seen within a reach, and the UTC date of the last time."""

    times: int
    last: str | None


class Failures(Protocol):
    """Signatures, their links to memories, and their occurrences."""

    async def link(
        self, *, project: str, request_id: str, sha: str, signatures: Sequence[Signature]
    ) -> list[LinkedSignature]:
        """Link signatures to a memory, count the acceptance as a sighting of each, and journal both once.

        Returns the recorded links, in the order first given.
        """
        ...

    async def linked(self, sha: str) -> list[LinkedSignature]:
        """The signatures that point at a memory, ordered by sig_sha."""
        ...

    async def known(self, sig_shas: Sequence[str], reach: Reach) -> list[KnownHit]:
        """The nodes that the signatures point at, superseded ones included, ordered by signature and sha."""
        ...

    async def coarse(self, sig_coarse: Sequence[str], reach: Reach, limit: int) -> list[CoarseHit]:
        """The nodes with a signature of equal coarse key, ordered by coarse key and sha."""
        ...

    async def seen(self, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
        """The counts of each signature; zero where it was never seen."""
        ...


class LedgerKey(NamedTuple):
    """Names one answered request."""

    operation: str
    scope: str
    request_id: str


class Settlement(NamedTuple):
    """A lookup to be counted and stored in one transaction."""

    key: LedgerKey
    fingerprint: str
    sightings: tuple[Signature, ...]
    reach: Reach


class Ledger(Protocol):
    """Answered requests: the same bytes for the same request."""

    async def find(self, key: LedgerKey, fingerprint: str) -> bytes | None:
        """The stored response.

        Raises:
            RequestConflict: the request id was answered for another body.
        """
        ...

    async def store(self, key: LedgerKey, fingerprint: str, response: bytes) -> bytes:
        """Store a response, or return the one stored first.

        Raises:
            RequestConflict: as for `find`.
        """
        ...

    async def settle(self, settlement: Settlement, render: Callable[[Mapping[str, Seen]], bytes]) -> bytes:
        """Count the sightings, journal them, and store the response, in one transaction.

        `render` gets the counts with the current call in them and makes the response; where the request was answered
        before it is not called, nothing is counted, and the stored response returns.

        Raises:
            RequestConflict: as for `find`.
        """
        ...

    async def expire(self, *, limit: int = 1000) -> int:
        """Delete a batch of expired rows; how many went."""
        ...


class Skill(NamedTuple):
    """A skill: what an agent can do about a kind of work."""

    name: str
    description: str
    body: str
    project: str


class Skills(Protocol):
    """Skills and their vectors."""

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed."""
        ...

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""
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
