"""The tests themselves reach no live model."""

from __future__ import annotations

import os

import pytest

from tests.live_models import NOWHERE, refuse_live_models


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "http://10.0.0.7:8080/v1", "not-an-address"])
def test_an_address_elsewhere_stops_the_run(address):
    """With the address of another machine no test runs at all."""
    with pytest.raises(pytest.exit.Exception, match="OPENAI_BASE_URL"):
        refuse_live_models({"OPENAI_BASE_URL": address})


def test_nothing_leads_to_a_model():
    """Models and keys of the caller's environment are taken away, and a client without an address gets ours."""
    environment = {"OPENAI_API_KEY": "sk-1", "MEM_CHAT_MODEL": "chat-1", "MEM_EMBEDDING_MODEL": "v", "HOME": "/root"}
    environment |= {"MEM_RERANK_URL": "http://10.0.0.7", "MEM_RERANK_KEY": "k"}
    refuse_live_models(environment)
    assert environment == {"OPENAI_BASE_URL": NOWHERE, "HOME": "/root"}
    assert "OPENAI_API_KEY" not in os.environ
    assert os.environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1")
