"""The acceptance rate, from a journal in Postgres."""

from __future__ import annotations

import pytest

from mem.domain.acceptance_rate import AcceptanceRate
from mem.domain.accepting import AcceptInput, AcceptStep
from mem.ports import AppendPlan
from mem.store.acceptance_rate import acceptance_rate
from mem.store.queries import sql
from mem.writing.candidate import load_candidate, record_candidate
from mem.writing.entries import appended_key
from mem.writing.gate import gate
from tests.contract.parts import Parts, postgres_parts

PINNED = "Pin @types/react through overrides, because its peer range excludes react 19."
REWORDED = "The peer range of @types/react excludes react 19: pin it through `overrides`."
EVIDENCE = [{"source": "ci", "text": "it failed"}]


async def _hand_in(
    parts: Parts, request_id: str, text: str, *, judge: bool = True, append: bool = True, **fields
) -> None:
    given = {"level": "L1", "evidence": EVIDENCE, **fields}
    request = {"request_id": request_id, "project": "p", "text": text, **given}
    await record_candidate(parts.journal, AcceptInput.model_validate(request))
    if not judge:
        return
    step = AcceptStep(project="p", request_id=request_id)
    candidate = await load_candidate(parts.journal, step)
    verdict = await gate(parts.journal, parts.memories, step, candidate)
    if append and (verdict.accept or verdict.duplicate_of is not None):
        key = appended_key("p", request_id)
        plan = AppendPlan(key, candidate.node, candidate.evidence, candidate.parents, candidate.supersedes)
        await parts.memories.append(plan._replace(duplicate_of=verdict.duplicate_of))


async def test_nothing_was_handed_in(database_url):
    """An empty journal has no rate."""
    assert await acceptance_rate(database_url) == AcceptanceRate()
    assert AcceptanceRate().share is None


async def test_each_end_is_counted(pool, database_url):
    """Accepted, rejected and duplicate candidates are told apart, also where the end was found while appending."""
    parts = postgres_parts(pool)
    await _hand_in(parts, "kept", PINNED)
    await _hand_in(parts, "trivial", "Fixed.")
    await _hand_in(parts, "nothing", "Prune the builder cache weekly.", evidence=[])
    await _hand_in(parts, "judged a duplicate", REWORDED)
    await _hand_in(parts, "late", "Drop the retry in the payment client.", append=False)
    assert await acceptance_rate(database_url) == AcceptanceRate(accepted=1, rejected=2, duplicate=1, pending=1)
    await parts.accept("Drop retries in the payment client.", request_id="first")
    await _hand_in(parts, "late", "Drop the retry in the payment client.")
    found = await acceptance_rate(database_url)
    assert found == AcceptanceRate(accepted=1, rejected=2, duplicate=2)
    assert found.share == 0.2


async def test_the_end_of_who_was_overtaken(pool, database_url):
    """A candidate whose memory to supersede went to another one while it was appended counts as rejected."""
    parts = postgres_parts(pool)
    old = await parts.accept("Drop the retry in the payment client.")
    await _hand_in(parts, "late", PINNED, supersedes=[old], append=False)
    await parts.accept("Keep the retry in the payment client.", supersedes=(old,))
    await _hand_in(parts, "late", PINNED, supersedes=[old])
    assert await acceptance_rate(database_url) == AcceptanceRate(rejected=1)


async def test_a_candidate_that_nobody_could_judge_yet_is_pending(pool, database_url):
    """While a gate cannot speak, what waits for it is counted, in no share, until it has ended."""
    parts = postgres_parts(pool)
    await _hand_in(parts, "waiting", PINNED, judge=False)
    assert await acceptance_rate(database_url) == AcceptanceRate(pending=1)
    await _hand_in(parts, "waiting", PINNED)
    assert await acceptance_rate(database_url) == AcceptanceRate(accepted=1)


async def test_only_the_last_candidates_are_looked_at(pool, database_url):
    """However long the journal, the answer is of a bounded part of it, found by an index."""
    parts = postgres_parts(pool)
    await _hand_in(parts, "old", PINNED)
    for number in range(3):
        await _hand_in(parts, str(number), "Fixed.")
    assert await acceptance_rate(database_url, last=3) == AcceptanceRate(rejected=3)
    async with pool.connection() as connection:
        await connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        asked = connection.execute(b"EXPLAIN " + sql("journal.outcomes").encode(), {"last": 3})
        plan = "\n".join(row[0] for row in await (await asked).fetchall())
    assert "Index Scan Backward using journal_candidates" in plan
    assert plan.count("Index Scan using journal_key_key") == 2


@pytest.mark.parametrize("url", ["postgresql://mem@127.0.0.1:1/nothing", "no url at all"])
async def test_a_database_that_is_away_tells_nothing(url):
    """Without an answer there is no rate, and no error."""
    assert await acceptance_rate(url) is None


async def test_a_database_that_was_not_migrated_tells_nothing(empty_database_url):
    """A schema that is missing is no error either."""
    assert await acceptance_rate(empty_database_url) is None
