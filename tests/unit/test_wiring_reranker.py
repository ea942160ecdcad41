"""Which reranker the settings choose."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mem.clients.rerank import LocalReranker, ServedReranker
from mem.clients.scorer import EmbeddedScorer
from mem.domain.errors import ConfigurationError
from mem.settings import Settings
from mem.wiring import open_reranker
from tests.rerank_server import RerankServer
from tests.unit.clients.candidates import QUERY, RELATED, candidate

MODELS = Path(__file__).parents[1] / "fixtures" / "cross_encoder"
NOBODY = "http://127.0.0.1:9"


async def opened_with(**given):
    async with AsyncExitStack() as opened:
        return await open_reranker(Settings(**given), opened)


async def test_nothing_set_is_the_embedded_scorer():
    """It calls itself what it is, and has no limit."""
    found = await opened_with()
    assert isinstance(found, EmbeddedScorer)
    assert (found.model_id, found.most) == ("embedded scorer", None)


async def test_an_address_is_a_server():
    """Nothing is contacted, so that a worker starts without it; it goes by its model, else by its host, and ends
    with what it was opened for."""
    found = await opened_with(rerank_url=NOBODY, rerank_model="bge", rerank_most=20)
    assert isinstance(found, ServedReranker)
    assert (found.model_id, found.most) == ("bge", 20)
    assert found._client.is_closed
    unnamed = await opened_with(rerank_url=NOBODY)
    assert (unnamed.model_id, unnamed.most) == ("127.0.0.1:9", 50)


async def test_a_path_is_a_cross_encoder():
    """It is loaded at once."""
    found = await opened_with(rerank_path=MODELS)
    assert isinstance(found, LocalReranker)
    assert (found.model_id.split("@")[0], found.most) == ("cross_encoder", 20)
    assert (await opened_with(rerank_path=MODELS, rerank_most=70)).most == 70


async def test_the_rest_of_the_settings_reaches_the_server(tmp_path):
    """Model, key, batch and calibration are used."""
    calibration = tmp_path / "bge.toml"
    calibration.write_text('model = "bge"\nscores = "probability"\nbias = -100.0\n', encoding="utf-8")
    async with (
        RerankServer("cohere", path="/v2/rerank", limit=2, key="k-1").running() as server,
        AsyncExitStack() as on,
    ):
        found = await open_reranker(
            Settings(
                rerank_url=f" {server.base_url}/v2 ", rerank_model="bge", rerank_key="k-1\n", rerank_batch=2,
                rerank_calibration=calibration,
            ),
            on,
        )  # fmt: skip
        assert max(await found.rerank(QUERY, [candidate(RELATED)] * 4)) < 1e-9
        assert {seen.body["model"] for seen in server.requests} == {"bge"}
        assert max(len(each) for each in server.documents) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rerank_url": NOBODY, "rerank_path": MODELS}, "MEM_RERANK_URL and MEM_RERANK_PATH are both set"),
        ({"rerank_url": "127.0.0.1:9"}, "MEM_RERANK_URL"),
        ({"rerank_path": MODELS / "none"}, "MEM_RERANK_PATH"),
        ({"rerank_url": NOBODY, "rerank_key": "schlüssel"}, "MEM_RERANK_KEY"),
        ({"rerank_url": NOBODY, "rerank_calibration": MODELS / "none.toml"}, "MEM_RERANK_CALIBRATION"),
        ({"rerank_calibration": MODELS / "none.toml"}, "MEM_RERANK_CALIBRATION"),
        ({"rerank_scores": "logit"}, "MEM_RERANK_SCORES"),
        ({"rerank_model": "bge"}, "MEM_RERANK_MODEL"),
        ({"rerank_path": MODELS, "rerank_key": "k"}, "MEM_RERANK_KEY"),
    ],
)
async def test_what_does_not_fit_together_is_told_at_the_start(given, said):
    """The error names the setting and what to do about it."""
    with pytest.raises(ConfigurationError, match=said) as caught:
        await opened_with(**given)
    assert caught.value.remedy
