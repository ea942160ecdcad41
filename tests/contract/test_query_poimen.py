"""Questions to poimen with the deterministic embedder, over real tables that were made of its journal."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import pytest

from mem.clients.scorer import EmbeddedScorer
from mem.domain.query import QueryInput
from mem.ports import Candidate, Reranker, RerankQuery
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.store.importing import check, import_lines
from mem.store.pool import open_pool
from tests.contract.parts import Parts, postgres_parts
from tests.contract.rebuilding import embed_all, rebuild
from tests.poimen import NEIGHBOUR, PROJECT, candidates, journal_lines, refused, shas, superseded, syntheses
from tests.poimen_answers import (
    KNOWN,
    SEVERAL,
    Body,
    Tables,
    asked,
    check_provenance,
    check_reordered,
    check_superseded,
    check_two_hops,
    levels_of,
)
from tests.postgres import Server

REORDERED = SEVERAL[1]

PATIENCE = 60.0
"""No leg is to be late here, however busy the machine is."""

_NUMBERS = itertools.count()


class Poimen(NamedTuple):
    """The ports of a query over the journal's tables, and these tables."""

    parts: Parts
    tables: Tables

    async def ask(
        self, question: str, *, reranker: Reranker | None = None, request_id: str | None = None, **fields: Any
    ) -> Body:
        """The answer to a question, under a request id of its own unless one is given."""
        reranker = reranker or EmbeddedScorer.load()
        ports = QueryPorts(self.parts.memories, self.parts.ledger, self.parts.embedder, reranker)
        request = QueryInput.model_validate(asked(question, request_id or str(next(_NUMBERS)), **fields))
        query = QueryMemories(ports, leg_seconds=PATIENCE, total_seconds=PATIENCE)
        body: Body = json.loads((await query(request)).body)
        assert body["degraded"] == []
        return body


@pytest.fixture(scope="module")
async def poimen(postgres_server: Server, postgres_template: str) -> AsyncIterator[Poimen]:
    """The journal in a database for the vectors of the fake, which its memories get anew."""
    url = postgres_server.create("poimen_fake", postgres_template)
    pool = await open_pool(url, size=6)
    checked = check(journal_lines())
    async for _ in import_lines(pool, journal_lines, checked._replace(models=frozenset())):
        pass
    await rebuild(pool, page=500)
    parts = postgres_parts(pool)
    await embed_all(parts, sorted(set(shas().values())))
    yield Poimen(parts, Tables.read(url))
    await pool.close()
    postgres_server.drop("poimen_fake")


async def test_a2_provenance_resolves(poimen: Poimen) -> None:
    """What each hit says it rests on is in the tables, and is what the edges lead to, down to source and turn."""
    bodies = [await poimen.ask(question, k=10) for question in SEVERAL]
    for body in bodies:
        check_provenance(poimen.tables, body)
    assert {level for body in bodies for level in levels_of(body)} == {"L1", "L2"}


async def test_a3_default_excludes_l0(poimen: Poimen) -> None:
    """Unless asked for, evidence stays out of hits and candidates, even where the question is a line of it."""
    for question in (*SEVERAL, "client_temp Read-only file system"):
        body = await poimen.ask(question, k=50, explain=True)
        assert levels_of(body) <= {"L1", "L2"}
        assert {poimen.tables.nodes[one["sha"]].level for one in body["candidates"]} <= {"L1", "L2"}


async def test_a4_levels_flag(poimen: Poimen) -> None:
    """Each level is returned alone where it alone is asked for, and evidence names itself."""
    for level in ("L0", "L1", "L2"):
        body = await poimen.ask(SEVERAL[1], levels=[level])
        assert levels_of(body) == {level}
        check_provenance(poimen.tables, body)


async def test_a5_rerank_reorders(poimen: Poimen) -> None:
    """The order of the hits is the reranker's, and not that of the nearest."""
    check_reordered(await poimen.ask(REORDERED, explain=True))


class _Idle:
    """Rerankers that do nothing: as they got them, all alike, or by the similarity that was there before."""

    most = None

    def __init__(self, how: str) -> None:
        self.model_id = how

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        if self.model_id == "recall":
            return [max(one.symptom_similarity or 0.0, one.text_similarity or 0.0) for one in candidates]
        step = 0.0 if self.model_id == "alike" else 0.5 / (len(candidates) + 1)
        return [0.9 - step * place for place, _ in enumerate(candidates)]


@pytest.mark.parametrize("how", ["recall", "alike", "as given"])
async def test_a5_notices_a_reranker_that_does_nothing(poimen: Poimen, how: str) -> None:
    """The check of a5 fails for one whose order is that of recall or of its input, or that tells no two apart."""
    with pytest.raises(AssertionError):
        check_reordered(await poimen.ask(REORDERED, reranker=_Idle(how), explain=True))


async def test_a6_project_isolation(poimen: Poimen) -> None:
    """Two projects with lessons on the same subjects never see each other's, at any level."""
    for question in (KNOWN, "photos refused with 413", "connection slots are reserved", "OOMKilled"):
        for project in (PROJECT, NEIGHBOUR):
            body = await poimen.ask(question, project=project, levels=["L0", "L1", "L2", "R"], k=50, explain=True)
            assert body["hits"]
            assert {poimen.tables.projects[sha] for sha in poimen.tables.named(body)} == {project}


async def test_a7_no_project_finds_nothing(poimen: Poimen) -> None:
    """A project that nobody has written to has no hit: the search does not widen to all of them."""
    body = await poimen.ask(KNOWN, project="nobody", levels=["L0", "L1", "L2", "R"], explain=True)
    assert (body["hits"], body["candidates"]) == ([], [])


async def test_a8_l2_two_hop_provenance(poimen: Poimen) -> None:
    """A synthesis leads through its lessons to the evidence that was handed in with them, each source once."""
    for one in syntheses():
        (hit,) = (await poimen.ask(one.text, levels=["L2"], k=1))["hits"]
        assert hit["sha"] == shas()[one.id]
        check_two_hops(poimen.tables, hit)


async def test_what_was_superseded_gives_way_to_its_successor(poimen: Poimen) -> None:
    """Asked in its very words, an old lesson is never a hit, and the one in its place says what it supersedes."""
    for old in superseded():
        body = await poimen.ask(candidates()[old].text, k=50)
        check_superseded(body, old)


async def test_what_was_refused_is_no_node(poimen: Poimen) -> None:
    """Neither the text nor the evidence of a refused candidate became a node or a hit."""
    sources = {record["source"] for one in refused() for record in one.evidence}
    assert sources.isdisjoint(place.source for place in poimen.tables.nodes.values())
    for one in refused():
        body = await poimen.ask(one.text, levels=["L0", "L1", "L2", "R"], k=50)
        assert one.text not in {hit["text"] for hit in body["hits"]}
