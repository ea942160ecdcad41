"""An embedding model behind an address, and the index that is for one model alone."""

from __future__ import annotations

import pytest

from mem.addresses import find_addresses
from mem.domain.errors import ModelMismatch, Unavailable
from mem.settings import Settings
from mem.wiring import migrate_database, open_ports
from tests.openai_server import OpenAiServer, failing


@pytest.fixture
async def server():
    async with OpenAiServer().running() as running:
        running.dimensions = 48
        yield running


@pytest.fixture
async def settings(empty_database_url, server):
    return Settings(database_url=empty_database_url, embedding_model="vectors-1", openai_base_url=server.base_url)


async def test_an_index_for_the_configured_model(settings, server):
    """The first migration asks the model for its dimensions; a worker then starts although the model is away."""
    done = await migrate_database(find_addresses(settings), settings)
    assert done[-1] == "vector index: vectors-1, 48 dimensions"
    server.script("embeddings", failing(503))
    async with open_ports(find_addresses(settings), settings) as ports:
        assert (ports.embedder.model_id, ports.embedder.dimensions) == ("vectors-1", 48)
        with pytest.raises(Unavailable, match="503"):
            await ports.embedder.embed(["text"])


async def test_a_model_that_is_away_before_the_first_index(settings, server):
    """Without its dimensions no index can be made, and the migration says which model does not answer."""
    server.script("embeddings", failing(503))
    with pytest.raises(Unavailable, match="vectors-1"):
        await migrate_database(find_addresses(settings), settings)
    given = settings.model_copy(update={"embedding_dimensions": 48})
    assert (await migrate_database(find_addresses(given), given))[-1] == "vector index: vectors-1, 48 dimensions"


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"embedding_model": "vectors-2"}, "vectors-2"), ({"embedding_dimensions": 32}, "32 dimensions")],
)
async def test_an_index_of_another_model(settings, changed, said):
    """A model or a dimension that the index is not for is refused, naming both."""
    await migrate_database(find_addresses(settings), settings)
    other = settings.model_copy(update=changed)
    with pytest.raises(ModelMismatch, match="48 dimensions") as caught:
        async with open_ports(find_addresses(other), other):
            pass
    assert said in caught.value.cause
