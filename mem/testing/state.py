"""What all fakes share: one state, one lock, one clock, and the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from mem.domain.accepting import Projection
from mem.domain.errors import NotFound
from mem.domain.journal import GENESIS, Entry, Head, Record, chain_sha, record_body
from mem.domain.nodes import Node, StoredNode
from mem.domain.signatures import Signature
from mem.ports import Clock, HeldDocument, LedgerKey, Reach, Skill
from mem.writing.snapshot import headline


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 7, 2, 12, 0, 0, tzinfo=UTC)

    def now(self) -> datetime:
        """The time that was set."""
        return self._now

    def advance(self, step: timedelta) -> None:
        """Move on."""
        self._now += step


class Answered(NamedTuple):
    """A row of the ledger."""

    fingerprint: str
    response: bytes
    expires_at: datetime


class Occurrence(NamedTuple):
    """Names one sighting of a signature."""

    project: str
    operation: str
    request_id: str
    sig_sha: str


class HeldSkill(NamedTuple):
    """A skill with its vector; one that was removed stays for the number of its revision."""

    skill: Skill
    revision: int
    model_id: str
    vector: list[float]
    removed: bool = False


class SnapshotLine(NamedTuple):
    """What a user's summary says of a lesson, and the number of the record that appended it."""

    seq: int
    line: str


class DocumentRevision(NamedTuple):
    """A document of reference, and how often it was added, changed or removed."""

    held: HeldDocument
    revision: int


class FakeState:
    """The shared memory of the fakes; every method of a fake holds `lock` while it changes something."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or FakeClock()
        self.lock = asyncio.Lock()
        self.records: list[Record] = []
        self.by_key: dict[str, Record] = {}
        self.nodes: dict[str, Node] = {}
        self.superseded_by: dict[str, str] = {}
        self.edges: dict[str, set[str]] = {}
        self.projections: dict[str, Projection] = {}
        self.embeddings: dict[tuple[str, str], list[float]] = {}
        self.model: tuple[str, int] | None = None
        self.passages: dict[str, tuple[str, ...]] = {}
        self.vectors: dict[tuple[str, str, int], list[float]] = {}
        self.signatures: dict[str, Signature] = {}
        self.links: set[tuple[str, str]] = set()
        self.occurrences: dict[Occurrence, date] = {}
        self.ledger: dict[LedgerKey, Answered] = {}
        self.returned: set[tuple[str, str]] = set()
        self.skills: dict[tuple[str, str], HeldSkill] = {}
        self.documents: dict[tuple[str, str], DocumentRevision] = {}
        self.removed: set[str] = set()
        self.snapshots: dict[str, SnapshotLine] = {}

    def append(self, entry: Entry) -> Record:
        """Append a record, or return the one that has the key."""
        if entry.key in self.by_key:
            return self.by_key[entry.key]
        head = self.head()
        seq, time = head.length + 1, self.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        sha = chain_sha(head.sha, record_body(entry, seq=seq, time=time))
        record = Record(sha=sha, previous=head.sha, seq=seq, time=time, **entry.model_dump())
        self.records.append(record)
        self.by_key[entry.key] = record
        return record

    def head(self) -> Head:
        """Length of the journal and sha of its last record."""
        return Head(len(self.records), self.records[-1].sha if self.records else GENESIS)

    def supersede(self, shas: Iterable[str], successor: str) -> None:
        """Name the successor of nodes, which leave their owners' summaries; what has one keeps it."""
        for sha in shas:
            self.superseded_by.setdefault(sha, successor)
            self.snapshots.pop(sha, None)

    def note(self, sha: str, seq: int) -> None:
        """Enter a live lesson into its owner's summary."""
        if sha not in self.superseded_by:
            self.snapshots[sha] = SnapshotLine(seq, headline(self.nodes[sha].text))

    def require(self, shas: Iterable[str]) -> None:
        """Refuse what needs nodes that do not exist.

        Raises:
            NotFound: one of them does not.
        """
        if missing := sorted(set(shas) - set(self.nodes)):
            raise NotFound(f"No node {missing[0]}.", "Accept it first, or name another.")

    def visible(self, sha: str, reach: Reach) -> bool:
        """Whether a read within `reach` may see a node."""
        node = self.nodes[sha]
        return sha not in self.removed and node.visibility == "global" and within(node.project, reach)

    def stored(self, sha: str) -> StoredNode:
        """A node as a store knows it."""
        successor, removed = self.superseded_by.get(sha), sha in self.removed
        return StoredNode(**self.nodes[sha].model_dump(), stored_sha=sha, superseded_by=successor, removed=removed)

    def embedded_of(self, sha: str) -> tuple[str, ...]:
        """What is embedded of a node: its passages, or its text."""
        return self.passages.get(sha, (self.nodes[sha].text,))

    def of_another_project(self, sha: str, project: str) -> bool:
        """Whether a node exists in another project than this."""
        return sha in self.nodes and self.nodes[sha].project != project


class FakeJournal:
    """The journal port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def record(self, entry: Entry) -> Record:
        """Append `entry`, or return the record that already has its key."""
        async with self._state.lock:
            return self._state.append(entry)

    async def find(self, key: str) -> Record | None:
        """The record with that key."""
        return self._state.by_key.get(key)

    async def read(self, *, after: int = 0) -> AsyncIterator[Record]:
        """All records in order, beginning behind sequence number `after`."""
        for record in self._state.records[after:]:
            yield record

    async def head(self) -> Head:
        """Length of the journal and sha of its last record."""
        return self._state.head()


def within(project: str, reach: Reach) -> bool:
    """Whether what belongs to a project, or to all of them, is within reach."""
    return reach.seen is None or project in reach.seen
