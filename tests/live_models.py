"""No test reaches a live model."""

from __future__ import annotations

from collections.abc import MutableMapping
from urllib.parse import urlsplit

import pytest

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
NOWHERE = "http://127.0.0.1:9/v1"
"""The port that discards: a client that was given no address gets no answer, rather than the public one."""


def refuse_live_models(environment: MutableMapping[str, str]) -> None:
    """Stop if an address is set that is not of this machine; take away what else would lead to a model."""
    given = environment.get("OPENAI_BASE_URL", "")
    if given and urlsplit(given).hostname not in LOOPBACK:
        pytest.exit("OPENAI_BASE_URL names another machine: unset it to run the tests.", returncode=4)
    for name in ("OPENAI_API_KEY", "MEM_CHAT_MODEL", "MEM_EMBEDDING_MODEL", "MEM_EMBEDDING_DIMENSIONS"):
        environment.pop(name, None)
    for name in [each for each in environment if each.startswith("MEM_RERANK_")]:
        environment.pop(name)
    environment["OPENAI_BASE_URL"] = given or NOWHERE
