"""What the tests of rebuilding share: a journal with everything in it, and rebuilds and checks from end to end."""

from __future__ import annotations

import itertools
from datetime import timedelta

from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node
from mem.domain.regenerating import Proposal
from mem.domain.replaying import Shadow, TableReport
from mem.ports import Document, LedgerKey, ProjectorKey, Reach, Settlement, Skill
from mem.store.pool import Pool
from mem.store.proposals import PostgresProposals
from mem.store.rebuilding import PostgresRebuilding
from tests.contract.parts import Parts, signature

_RUNS = itertools.count()


def new_run(*, check: bool, nightly: bool = False) -> Shadow:
    return Shadow(run=f"run-{next(_RUNS)}", check=check, nightly=nightly)


async def filled(pool: Pool, shadow: Shadow, page: int = 7) -> PostgresRebuilding:
    """A rebuild whose tables have all records."""
    rebuilding = PostgresRebuilding(pool)
    at = await rebuilding.begin(shadow)
    while at.seq < at.length:
        at = await rebuilding.replay(shadow, page)
    return rebuilding


async def indexed(pool: Pool, shadow: Shadow, page: int = 7) -> PostgresRebuilding:
    """A rebuild that is ready to take the place of the live tables."""
    rebuilding = await filled(pool, shadow, page)
    while await rebuilding.index(shadow):
        pass
    assert await rebuilding.index(shadow) == 0
    return rebuilding


async def check(pool: Pool, *, page: int = 7) -> dict[str, TableReport]:
    """A check from the first record to the last; its reports by table."""
    shadow = new_run(check=True)
    rebuilding = await filled(pool, shadow, page)
    report = await rebuilding.compare(shadow)
    await rebuilding.discard(shadow)
    return {table.table: table for table in report.tables}


async def rebuild(pool: Pool, *, page: int = 7) -> None:
    """A rebuild from the first record to the swap."""
    shadow = new_run(check=False)
    rebuilding = await indexed(pool, shadow, page)
    await rebuilding.swap(shadow)
    await rebuilding.discard(shadow)


PAGE = """\
A page that explains what happened in two paragraphs, each of them long enough to stand for itself, as is this one.

```
# what happened is told here
```
"""
"""A section that is found by several passages."""


def different(tables: dict[str, TableReport]) -> dict[str, list[tuple[str, str]]]:
    """The differences by table; empty where all is the same."""
    return {
        name: [(one.what, one.key) for one in table.differences]
        for name, table in tables.items()
        if table.digest != table.replayed_digest or table.differing
    }


def digests(tables: dict[str, TableReport]) -> dict[str, str]:
    return {name: table.digest for name, table in tables.items()}


async def embed_all(parts: Parts, shas: list[str]) -> None:
    """The text vectors of nodes and of the evidence below them, and those of their projections."""
    for sha in list(shas):
        shas += [node.stored_sha for node in await parts.memories.evidence(sha)]
    texts = {sha: node.text for sha, node in (await parts.memories.nodes(shas)).items()}
    await parts.memories.put_vectors("text", texts, parts.embedder)
    # Superseded ones, too: a replay makes a vector of each text that was embedded, whichever memory that was for.
    told = {sha: await parts.memories.projection(sha) for sha in shas}
    symptoms = {sha: found.text for sha, found in told.items() if found is not None and found.text}
    await parts.memories.put_vectors("symptom", symptoms, parts.embedder)


async def regenerate(pool: Pool, parts: Parts, proposed: dict[str, str]) -> None:
    """New projections, proposed and applied."""
    proposals, run = PostgresProposals(pool, parts.clock), f"run-{next(_RUNS)}"
    await proposals.begin(run, ProjectorKey("m3", "p"), keep=False)
    for sha, text in proposed.items():
        made = MadeProjection(text=text, model_id="m3", prompt_sha="p")
        recorded = await parts.memories.projection(sha)
        await proposals.put(run, Proposal(sha=sha, recorded=recorded, proposed=made))
        await proposals.apply(run, sha, parts.embedder)
    await proposals.close(run)


async def write_reference(parts: Parts) -> None:
    """A document of which a chunk was replaced, one that was removed, and one that came back; all had vectors."""
    for source, *revisions in (
        ("new.md", ["one", "kept"], ["two", "kept"]),
        ("gone.md", ["x"], []),
        ("back.md", ["y"], [], ["y"]),
    ):
        for texts in revisions:
            nodes = tuple(Node(level="R", project="q", text=text, source=source) for text in texts)
            await parts.memories.put_vectors("text", {}, parts.embedder)
            await parts.reference.embed(texts, parts.embedder)
            await parts.reference.put([Document("q", source, nodes, "origin")])


async def write_some(parts: Parts) -> list[str]:
    """A journal with a record of every kind that has an effect; the shas of its lessons."""
    one = await parts.accept("one", evidence_texts=("it failed", "again"))
    other = await parts.accept("other", project="q", visibility="user", owner="ann")
    await parts.users.refresh_snapshot(other)
    bens = [await parts.accept(text, visibility="container", owner="ben", container="c") for text in ("b1", "b2")]
    await parts.users.refresh_snapshot(bens[0])
    await parts.memories.supersede(*bens)
    two = await parts.accept("two", supersedes=(one,))
    top = await parts.accept("top", level="L2", parents=(two,))
    await parts.accept("ONE ", request_id="again", evidence_texts=("once more",))
    for sha, lines in {one: "E1\nE2", other: "", two: "E3"}.items():
        await parts.memories.put_projection(sha, MadeProjection(text=lines, model_id="m", prompt_sha="p"))
    await parts.memories.put_projection(two, MadeProjection(text="later", model_id="m2", prompt_sha="p"))
    chunks = [Node(level="R", project="*", text=text, source="doc.md") for text in ("page", PAGE)]
    await parts.document(*chunks, source="doc.md")
    await parts.reference.complete([chunk.sha for chunk in chunks], parts.embedder)
    await write_reference(parts)
    await embed_all(parts, [one, other, two, top, *bens])
    # Once it has vectors, which are then retired.
    higher = await parts.accept("higher", level="L2", parents=(two,), supersedes=(top,))
    await embed_all(parts, [higher])
    left, right = [await parts.accept(text) for text in ("Pin the peer range.", "Raise the memory limit.")]
    await embed_all(parts, [left, right])
    await parts.memories.supersede(left, right)
    found = [signature("a"), signature("b", tool="go")]
    await parts.failures.link(project="p", request_id="1", sha=one, signatures=found)
    parts.clock.advance(timedelta(days=3))
    seen = signature("a", excerpt="late"), signature("c")
    settlement = Settlement(LedgerKey("context", "q", "1"), "f", seen, Reach("q", federated=False), (two, other))
    await parts.ledger.settle(settlement, lambda _: b"")
    await parts.failures.relink(two, [signature("a", message="corrected", algo=2), signature("d", algo=2)])
    for body in ("one", "two", "one"):
        await parts.skills.put(Skill("triage", "looks at logs", body, "*"), parts.embedder)
    for name in ("gone", "back"):
        await parts.skills.put(Skill(name, f"{name} for now", "steps", "p"), parts.embedder)
        await parts.skills.remove("p", name)
    await parts.skills.put(Skill("back", "back again", "steps", "p"), parts.embedder)
    return [one, other, two, top]
