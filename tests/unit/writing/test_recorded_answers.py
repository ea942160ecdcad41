"""What a strong model answered to the prompt for symptoms, served again over real HTTP and read by the real client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mem.clients.openai import Endpoint, OpenAiController
from mem.domain.canonical import sha256_hex
from mem.parsing.sanitize import strip_unsafe
from mem.ports import EvidenceText
from mem.writing.known_names import is_known
from mem.writing.model_projector import ModelProjector
from tests.incidents import Decision, Incident, decisions, incidents
from tests.openai_server import Labelled, OpenAiServer, templates

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "answers" / "symptom.json").read_text("utf-8"))
ANSWERS = {each["memory_sha"]: each for each in RECORDED}


@pytest.fixture
async def projector():
    async with OpenAiServer().running() as server:
        server.serve(
            [Labelled(*(each[k] for k in ("prompt_sha", "memory_sha", "model", "answer"))) for each in RECORDED]
        )
        controller = OpenAiController.at(Endpoint(server.base_url, "sk-test"), "recorded", seconds=5)
        yield ModelProjector(controller, templates()[0], is_known)
        await controller.close()


async def answered(projector: ModelProjector, one: Incident | Decision) -> tuple[list[str], list[str]]:
    """The lines that stand, and those that the model wrote."""
    evidence = [EvidenceText(sha256_hex(each.text), each.text) for each in one.evidence]
    made = await projector.project(one.memory, evidence)
    written = json.loads(ANSWERS[sha256_hex(one.memory)]["answer"])["symptoms"]
    return [line.text for line in made.lines], [" ".join(strip_unsafe(line).text.split()) for line in written]


def with_answer(found):
    return [one for one in found if sha256_hex(one.memory) in ANSWERS]


async def test_an_incident_keeps_lines_of_the_answer(projector):
    """What stands of an answer to an incident was written by the model, and something always stands."""
    asked = with_answer(incidents())
    assert len(asked) >= 60
    for one in asked:
        kept, written = await answered(projector, one)
        assert kept, one.id
        assert set(kept) <= set(written), one.id


async def test_a_decision_stays_without_symptoms(projector):
    """The model found no symptom in any decision, and that is its projection."""
    asked = with_answer(decisions())
    assert len(asked) >= 30
    for one in asked:
        assert await answered(projector, one) == ([], []), one.id
