"""A cross-encoder from a file: real models, small ones, whose scores can be foretold."""

from __future__ import annotations

import asyncio
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mem.clients.rerank import Calibration, CrossEncoder, LocalReranker
from mem.clients.rerank.cross_encoder import quiet
from mem.domain.errors import ConfigurationError, Unavailable
from tests.rerank_server import score_of
from tests.unit.clients.candidates import QUERY, RELATED, UNRELATED, candidate

MODELS = Path(__file__).parents[2] / "fixtures" / "cross_encoder"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder as it is exported, to take something away from."""
    made = tmp_path / "tiny"
    made.mkdir()
    for name in ("model.onnx", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(MODELS / name, made / name)
    return made


def reranker(path: Path = MODELS, *, seconds: float = 60, **calibration) -> LocalReranker:
    given = {"scores": "logit", **calibration}
    return LocalReranker(CrossEncoder.load(path), Calibration(**given), seconds=seconds, most=50)


@pytest.mark.parametrize("model", ["model.onnx", "two_logits.onnx"])
async def test_a_pair_is_scored(model):
    """With one logit or two, with or without masks and segments: whatever the model asks for is what it gets."""
    texts = [RELATED, UNRELATED, "curl error 413"]
    found = await reranker(MODELS / model).rerank(QUERY, [candidate(text) for text in texts])
    assert found == pytest.approx([score_of(QUERY.text, text) for text in texts], abs=1e-6)


async def test_symptom_and_text_are_read():
    """What stands in either counts."""
    [score] = await reranker().rerank(QUERY, [candidate("request entity too large", symptom="curl error 413")])
    assert score == pytest.approx(score_of("all", "all"))


def test_of_a_long_pair_the_document_is_cut_and_the_query_kept():
    """The query has all its words at most half a window long, and the document what is left of it."""
    model = CrossEncoder.load(MODELS)
    assert model.logit("curl error", "curl error " + "npm " * 1000, quiet()) == 4
    assert model.logit("curl error", "npm " * 1000 + "curl error", quiet()) == -4
    # Of 64 tokens the query has 32 and three are no words, so that 29 are left for the document.
    assert model.logit("npm " * 31 + "curl " * 1000, "npm " * 28 + "curl", quiet()) == 4
    assert model.logit("npm " * 31 + "curl", "npm " * 29 + "curl", quiet()) == pytest.approx(8 * 31 / 32 - 4)
    assert model.logit("npm " * 32 + "curl", "npm", quiet()) == 4


async def test_a_calibration_moves_every_score_alike():
    """Slope and bias work on the logit."""
    [score] = await reranker(slope=0.5, bias=-2).rerank(QUERY, [candidate(RELATED)])
    assert score == pytest.approx(0.5)


async def test_a_deadline_ends_the_work():
    """Past the deadline no thread goes on with what nobody waits for."""
    slow = reranker(MODELS / "endless.onnx", seconds=0.2)
    with ThreadPoolExecutor(1) as alone:
        asyncio.get_running_loop().set_default_executor(alone)
        try:
            with pytest.raises(Unavailable, match=r"did not score 3 candidates within 0\.2 s") as caught:
                await slow.rerank(QUERY, [candidate(RELATED)] * 3)
            assert "MEM_RERANK_MOST, which is 50" in caught.value.remedy
            async with asyncio.timeout(30):
                assert await asyncio.to_thread(lambda: "free") == "free"
        finally:
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())


async def test_who_does_not_wait_any_more_leaves_nothing_behind():
    """A lookup that ends takes the work along."""
    slow = reranker(MODELS / "endless.onnx")
    with ThreadPoolExecutor(1) as alone:
        asyncio.get_running_loop().set_default_executor(alone)
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await slow.rerank(QUERY, [candidate(RELATED)])
            async with asyncio.timeout(30):
                assert await asyncio.to_thread(lambda: "free") == "free"
        finally:
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())


async def test_scores_that_are_no_numbers():
    """What a model gives that is no number is an outage of it."""
    with pytest.raises(Unavailable, match="no logit"):
        Calibration(scores="logit").probabilities([0.0, float("nan")], "The reranker")


def test_it_is_named_after_folder_file_and_runtime(folder):
    """Equal names promise equal scores."""
    model_id = CrossEncoder.load(folder).model_id
    assert model_id.startswith("tiny@")
    assert "+onnxruntime-" in model_id
    shutil.copy(MODELS / "two_logits.onnx", folder / "model.onnx")
    assert CrossEncoder.load(folder).model_id != model_id


def test_a_folder_as_the_hub_has_it(folder):
    """The model may stand in a folder `onnx` below its tokenizer."""
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert CrossEncoder.load(folder).model_id.startswith("tiny@")
    assert CrossEncoder.load(folder / "onnx" / "model.onnx").model_id.startswith("tiny@")


@pytest.mark.parametrize(
    ("config", "length"), [({"model_max_length": 1e30}, 512), ({"model_max_length": 16}, 16), ({}, 512)]
)
def test_the_window_is_the_models_own(folder, config, length):
    """A length that is none stands for no limit, and 512 tokens are the most."""
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    model = CrossEncoder.load(folder)
    assert model.logit("curl", "npm " * (length - 5) + "curl", quiet()) == 4
    assert model.logit("curl", "npm " * (length - 4) + "curl", quiet()) == -4


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (shutil.rmtree, "nothing is there"),
        (lambda folder: (folder / "model.onnx").unlink(), "holds no model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json beside"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "is no tokenizer"),
        (lambda folder: (folder / "tokenizer_config.json").write_text("["), "cannot be read"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no model"), "cannot be loaded"),
        (lambda folder: (folder / "model.onnx").write_bytes(b""), "cannot be loaded"),
        (lambda folder: shutil.copy(MODELS / "three_logits.onnx", folder / "model.onnx"), "gives 3 numbers"),
    ],
)
def test_what_is_missing_or_wrong_is_told_at_the_start(folder, broken, said):
    """A model that cannot score is no model, and the error says what to give."""
    broken(folder)
    with pytest.raises(ConfigurationError) as caught:
        CrossEncoder.load(folder)
    assert said in caught.value.cause
    assert caught.value.remedy


def test_a_model_that_wants_something_else_is_told_at_the_start(folder):
    """An input that a tokenizer does not give is named."""
    raw = (MODELS / "two_logits.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(raw.replace(b"input_ids", b"pixel_ids"))
    with pytest.raises(ConfigurationError, match="pixel_ids"):
        CrossEncoder.load(folder)
