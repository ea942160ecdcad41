"""The parts that a contract test runs against, and what it makes nodes and signatures with."""

from __future__ import annotations

from typing import NamedTuple

from mem.domain.journal import same_journal_form
from mem.domain.nodes import Node
from mem.domain.signatures import Signature
from mem.ports import AppendPlan, Document, Failures, Journal, Ledger, Memories, Reference, Showing, Skills, Users
from mem.store.failures import PostgresFailures
from mem.store.journal import PostgresJournal
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.reference import PostgresReference
from mem.store.showing import PostgresShowing
from mem.store.skills import PostgresSkills
from mem.store.users import PostgresUsers
from mem.testing import (
    FakeClock,
    FakeEmbedder,
    FakeFailures,
    FakeJournal,
    FakeLedger,
    FakeMemories,
    FakeReference,
    FakeShowing,
    FakeSkills,
    FakeState,
    FakeUsers,
)


class Parts(NamedTuple):
    journal: Journal
    memories: Memories
    failures: Failures
    ledger: Ledger
    skills: Skills
    showing: Showing
    clock: FakeClock
    embedder: FakeEmbedder
    reference: Reference
    users: Users

    async def accept(self, text: str, *, request_id: str = "", project: str = "p", **fields) -> str:
        """Append a lesson with one record of evidence; its sha."""
        plan = lesson_plan(text, request_id=request_id or text, project=project, **fields)
        return (await self.memories.append(plan)).sha

    async def document(self, *nodes: Node, source: str = "doc") -> int:
        """Make a document consist of these chunks; how many of them it did not have before."""
        (change,) = await self.reference.put([Document(nodes[0].project, source, nodes)])
        return change.added

    async def bodies(self) -> list[bytes]:
        """The journal as two runs compare it."""
        return sorted([same_journal_form(record) async for record in self.journal.read()])


def fake_parts() -> Parts:
    clock = FakeClock()
    state = FakeState(clock)
    return Parts(
        FakeJournal(state), FakeMemories(state), FakeFailures(state), FakeLedger(state), FakeSkills(state),
        FakeShowing(state), clock, FakeEmbedder(), FakeReference(state),
        FakeUsers(state),
    )  # fmt: skip


def postgres_parts(pool, **options) -> Parts:
    clock = FakeClock()
    return Parts(
        PostgresJournal(pool, clock), PostgresMemories(pool, clock, **options), PostgresFailures(pool, clock),
        PostgresLedger(pool, clock), PostgresSkills(pool, clock), PostgresShowing(pool), clock, FakeEmbedder(),
        PostgresReference(pool, clock), PostgresUsers(pool),
    )  # fmt: skip


def evidence(text: str, project: str = "p", source: str = "log:1", turn: int | None = 1, **fields) -> Node:
    return Node(level="L0", project=project, text=text, source=source, turn=turn, **fields)


def lesson_plan(
    text: str,
    *,
    request_id: str,
    project: str = "p",
    level: str = "L1",
    parents: tuple[str, ...] = (),
    supersedes: tuple[str, ...] = (),
    evidence_texts: tuple[str, ...] = ("it failed",),
    **fields,
) -> AppendPlan:
    node = Node(level=level, project=project, text=text, **fields)
    records = tuple(evidence(one, project, turn=turn, **fields) for turn, one in enumerate(evidence_texts))
    return AppendPlan(f"appended:accept:{project}:{request_id}", node, records, parents, supersedes)


def signature(name: str, *, coarse: str = "c", tool: str = "npm", **fields) -> Signature:
    return Signature(
        sig_sha=name, sig_coarse=coarse, tool=tool, rule=f"{tool}.rule", line_start=1, line_end=1,
        **{"message": "m", "excerpt": "e", **fields},
    )  # fmt: skip
