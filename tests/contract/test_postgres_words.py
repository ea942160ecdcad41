"""The index of words in Postgres: which way a search takes, what is counted, and what is filled in afterwards."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.accepting import MadeProjection
from mem.parsing.terms import asked_terms
from mem.ports import Reach
from mem.store import lexical
from mem.store.lexical import fill_words
from mem.store.queries import sql
from tests.contract.parts import Parts, evidence, lesson_plan, postgres_parts

HERE = Reach("p", federated=False)


@pytest.fixture
def postgres(pool) -> Parts:
    return postgres_parts(pool)


async def ask(parts: Parts, question: str, limit: int = 9) -> list[tuple[str, float, float]]:
    return await parts.memories.words(asked_terms(question, failing=False), ["L1", "L2"], HERE, limit)


async def counted(pool, statement: str) -> list[tuple]:
    async with pool.connection() as connection:
        return await (await connection.execute(statement)).fetchall()


async def recounted(pool) -> tuple[list[tuple], list[tuple]]:
    """How many nodes hold each term, and what there is in all, by the entries themselves."""
    frequencies = await counted(
        pool,
        "SELECT term, level_group(level), project, count(*) FROM lexical_entry, jsonb_object_keys(times) AS term"
        " WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    )
    totals = await counted(
        pool,
        "SELECT level_group(level), project, CASE level WHEN 'R' THEN source ELSE '' END, count(*), sum(length)::bigint"
        " FROM lexical_entry WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    )
    return frequencies, totals


async def kept(pool) -> tuple[list[tuple], list[tuple]]:
    """The same as it is kept."""
    return (
        await counted(pool, "SELECT * FROM lexical_frequency WHERE nodes <> 0 ORDER BY 1, 2, 3"),
        await counted(pool, "SELECT * FROM lexical_total WHERE nodes <> 0 ORDER BY 1, 2, 3"),
    )


async def test_what_is_kept_is_what_is_there(pool, postgres):
    """Whatever is added, given a projection, given another one, or kept from others, by several at once."""
    await asyncio.gather(*(postgres.accept(f"kong drops upload {number}") for number in range(8)))
    shas = [await postgres.accept(f"lesson {number}", project=f"p{number % 2}") for number in range(4)]
    made = MadeProjection(text="413 request too large upload", model_id="m", prompt_sha="s")
    await asyncio.gather(*(postgres.memories.put_projection(sha, made) for sha in shas))
    await postgres.accept("kong secret", visibility="user", owner="u")
    assert await kept(pool) == await recounted(pool)
    kong = "SELECT nodes FROM lexical_frequency WHERE term = 'kong' AND level_group = 'lesson'"
    assert await counted(pool, kong) == [(8,)]


async def test_many_nodes_are_chosen_by_the_rarest_terms(pool, postgres, monkeypatch):
    """Of a frequent term no more is read than needed; the order is that of all terms."""
    for number in range(6):
        await postgres.accept(f"kong drops upload {number}")
    rare = await postgres.accept("the lockfile drops")
    both = await postgres.accept("kong drops the lockfile")
    exact = await ask(postgres, "kong drops the lockfile")
    assert [hit[0] for hit in exact[:2]] == [both, rare]
    assert len(exact) == 8
    monkeypatch.setattr(lexical, "RARE", 3)
    chosen = await ask(postgres_parts(pool, exact_words=3), "kong drops the lockfile")
    assert chosen == exact[:2]


async def test_where_every_term_is_frequent_what_holds_them_all_is_found(pool, postgres, monkeypatch):
    for number in range(6):
        await postgres.accept(f"kong and {number}")
        await postgres.accept(f"upload and {number}")
    both = await postgres.accept("kong upload")
    monkeypatch.setattr(lexical, "RARE", 4)
    assert [hit[0] for hit in await ask(postgres_parts(pool, exact_words=3), "kong upload")] == [both]


async def test_a_search_by_words_has_its_index(pool):
    """One for each group of levels; it looks up project and terms together."""
    for levels, index in ((("L1",), "lesson"), (("L1", "L2"), "lesson"), (("L0",), "evidence"), (("R",), "reference")):
        statement = lexical._statement("EXPLAIN " + sql("lexical.matching"), levels, 1)
        async with pool.connection() as connection:
            await connection.execute(
                "SET enable_seqscan = off; DROP INDEX IF EXISTS lexical_entry_turn, lexical_entry_common"
            )
            cursor = await connection.execute(statement, {"chosen": ["a"], "project": "p", "term0": "a"})
            plan = "\n".join(line for (line,) in await cursor.fetchall())
        assert f"lexical_entry_{index}" in plan
        assert "Index Cond: ((project = 'p'::text) AND (times ?| '{a}'::text[]))" in plan


async def test_entries_are_filled_in_afterwards(pool, postgres):
    """Nodes from before the index, or of other rules, are found once they are filled in, and only those cost."""
    sha = await postgres.accept("kong refuses uploads")
    for broken in (
        "DELETE FROM lexical_entry; DELETE FROM lexical_frequency; DELETE FROM lexical_total",
        "UPDATE lexical_entry SET terms_by = 'other rules'",
    ):
        async with pool.connection() as connection:
            await connection.execute(broken)
        assert await fill_words(pool) == 2
        assert [hit[0] for hit in await ask(postgres, "refused upload")] == [sha]
        assert await kept(pool) == await recounted(pool)
        assert await fill_words(pool) == 0


async def test_a_huge_record_of_evidence_takes_bounded_room(pool, postgres):
    """What a log tells first and last is found; what it repeats in between may not be."""
    lines = "\n".join(f"step{number} passed" for number in range(6000))
    plan = lesson_plan("lesson", request_id="1")
    log = evidence(f"begun by zebra\n{lines}\nended by ERESOLVE")
    await postgres.memories.append(plan._replace(evidence=(log,)))
    for word in ("zebra", "eresolve"):
        terms = asked_terms(word, failing=False)
        assert [hit.sha for hit in await postgres.memories.words(terms, ["L0"], HERE, 9)] == [log.sha]
    ((terms,),) = await counted(
        pool, "SELECT (SELECT count(*) FROM jsonb_object_keys(times)) FROM lexical_entry WHERE level = 'L0'"
    )
    assert terms == 1000
