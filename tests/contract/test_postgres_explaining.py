"""Errors find the page that explains them, with the embedded models, through the real recall over Postgres."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mem.clients.clock import SystemClock
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.domain.ids import SHARED
from mem.domain.query import QueryAnswer, QueryInput
from mem.ports import Document
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.store.ledger import PostgresLedger
from mem.store.memories import PostgresMemories
from mem.store.migrate import migrate
from mem.store.pool import open_pool
from mem.store.reference import PostgresReference
from mem.store.vector_index import ensure_vector_index
from mem.writing.corpus import carry_out, corpus_plan
from mem.writing.reference import reference_nodes

FIXTURE = Path(__file__).parent.parent / "fixtures" / "explained_errors.toml"
FLOOR = 11
"""So many of the thirteen errors find their page first, and all of them find it among three."""


@pytest.fixture
async def asked(empty_database_url):
    """The pages that each error of the fixture finds, best first, by the page that explains it."""
    data = tomllib.loads(FIXTURE.read_text(encoding="utf-8"))
    await migrate(empty_database_url)
    pool, clock, embedder = await open_pool(empty_database_url, size=6), SystemClock(), MiniLmEmbedder.load()
    try:
        await ensure_vector_index(pool, embedder.model_id, embedder.dimensions)
        documents = [
            Document(SHARED, page["id"], tuple(reference_nodes(page["text"], source=page["id"], project=None)))
            for page in data["page"]
        ]
        await carry_out(corpus_plan([], documents, []), PostgresReference(pool, clock), embedder)
        ports = QueryPorts(PostgresMemories(pool, clock), PostgresLedger(pool, clock), embedder, EmbeddedScorer.load())
        queries = QueryMemories(ports, leg_seconds=60, total_seconds=120)
        yield {query["doc"]: await _pages(queries, query["doc"], query["text"]) for query in data["query"]}
    finally:
        await pool.close()


async def _pages(queries: QueryMemories, name: str, text: str) -> list[str]:
    request = QueryInput(request_id=name, project="p", question=text, levels=["R"], k=50)
    answer = QueryAnswer.model_validate_json((await queries(request)).body)
    assert not answer.degraded
    return [hit.provenance[0].source or "" for hit in answer.hits]


async def test_errors_find_their_pages(asked):
    """Other names and another code do not hide the page, nor do pages that are much like it."""
    first = [doc for doc, pages in asked.items() if pages[0] == doc]
    assert len(first) >= FLOOR, {doc: pages[:3] for doc, pages in asked.items() if doc not in first}
    assert all(doc in pages[:3] for doc, pages in asked.items())


async def test_a_superseded_page_stands_behind_the_one_that_took_its_place(asked):
    """Both say the same in the same words."""
    pages = asked["mismatch"]
    assert pages.index("mismatch") < pages.index("mismatch-old")


async def test_a_code_tells_apart_the_pages_of_one_message(asked):
    """Documentation is kept by codes, and whoever has one should find its page."""
    assert {code: asked[f"weight-{code}"][0] for code in ("V0417", "V0418")} == {
        "V0417": "weight-V0417",
        "V0418": "weight-V0418",
    }
