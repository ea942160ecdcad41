"""The fakes and Postgres write the same journal."""

from __future__ import annotations

from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node
from mem.ports import LedgerKey, Reach, Settlement, Skill
from tests.contract.parts import Parts, signature


async def _everything(parts: Parts) -> None:
    old = await parts.accept("old", evidence_texts=("x", "y"))
    new = await parts.accept("new", supersedes=(old,))
    await parts.accept("NEW", request_id="duplicate", evidence_texts=("z",))
    pinned = await parts.accept("Pin react through the overrides of npm 9.")
    await parts.accept("React: pinned through npm 9's overrides!", request_id="near", evidence_texts=("w",))
    elsewhere = await parts.accept("Prune the builder cache weekly.", project="q")
    await parts.memories.supersede(new, pinned)
    await parts.document(Node(level="R", project="*", text="r", source="doc"))
    await parts.memories.put_projection(new, MadeProjection(text="t", model_id="m", prompt_sha="s"))
    await parts.memories.put_vectors("text", {old: "one", new: "two"}, parts.embedder)
    await parts.failures.link(
        project="p", request_id="1", sha=new, signatures=[signature("b"), signature("a"), signature("b")]
    )
    settlement = Settlement(
        LedgerKey("context", "p", "1"),
        "f",
        (signature("b"), signature("a"), signature("b")),
        Reach("p", federated=True),
        (elsewhere, pinned, elsewhere),
    )
    await parts.ledger.settle(settlement, lambda _: b"")
    await parts.skills.put(Skill("s", "d", "b", "*"), parts.embedder)


async def test_same_journal(both):
    """Equal calls leave equal journals in the fakes and in Postgres, record for record."""
    fakes, postgres = both
    await _everything(fakes)
    await _everything(postgres)
    assert await fakes.bodies() == await postgres.bodies()
    assert await fakes.journal.head() == await postgres.journal.head()


async def test_repeated_calls_leave_the_same_journal(parts):
    """Everything called twice leaves the journal as it was after the first time."""
    await _everything(parts)
    before = await parts.bodies()
    await _everything(parts)
    assert await parts.bodies() == before
