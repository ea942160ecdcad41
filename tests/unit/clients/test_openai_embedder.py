"""The embedding client against a scripted server over real HTTP."""

from __future__ import annotations

import math

import pytest

from mem.clients.openai import Endpoint, OpenAiEmbedder
from mem.clients.openai.embedder import BATCH, CUTS
from mem.clients.openai.errors import RARELY
from mem.domain.errors import Unavailable
from mem.testing import FakeEmbedder
from tests.openai_server import OpenAiServer, embeddings, failing, half
from tests.scripted_server import page


@pytest.fixture
async def server():
    async with OpenAiServer().running() as running:
        running.dimensions = 8
        yield running


@pytest.fixture
async def embedder(server):
    made = await OpenAiEmbedder.at(Endpoint(server.base_url, None), "vectors-1", 8)
    yield made
    await made.close()


async def test_vectors_are_of_unit_length_and_in_order(server, embedder):
    """Whatever length and order a server answers in, each text gets its own unit vector; batches are bounded."""
    texts = [f"text number {number}" for number in range(2 * BATCH + 3)]
    vectors = await embedder.embed(texts)
    fake = FakeEmbedder(dimensions=8)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(fake.vector(text))
        assert math.hypot(*vector) == pytest.approx(1)
    assert [len(seen.body["input"]) for seen in server.requests] == [BATCH, BATCH, 3]
    assert {seen.body["model"] for seen in server.requests} == {"vectors-1"} == {embedder.model_id}


async def test_one_call_finds_the_dimensions(server):
    """Where no setting gives them, the dimensions are those of a first vector."""
    found = await OpenAiEmbedder.at(Endpoint(server.base_url, None), "vectors-1", None)
    assert (found.dimensions, len(server.requests)) == (8, 1)
    await found.close()


async def test_vectors_of_another_dimension(server, embedder):
    """A model that makes other vectors than the index holds is named with both dimensions, and waited for."""
    server.dimensions = 12
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["one"])
    assert all(part in caught.value.cause for part in ("'vectors-1'", "12 dimensions", "wants 8"))
    assert caught.value.retry_after == RARELY


async def test_a_text_that_is_too_long_is_cut(server, embedder):
    """Of a text longer than any model takes the beginning is embedded, and no character is torn."""
    await embedder.embed(["é" * 10_000])
    assert server.requests[0].body["input"] == ["é" * (CUTS[0] // 2)]


async def test_a_model_with_a_short_window(server, embedder):
    """What a model refuses as too long is cut further, text by text, and the short text beside it stays whole."""
    texts = ["short", "long " * 2000]
    cut = texts[1][: CUTS[1]]
    server.script(
        "embeddings",
        failing(400, code="context_length_exceeded"), embeddings(["short"], 8), failing(413), embeddings([cut], 8),
    )  # fmt: skip
    vectors = await embedder.embed(texts)
    assert [seen.body["input"] for seen in server.requests] == [
        ["short", texts[1][: CUTS[0]]], ["short"], [texts[1][: CUTS[0]]], [cut]
    ]  # fmt: skip
    assert vectors[1] == pytest.approx(FakeEmbedder(dimensions=8).vector(cut))


@pytest.mark.parametrize(
    ("reply", "said", "delay"),
    [
        (failing(503, retry_after="3"), "503", 3.0),
        (failing(401), "401", RARELY),
        (failing(400), "400", RARELY),
        (page(), "no list of embeddings", RARELY),
        (half(), "no list of embeddings", RARELY),
        (embeddings(["a", "b"], 8), "2 embeddings for 1 texts", RARELY),
        (embeddings(["a"], 8, length=0.0), "without a direction", RARELY),
    ],
)
async def test_an_embedder_has_no_stand_in(server, embedder, reply, said, delay):
    """Whatever goes wrong with an embedder is an outage, told with its reason: nothing else can make its vectors."""
    server.script("embeddings", reply)
    with pytest.raises(Unavailable, match=r"vectors-1") as caught:
        await embedder.embed(["one"])
    assert said in caught.value.cause
    assert caught.value.retry_after == delay
