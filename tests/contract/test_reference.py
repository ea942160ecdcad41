"""Documents of the reference corpus: added, replaced, removed and brought back."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest

from mem.domain.nodes import Node
from mem.parsing.terms import asked_terms
from mem.ports import Document, Reach
from mem.testing import FakeEmbedder
from tests.contract.parts import Parts, postgres_parts
from tests.contract.rebuilding import check, different, rebuild

HERE = Reach("p", federated=False)


def document(source: str, *texts: str, project: str = "*", origin: str = "here") -> Document:
    return Document(project, source, tuple(_node(source, text, project) for text in texts), origin)


def _node(source: str, text: str, project: str = "*") -> Node:
    return Node(level="R", project=project, text=text, source=f"{source}#{text.split(maxsplit=1)[0]}")


async def put(parts: Parts, *documents: Document) -> list[tuple[str, int, int]]:
    """Add documents as the command does: their texts are embedded first."""
    await parts.memories.put_vectors("text", {}, parts.embedder)
    await parts.reference.embed([node.text for one in documents for node in one.nodes], parts.embedder)
    return [tuple(change) for change in await parts.reference.put(documents)]


async def found(parts: Parts, text: str) -> dict[str, set[str]]:
    """The texts that each leg finds."""
    hits = {
        "vectors": await parts.memories.nearest("text", ["R"], parts.embedder.vector(text), HERE, 50),
        "trigrams": await parts.memories.lexical(text, ["R"], HERE, 50),
        "words": [
            hit for hit in await parts.memories.words(asked_terms(text, failing=False), ["R"], HERE, 50) if hit.own > 0
        ],
    }
    nodes = await parts.memories.nodes([hit.sha for leg in hits.values() for hit in leg])
    return {leg: {nodes[hit.sha].text for hit in hits[leg]} for leg in hits}


async def test_a_document_is_found_as_soon_as_it_is_there(parts):
    """By every leg, with vectors of what was embedded before; the list tells when and where from."""
    assert await put(parts, document("d/a.md", "disk is full"), document("d/b.md", "peer conflict")) == [
        ("d/a.md", 1, 0),
        ("d/b.md", 1, 0),
    ]
    assert await found(parts, "disk is full") == {
        "vectors": {"disk is full", "peer conflict"},
        "trigrams": {"disk is full"},
        "words": {"disk is full"},
    }
    held = await parts.reference.documents()
    assert [(one.source, len(one.shas), one.origin, one.updated_on) for one in held] == [
        ("d/a.md", 1, "here", date(2026, 7, 2)),
        ("d/b.md", 1, "here", date(2026, 7, 2)),
    ]


async def test_the_same_again_changes_nothing(parts):
    """No record and no embedding, also of ten at once."""
    one = document("d/a.md", "disk is full", "peer conflict")
    await put(parts, one)
    head = await parts.journal.head()
    parts.clock.advance(timedelta(days=1))
    assert await asyncio.gather(*(put(parts, one) for _ in range(10))) == [[("d/a.md", 0, 0)]] * 10
    assert await parts.reference.embed(["disk is full"], parts.embedder) == 0
    assert await parts.journal.head() == head
    assert [held.updated_on for held in await parts.reference.documents()] == [date(2026, 7, 2)]


async def test_ten_at_once_add_a_document_once(parts):
    """One of them adds it, the others find that it is there."""
    one = document("d/a.md", "disk is full", "peer conflict")
    assert sorted(await asyncio.gather(*(put(parts, one) for _ in range(10)))) == [[("d/a.md", 0, 0)]] * 9 + [
        [("d/a.md", 2, 0)]
    ]
    kinds = [record.kind async for record in parts.journal.read()]
    assert (kinds.count("reference"), kinds.count("embedding")) == (1, 2)


async def test_a_changed_document_is_replaced(parts):
    """No leg finds the chunks that it has no more; what stayed is not written again."""
    await put(parts, document("d/a.md", "disk is full", "peer conflict"), document("d/b.md", "disk stays"))
    parts.clock.advance(timedelta(days=1))
    assert await put(parts, document("d/a.md", "peer conflict", "disk was cleaned")) == [("d/a.md", 1, 1)]
    legs = await found(parts, "disk is full")
    assert legs["vectors"] == {"peer conflict", "disk was cleaned", "disk stays"}
    assert "disk is full" not in legs["trigrams"] | legs["words"]
    assert (await parts.reference.documents("*", "d/a.md"))[0].updated_on == date(2026, 7, 3)
    (record,) = [one async for one in parts.journal.read(after=(await parts.journal.head()).length - 1)]
    assert [node["text"] for node in record.data["nodes"]] == ["disk was cleaned"]
    assert record.data["removed"] == [_node("d/a.md", "disk is full").sha]


async def test_a_removed_chunk_is_told_and_not_found(parts):
    """Its sha still opens it, marked; nobody stands for it, and a late vector does not bring it back."""
    await put(parts, document("d/a.md", "disk is full"))
    sha = _node("d/a.md", "disk is full").sha
    assert await put(parts, document("d/a.md")) == [("d/a.md", 0, 1)]
    await parts.memories.put_vectors("text", {sha: "disk is full"}, parts.embedder)
    assert await found(parts, "disk is full") == {"vectors": set(), "trigrams": set(), "words": set()}
    assert await parts.memories.vector_kinds(sha) == []
    assert await parts.memories.lineages([sha]) == {}
    node = (await parts.memories.nodes([sha]))[sha]
    assert (node.text, node.removed) == ("disk is full", True)
    assert await parts.reference.documents() == []
    assert await parts.memories.projects() == []


async def test_a_document_comes_back(parts):
    """Added again after its removal it is found as before, without the model."""
    one = document("d/a.md", "disk is full")
    await put(parts, one)
    await put(parts, document("d/a.md"))
    assert await parts.reference.put([one]) == [("d/a.md", 1, 0)]
    assert await found(parts, "disk is full") == {
        "vectors": {"disk is full"},
        "trigrams": {"disk is full"},
        "words": {"disk is full"},
    }
    assert not (await parts.memories.nodes([one.nodes[0].sha]))[one.nodes[0].sha].removed
    assert [record.kind async for record in parts.journal.read()].count("reference") == 3


async def test_projects_keep_their_own_documents(parts):
    """The same source of two projects is two documents; a list is of one, of all, or below a name."""
    await put(parts, document("d/a.md", "disk one"), document("d/a.md", "disk two", project="p"))
    await put(parts, document("d/sub/a.md", "disk three"), document("d2", "disk four"))
    for asked, sources in {
        (None, None): ["d/a.md", "d/sub/a.md", "d2", "d/a.md"],
        ("p", None): ["d/a.md"],
        ("*", "d"): ["d/a.md", "d/sub/a.md"],
        ("*", "d/sub"): ["d/sub/a.md"],
        (None, "d/a.md"): ["d/a.md", "d/a.md"],
        ("q", None): [],
        (None, "d%"): [],
    }.items():
        assert [one.source for one in await parts.reference.documents(*asked)] == sources
    await put(parts, document("d/a.md", project="p"))
    assert (await found(parts, "disk two"))["vectors"] == {"disk one", "disk three", "disk four"}


async def test_a_document_without_embeddings_gets_its_vectors_later(parts):
    """Nodes come first where nobody embedded, as other writers do it."""
    one = document("d/a.md", "disk is full")
    await parts.reference.put([one])
    assert await parts.memories.vector_kinds(one.nodes[0].sha) == []
    await parts.memories.put_vectors("text", {one.nodes[0].sha: "disk is full"}, parts.embedder)
    assert (await found(parts, "disk is full"))["vectors"] == {"disk is full"}


async def test_each_batch_of_embeddings_is_recorded(parts):
    """An embedder that fails half-way leaves what it made, which is not made again."""
    texts = [f"text {number}" for number in range(40)]
    with pytest.raises(RuntimeError):
        await parts.reference.embed(texts, _Failing(after=2))
    made = [record.data["text_sha"] async for record in parts.journal.read() if record.kind == "embedding"]
    assert await parts.reference.embed(texts, parts.embedder) == 40 - len(made)
    assert len(made) in {0, 32}  # the fakes embed all at once


class _Failing(FakeEmbedder):
    """The fake embedder, until it has had enough."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    async def embed(self, texts):
        self._left -= 1
        if self._left < 0 or len(texts) > 16:
            raise RuntimeError("no more")
        return await super().embed(texts)


async def test_two_versions_at_once_leave_one_of_them(pool):
    """Whoever comes last is what stands, whole, and follows from the journal."""
    parts = postgres_parts(pool)
    versions = [document("d/a.md", "kept", *(f"v{number} text {at}" for at in range(5))) for number in range(6)]
    await asyncio.gather(*(put(parts, one) for one in versions for _ in range(2)))
    (held,) = await parts.reference.documents()
    assert set(held.shas) in [{node.sha for node in one.nodes} for one in versions]
    hits = await parts.memories.nearest("text", ["R"], parts.embedder.vector("text"), HERE, 99)
    assert {hit.sha for hit in hits} == set(held.shas)
    assert different(await check(pool)) == {}


async def test_searches_go_on_while_documents_change(pool):
    """A search finds the old version or the new one of a document, never none, and never fails."""
    parts = postgres_parts(pool)
    await put(parts, document("d/a.md", "disk v0"))
    done = asyncio.Event()

    async def change() -> None:
        for number in range(1, 30):
            await put(parts, document("d/a.md", f"disk v{number}"))
        done.set()

    changing = asyncio.create_task(change())
    while not done.is_set():
        for hits in (
            await parts.memories.nearest("text", ["R"], parts.embedder.vector("disk"), HERE, 9),
            await parts.memories.lexical("disk", ["R"], HERE, 9),
        ):
            assert len(hits) == 1
            assert len(await parts.memories.nodes([hits[0].sha])) == 1
    await changing


async def test_what_was_removed_stays_so_after_a_rebuild(pool):
    """Added, changed, removed and brought back: the tables follow from the journal, in pages of any length."""
    parts = postgres_parts(pool)
    await put(parts, document("d/a.md", "one", "two"), document("d/b.md", "three"), document("d/c.md", "four"))
    await put(parts, document("d/a.md", "two", "five"), document("d/b.md"), document("d/c.md"))
    await put(parts, document("d/c.md", "four"))
    for page in (1, 3, 1000):
        assert different(await check(pool, page=page)) == {}
    await rebuild(pool, page=2)
    assert (await found(parts, "one"))["vectors"] == {"two", "four", "five"}
    assert different(await check(pool)) == {}
