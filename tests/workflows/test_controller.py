"""Acceptance with a controller: a scripted server over real HTTP, the real client, worker, Temporal and database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from activities.project_symptoms import ProjectSymptoms
from mem import wiring
from mem.addresses import find_addresses
from mem.clients.openai import Endpoint, OpenAiController
from mem.domain.accepting import MemoryStep
from mem.domain.canonical import sha256_hex
from mem.domain.errors import ConfigurationError, Unavailable
from mem.settings import Settings
from mem.testing import FakeEmbedder
from mem.wiring import open_ports
from mem.writing.known_names import is_known
from mem.writing.model_gate import NO_VERDICT
from mem.writing.model_projector import ModelProjector
from mem.writing.projector import MODEL_ID as EXTRACTIVE
from tests.openai_server import (
    PROMPTS,
    Labelled,
    OpenAiServer,
    chat,
    failing,
    half,
    huge,
    symptoms,
    templates,
    verdict,
)
from tests.scripted_server import RESET, later, page
from tests.temporal_server import Rig, TemporalServer, eventually, scheduled
from tests.workflows.material import candidate
from tests.workflows.ports import Gate, LostAcknowledgement, Wrapped

LINE = "npm ERR! ERESOLVE could not resolve"
OTHER_LINE = "conflicting peer dependency"
DECISION = "We name queues after the team that reads them, since on-call then knows whom to ask."
UNREADABLE = [
    pytest.param(chat("I am happy to help!"), id="prose"),
    pytest.param(half(), id="half"),
    pytest.param(page(), id="html", marks=pytest.mark.slow),
    pytest.param(chat('{"symptoms": ["npm ERR!'), id="half-json", marks=pytest.mark.slow),
    pytest.param(huge(10_000_000), id="10-mb", marks=pytest.mark.slow),
    pytest.param(chat('{"symptoms": ["依赖关系无法解析"]}'), id="another-language", marks=pytest.mark.slow),
    pytest.param(chat(None, refusal="I cannot help with that."), id="refusing", marks=pytest.mark.slow),
    pytest.param(chat("{", finish="length"), id="cut-short", marks=pytest.mark.slow),
    pytest.param(failing(400, code="content_filter"), id="filtered", marks=pytest.mark.slow),
]


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer().running() as running:
        running.script("gate", verdict(accept=True))
        running.script("symptom", symptoms(LINE))
        yield running


@pytest.fixture
async def rig(
    temporal_server: TemporalServer, database_url: str, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    """A rig that is wired as in production to the scripted controller."""
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    settings = Settings(database_url=database_url, chat_model="little-1", openai_base_url=server.base_url)
    async with open_ports(find_addresses(settings), settings, PROMPTS) as ports:
        yield Rig(await temporal_server.client(), ports)


async def pending(rig: Rig) -> dict[str, Any]:
    """The steps that have failed and are tried again, by name."""
    described = await rig.accept_handle("1").describe()
    waiting = described.raw_description.pending_activities
    return {each.activity_type.name: each for each in waiting if each.HasField("last_failure")}


async def closed(rig: Rig) -> bool:
    return (await rig.accept_handle("1").describe()).status == WorkflowExecutionStatus.COMPLETED


async def projections(rig: Rig) -> list[tuple[str, str]]:
    return [(record.data["model_id"], record.data["text"]) for record in await rig.journal("projection")]


async def test_a_controller_judges_and_projects(rig, server):
    """Verdict and projection are the model's, and the journal names model and prompt of both."""
    async with rig.working(), asyncio.timeout(30):
        answer = (await rig.memory.accept(candidate(rig))).answer
    symptom, gate, _ = templates()
    assert (answer.status, answer.vectors) == ("accepted", ["text", "symptom"])
    assert (answer.verdict.model_id, answer.verdict.prompt_sha) == ("little-1", gate.sha)
    assert answer.projection.model_dump() == {"text": LINE, "model_id": "little-1", "prompt_sha": symptom.sha}
    [recorded] = await rig.journal("projection")
    assert (recorded.data["model_id"], recorded.data["prompt_sha"]) == ("little-1", symptom.sha)
    assert recorded.data["lines"] == [{"text": LINE, "origin": "model"}]
    assert (len(server.asked("gate")), len(server.asked("symptom"))) == (1, 1)
    assert {request.body["temperature"] for request in server.requests} == {0}


async def test_a_rejection_by_the_controller(rig, server):
    """What the controller turns down is rejected under its rule, and no symptoms are asked for."""
    server.script("gate", verdict(accept=False, rule="speculation", reason="Nobody checked it."))
    async with rig.working(), asyncio.timeout(30):
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert (answer.status, answer.sha) == ("rejected", None)
    assert (answer.verdict.rule, answer.verdict.reason) == ("speculation", "Nobody checked it.")
    assert server.asked("symptom") == []


async def test_a_memory_that_describes_no_failure(rig, server):
    """An empty projection is a success: no symptom vector, and the model is asked once."""
    server.script("symptom", symptoms())
    async with rig.working(), asyncio.timeout(30):
        answer = (await rig.memory.accept(candidate(rig, text=DECISION))).answer
    assert (answer.status, answer.projection.text, answer.vectors) == ("accepted", "", ["text"])
    assert answer.projection.model_id == "little-1"
    assert len(server.asked("symptom")) == 1


@pytest.mark.parametrize("reply", UNREADABLE)
async def test_symptoms_that_cannot_be_read(rig, server, reply):
    """After three answers that cannot be read the embedded projector stands in, under its own name."""
    server.script("symptom", reply)
    async with rig.working(), asyncio.timeout(40):
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert answer.status == "accepted"
    assert answer.projection.model_id == EXTRACTIVE
    assert "ERESOLVE" in answer.projection.text
    assert len(server.asked("symptom")) == 3
    assert [model_id for model_id, _ in await projections(rig)] == [EXTRACTIVE]


@pytest.mark.parametrize("reply", UNREADABLE[1:4])
async def test_a_verdict_that_cannot_be_read(rig, server, reply):
    """After three answers that cannot be read the verdict of the rules stands, and says so."""
    server.script("gate", reply)
    async with rig.working(), asyncio.timeout(40):
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert (answer.status, answer.verdict.model_id) == ("accepted", None)
    assert answer.verdict.reason.endswith(NO_VERDICT)
    assert len(server.asked("gate")) == 3


async def test_one_readable_answer_is_enough(rig, server):
    """A model that is read at the third time is not stood in for, however often it was away in between."""
    away = failing(503, retry_after_ms="100")
    server.script("symptom", away, half(), away, away, page(), away, symptoms(LINE))
    async with rig.working(), asyncio.timeout(40):
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert (answer.projection.model_id, answer.projection.text) == ("little-1", LINE)
    assert len(server.asked("symptom")) == 7


@pytest.mark.parametrize("reply", [failing(500), RESET, page(502), failing(429, retry_after_ms="100")])
async def test_a_controller_that_is_down(rig, server, reply):
    """Without a verdict the candidate stays pending, the caller is told why, and in the end it is accepted."""
    server.script("gate", reply)
    async with rig.working(), asyncio.timeout(40):
        with pytest.raises(Unavailable, match=r"gate_memory.*little-1.*127\.0\.0\.1"):
            await rig.memory.accept(candidate(rig), deadline=2.5)
        server.script("gate", verdict(accept=True))
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert (answer.status, answer.verdict.model_id) == ("accepted", "little-1")


async def test_symptoms_of_a_controller_that_is_down(rig, server):
    """The memory is durable at once, its projection stays pending with the reason, and is the model's in the end."""
    server.script("symptom", failing(503))
    async with rig.working(), asyncio.timeout(40):
        answer = (await rig.memory.accept(candidate(rig, wait="durable"))).answer
        assert (answer.status, "project_symptoms" in answer.pending) == ("accepted", True)
        await eventually(lambda: _failed_with(rig, "project_symptoms", "answered 503"))
        server.script("symptom", symptoms(LINE))
        await eventually(lambda: closed(rig))
    assert await projections(rig) == [("little-1", LINE)]


async def _failed_with(rig: Rig, step: str, message: str) -> bool:
    failed = (await pending(rig)).get(step)
    return failed is not None and message in failed.last_failure.message


@pytest.mark.parametrize(
    ("reply", "said", "seconds"),
    [
        (failing(401), "OPENAI_API_KEY", 30),
        (failing(404, code="model_not_found"), "MEM_CHAT_MODEL", 30),
        (failing(429, retry_after="600"), "answered 429", 600),
        (failing(503, retry_after="86400"), "answered 503", 3600),
    ],
)
async def test_when_it_is_asked_again(rig, server, reply, said, seconds):
    """What somebody has to mend is asked again rarely, and a busy server when it says so, within an hour."""
    server.script("gate", reply)
    async with rig.working(), asyncio.timeout(30):
        with pytest.raises(Unavailable, match=said):
            await rig.memory.accept(candidate(rig), deadline=2)
        waiting = (await pending(rig))["gate_memory"]
    assert waiting.current_retry_interval.seconds == seconds
    assert len(server.asked("gate")) == 1


async def test_a_controller_that_is_slow(rig, server):
    """One that takes too long is not waited for without end; the step is pending with that reason."""
    server.script("symptom", later(60, symptoms(LINE)))
    hasty = OpenAiController.at(Endpoint(server.base_url, None), "little-1", seconds=0.2)
    projector = ModelProjector(hasty, templates()[0], is_known)
    async with rig.working(projector=projector), asyncio.timeout(30):
        await rig.memory.accept(candidate(rig, wait="durable"))
        await eventually(lambda: _failed_with(rig, "project_symptoms", "did not answer in time"))
        server.script("symptom", symptoms(LINE))
        await eventually(lambda: closed(rig))
    assert await projections(rig) == [("little-1", LINE)]
    await hasty.close()


@pytest.mark.parametrize("hangs", [False, True])
async def test_answers_that_differ_on_retry(rig, server, hangs):
    """The completion of a step is lost, and the model would answer otherwise now: one projection, the first."""
    server.script("symptom", symptoms(LINE), symptoms(OTHER_LINE))
    lost = LostAcknowledgement(rig.ports.memories.put_projection, times=1)
    lost.hangs = hangs
    memories = Wrapped(rig.ports.memories, put_projection=lost)
    async with rig.working(memories=memories), asyncio.timeout(60):
        await rig.memory.accept(candidate(rig, wait="durable"))
        await eventually(lambda: _was_lost(lost))
    async with rig.working(), asyncio.timeout(60):
        await eventually(lambda: closed(rig), seconds=50)
        answer = (await rig.memory.accept(candidate(rig))).answer
    assert answer.projection.text == LINE
    assert await projections(rig) == [("little-1", LINE)]
    assert len(server.asked("symptom")) == 1


async def _was_lost(lost: LostAcknowledgement) -> bool:
    return lost.failed == 1


async def test_two_attempts_at_once_with_different_answers(rig, server):
    """Of an attempt given up for dead and its successor, which got different answers, the first to record stands."""
    async with rig.working(), asyncio.timeout(30):
        server.script("symptom", failing(503))
        answer = (await rig.memory.accept(candidate(rig, wait="durable"))).answer
    server.script("symptom", symptoms(LINE), symptoms(OTHER_LINE))
    step = MemoryStep(project=rig.project, request_id="1", sha=answer.sha)
    ports, late = rig.ports, Gate(rig.ports.memories.put_projection)
    models = ports.projector, ports.embedder, ports.stand_in
    slow = ProjectSymptoms(ports.journal, Wrapped(ports.memories, put_projection=late), *models)
    prompt = ProjectSymptoms(ports.journal, ports.memories, *models)
    async with asyncio.timeout(20):
        first = asyncio.create_task(slow.project_symptoms(step))
        await late.entered.wait()
        second = await prompt.project_symptoms(step)
        late.opened.set()
        assert await first == second
    assert second.text == OTHER_LINE
    assert await projections(rig) == [("little-1", OTHER_LINE)]


async def test_labelled_answers(rig, server):
    """Recorded answers are served to the prompt and memory that they were given to, and to no other prompt."""
    symptom, gate, _ = templates()
    text_sha = sha256_hex(candidate(rig).text)
    answer = json.dumps({"symptoms": [LINE]})
    server.script("symptom")
    server.serve([Labelled("sha-of-another-prompt", text_sha, "strong-1", "{}")])
    server.serve([Labelled(symptom.sha, text_sha, "strong-1", answer), Labelled(gate.sha, "other", "strong-1", "{}")])
    async with rig.working(), asyncio.timeout(30):
        assert (await rig.memory.accept(candidate(rig))).answer.projection.text == LINE


async def test_a_refused_step_is_in_the_history(rig, server):
    """Each time of asking is an activity of its own, by which the UI shows how often a model was asked."""
    server.script("symptom", half())
    async with rig.working(), asyncio.timeout(40):
        await rig.memory.accept(candidate(rig))
        await eventually(lambda: closed(rig))
        steps = await scheduled(rig.accept_handle("1"))
    assert steps.count("project_symptoms") == 3


async def test_a_controller_without_prompts(database_url, server, tmp_path, monkeypatch):
    """A worker that is to ask a model and finds no prompts does not start, and says what to do."""
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    settings = Settings(database_url=database_url, chat_model="little-1", openai_base_url=server.base_url)
    with pytest.raises(ConfigurationError, match=r"beside worker\.py"):
        async with open_ports(find_addresses(settings), settings, tmp_path):
            pass


async def test_a_model_without_an_address(database_url, monkeypatch):
    """A model is named, and neither key nor address: the worker does not start, and says what to set."""
    monkeypatch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
    monkeypatch.delenv("OPENAI_BASE_URL")
    settings = Settings(database_url=database_url, chat_model="little-1")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        async with open_ports(find_addresses(settings), settings, PROMPTS):
            pass
