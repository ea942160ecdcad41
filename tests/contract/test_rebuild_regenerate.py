"""Projections that were made anew: kept apart, and put in the place of the recorded ones only when asked for."""

from __future__ import annotations

import pytest

from mem.domain.accepting import MadeProjection, Projection
from mem.domain.errors import NotFound
from mem.domain.regenerating import Proposal
from mem.ports import ProjectorKey, Reach
from mem.store.proposals import PostgresProposals
from tests.contract.parts import Parts, postgres_parts
from tests.contract.rebuilding import check, different, embed_all

KEY = ProjectorKey("m", "p")
HERE = Reach("p", federated=False)


def made(text: str, model_id: str = "m") -> MadeProjection:
    return MadeProjection(text=text, model_id=model_id, prompt_sha="p")


@pytest.fixture
def parts(pool) -> Parts:
    return postgres_parts(pool)


@pytest.fixture
def proposals(pool, parts) -> PostgresProposals:
    return PostgresProposals(pool, parts.clock)


@pytest.fixture
async def sha(parts) -> str:
    """A memory with a projection and its vector."""
    sha = await parts.accept("lesson")
    await parts.memories.put_projection(sha, made("old words", "m0"))
    await embed_all(parts, [sha])
    return sha


async def propose(proposals: PostgresProposals, parts: Parts, sha: str, text: str, run: str = "r") -> Proposal:
    recorded = await parts.memories.projection(sha)
    proposal = Proposal(sha=sha, recorded=recorded, proposed=made(text))
    await proposals.begin(run, KEY, keep=False)
    await proposals.put(run, proposal)
    return proposal


async def test_a_proposal_changes_nothing(pool, parts, proposals, sha):
    """Neither projection nor vector nor journal, until it is applied."""
    before = await parts.bodies()
    proposal = await propose(proposals, parts, sha, "new words")
    assert await proposals.page("", 9) == [proposal]
    assert (await parts.memories.projection(sha)).text == "old words"
    assert await parts.bodies() == before
    assert different(await check(pool)) == {}


async def test_an_applied_proposal_replaces_text_and_vector(pool, parts, proposals, sha):
    """It is journaled under a key of its own, found by its new words at once, and replays."""
    await propose(proposals, parts, sha, "new words")
    assert await proposals.apply("r", sha, parts.embedder)
    assert await parts.memories.projection(sha) == Projection(text="new words", model_id="m", prompt_sha="p")
    (hit,) = await parts.memories.nearest("symptom", ["L1"], parts.embedder.vector("new words"), HERE, 9)
    assert (hit.sha, round(hit.similarity, 2)) == (sha, 1.0)
    assert await parts.memories.lexical("new words", ["L1"], HERE, 9)
    record = await parts.journal.find(f"projection:regenerated:{sha}:1")
    assert (record.data["text"], record.data["model_id"]) == ("new words", "m")
    assert different(await check(pool)) == {}


async def test_an_empty_proposal_removes_the_vector(pool, parts, proposals, sha):
    """A memory that explains no failure after all is not found by symptoms any more."""
    await propose(proposals, parts, sha, "")
    assert await proposals.apply("r", sha, parts.embedder)
    assert await parts.memories.vector_kinds(sha) == ["text"]
    assert await parts.memories.lexical("old words", ["L1"], HERE, 9) == []
    assert different(await check(pool)) == {}


async def test_applying_again_does_nothing(parts, proposals, sha):
    """A step that is repeated finds what it did, without asking a model."""
    await propose(proposals, parts, sha, "new words")
    assert await proposals.apply("r", sha, parts.embedder)
    before, calls = await parts.bodies(), parts.embedder.calls
    assert not await proposals.apply("r", sha, parts.embedder)
    assert (await parts.bodies(), parts.embedder.calls) == (before, calls)


async def test_projections_may_return(pool, parts, proposals, sha):
    """What was regenerated can be regenerated again, to an earlier text too; the last one stands after a replay."""
    for number, text in enumerate(("new words", "old words", "", "new words")):
        await propose(proposals, parts, sha, text, run=f"r{number}")
        assert await proposals.apply(f"r{number}", sha, parts.embedder)
        assert different(await check(pool)) == {}
    keys = [record.key async for record in parts.journal.read() if "regenerated" in record.key]
    assert keys == [f"projection:regenerated:{sha}:{number}" for number in (1, 2, 3, 4)]


async def test_a_late_first_projection_does_not_come_back(pool, parts, proposals, sha):
    """What a slow acceptance records under another prompt afterwards does not replace what was applied."""
    await propose(proposals, parts, sha, "new words")
    await proposals.apply("r", sha, parts.embedder)
    await parts.memories.put_projection(sha, made("slow", "m9"))
    assert (await parts.memories.projection(sha)).text == "new words"
    assert different(await check(pool)) == {}


async def test_what_was_shown_is_what_is_applied(parts, proposals, sha):
    """Proposals of the last run under the same model and prompt are kept, for as long as nobody applied them."""
    await propose(proposals, parts, sha, "shown")
    await proposals.begin("r2", KEY, keep=True)
    assert await proposals.made([sha]) == {sha}
    await proposals.close("r2")
    await proposals.begin("r3", KEY, keep=True)
    assert await proposals.made([sha]) == set()


@pytest.mark.parametrize(("key", "keep"), [(KEY, False), (KEY._replace(prompt_sha="p2"), True)])
async def test_a_new_question_begins_anew(parts, proposals, sha, key, keep):
    """To ask again, or under another prompt, throws away what was proposed before."""
    await propose(proposals, parts, sha, "shown")
    await proposals.begin("r2", key, keep=keep)
    assert await proposals.page("", 9) == []


async def test_the_first_proposal_of_a_run_stands(parts, proposals, sha):
    """A model that answers otherwise when a step is repeated changes nothing of what was shown."""
    first = await propose(proposals, parts, sha, "first")
    await proposals.begin("r", KEY, keep=False)
    await proposals.put("r", first.model_copy(update={"proposed": made("second")}))
    assert await proposals.page("", 9) == [first]


async def test_a_run_that_was_overtaken_writes_nothing(parts, proposals, sha):
    """A worker that comes late neither proposes nor applies."""
    proposal = await propose(proposals, parts, sha, "late")
    await proposals.begin("r2", KEY, keep=True)
    with pytest.raises(NotFound, match="Another regeneration"):
        await proposals.put("r", proposal)
    with pytest.raises(NotFound, match="Another regeneration"):
        await proposals.apply("r", sha, parts.embedder)
    with pytest.raises(NotFound, match="Nothing is proposed"):
        await proposals.apply("r2", "f" * 64, parts.embedder)


async def test_a_refusal_leaves_what_is_recorded(parts, proposals, sha):
    """It is kept with its reason, to be shown, and there is nothing to apply."""
    await proposals.begin("r", KEY, keep=False)
    refused = Proposal(sha=sha, recorded=await parts.memories.projection(sha), proposed=None, refused="too long")
    await proposals.put("r", refused)
    assert await proposals.page("", 9) == [refused]
    assert not await proposals.apply("r", sha, parts.embedder)
    assert (await parts.memories.projection(sha)).text == "old words"
